package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"reeve/auth"
	"reeve/server/setup"
	"reeve/server/webhook"
	"reeve/store/disk"
)

// setupFile is a file of objects.
type setupFile struct {
	Name   string         `json:"name"`
	Values map[string]any `json:"values"`
	text   *setup.Text
	path   string
}

// readSetup reads files, and those that end with .toml in directories.
func readSetup(paths []string) (files []*setupFile, err error) {
	var names []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			names = append(names, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		before := len(names)
		for _, entry := range entries {
			if filepath.Ext(entry.Name()) == ".toml" {
				names = append(names, filepath.Join(path, entry.Name()))
			}
		}
		if len(names) == before {
			return nil, fmt.Errorf("%s has no files that end with .toml", path)
		}
	}

	for _, path := range names {
		f, err := readSetupFile(path)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(files, func(other *setupFile) bool { return other.Name == f.Name }) {
			return nil, fmt.Errorf("two files are called %s: files are told apart by their names", f.Name)
		}
		files = append(files, f)
	}
	return files, checkShared(files)
}

func readSetupFile(path string) (*setupFile, error) {
	content, err := readText(path)
	if err != nil {
		return nil, err
	}
	f := &setupFile{Name: strings.TrimSuffix(filepath.Base(path), ".toml"), path: path}
	text, err := setup.Parse(content, setup.MaxValues)
	if err == nil {
		err = text.Resolve(f.secret)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, oneLine(text.Located(err).Error()))
	}
	f.Values, f.text = text.Values, text
	return f, nil
}

// maxSecret is the maximum size of a secret in bytes.
const maxSecret = 64 << 10

// secret returns the secret that a reference names, read with the rights of the user of the command.
func (f *setupFile) secret(reference string) (string, error) {
	scheme, rest, _ := strings.Cut(reference, ":")
	var path string
	switch {
	case reference == "unset":
		return reference, nil
	case scheme == "env":
		text, ok := os.LookupEnv(rest)
		if !ok {
			return "", fmt.Errorf("the environment variable %s is not set", rest)
		}
		return text, nil
	case scheme == "file":
		path = f.beside(rest)
	case scheme == "credential":
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" || rest != filepath.Base(rest) {
			return "", fmt.Errorf("there is no credential %s: the service manager sets none", rest)
		}
		path = filepath.Join(dir, rest)
	default:
		return "", errors.New(`a secret must be "env:NAME", "file:PATH", "credential:NAME" or "unset"`)
	}

	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if len(text) > maxSecret {
		return "", fmt.Errorf("%s has more than %d bytes", path, maxSecret)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// beside returns a path that is relative to the file.
func (f *setupFile) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}

// eachSecretFile calls do for each object whose secret is written to a file.
func (f *setupFile) eachSecretFile(do func(of setup.SecretTable, key, path string, row map[string]any) error) error {
	return f.text.EachSecret(func(of setup.SecretTable, key string, row map[string]any) error {
		path, ok := row["secret_file"].(string)
		if !ok {
			return nil // absent, which the server reports
		}
		if err := do(of, key, f.beside(path), row); err != nil {
			_, at := f.text.Line(of.Name + "." + key + ".secret_file")
			return fmt.Errorf("%s: %s: %w", f.path, place(at), err)
		}
		return nil
	})
}

// place returns the place of a fault as a line of an error shows it.
func place(at string) string {
	const most = 200 // bytes
	if len(at) > most {
		at = strings.ToValidUTF8(at[:most], "") + "…"
	}
	return oneLine(at)
}

// readSecrets reads the files that an earlier run has written. A new object gets the secret in it;
// without a file one stands for it that no object gets.
func (f *setupFile) readSecrets() error {
	return f.eachSecretFile(func(of setup.SecretTable, _, path string, row map[string]any) error {
		text, err := readSecretFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			text, err = of.New(), nil
		case err == nil:
			err = checkSecret(of.Name, path, text)
		}
		if err != nil {
			return err
		}
		row["secret"] = map[string]any{"secret": text}
		return nil
	})
}

// checkSecret returns an error unless a file has what an earlier run writes there.
func checkSecret(table, path, text string) error {
	switch _, _, isKey := auth.KeyHash(text); {
	case table == "keys" && !isKey:
		return fmt.Errorf("%s has no API key; remove it, and one is written", path)
	case table == "webhooks" && webhook.CheckSecret(text) != nil:
		return fmt.Errorf("%s has no secret of a webhook; remove it, and one is written", path)
	}
	return nil
}

// readSecretFile reads a secret, unless the file is a link or others can read it. An empty file, which
// a run leaves that was killed, does not exist.
func readSecretFile(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by other users: run `chmod go= %[1]s`", path)
	}
	if info.Size() == 0 {
		return "", fs.ErrNotExist
	}
	if info.Size() > maxSecret {
		return "", fmt.Errorf("%s has more than %d bytes", path, maxSecret)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // read only: nothing can be lost
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return "", cmp.Or(err, fmt.Errorf("%s was replaced while it was read", path))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSecret))
	return strings.TrimSpace(string(text)), err
}

// writeSecrets writes the secrets of objects that will be created to their files, durably and before
// the server stores their hashes, so that none is lost. What is sent is what the files have by then:
// another run may have written one since the plan. Others without a file are sent without a secret:
// if they are deleted in the meantime, the server refuses to create them again.
func writeSecrets(files []*setupFile, changes []change) error {
	for _, f := range files {
		err := f.eachSecretFile(func(of setup.SecretTable, key, path string, row map[string]any) error {
			isNew := slices.ContainsFunc(changes, func(c change) bool {
				return c.Operation == "create" && c.Kind == of.Kind && c.Key == key
			})
			if stored, err := readSecretFile(path); !errors.Is(err, fs.ErrNotExist) {
				if err == nil {
					err = checkSecret(of.Name, path, stored)
				}
				if err == nil {
					err = syncSecretFile(path)
				}
				row["secret"] = map[string]any{"secret": stored}
				return err
			}
			if !isNew {
				delete(row, "secret")
				return nil
			}
			secret, _ := row["secret"].(map[string]any)
			text, _ := secret["secret"].(string)
			return writeSecretFile(path, text)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// syncSecretFile makes a file durable that an earlier run may have written without syncing it.
func syncSecretFile(path string) error {
	access := os.O_RDONLY // so that it can be on a read-only file system
	if runtime.GOOS == "windows" {
		access = os.O_RDWR // without which it syncs no file
	}
	file, err := os.OpenFile(path, access, 0)
	if err != nil {
		return err
	}
	return cmp.Or(file.Sync(), file.Close(), disk.SyncDir(filepath.Dir(path)))
}

// writeSecretFile writes a file that must not exist, or be empty, which only the user of the command
// can read.
func writeSecretFile(path, text string) error {
	if _, err := os.Lstat(path); err == nil {
		if err := os.Remove(path); err != nil { // readSecretFile has found it empty
			return err
		}
	}
	file, err := createSecretFile(path, []byte(text+"\n"))
	if err != nil {
		return err
	}
	return file.Close() // synced
}
