package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"reeve/auth"
	"reeve/server/webhook"
)

// setupFile is a file of objects.
type setupFile struct {
	Name   string         `json:"name"`
	Values map[string]any `json:"values"`
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
		found, err := filepath.Glob(filepath.Join(path, "*.toml"))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no files that end with .toml", path)
		}
		names = append(names, found...)
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
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	f := &setupFile{Name: strings.TrimSuffix(filepath.Base(path), ".toml"), path: path}
	if err := toml.Unmarshal(text, &f.Values); err != nil {
		var fault *toml.DecodeError
		if errors.As(err, &fault) {
			line, column := fault.Position()
			return nil, fmt.Errorf("%s: line %d, column %d: %w", path, line, column, err)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := checkValues(f.Values, "", 0); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, errors.Join(f.checkSecrets(), f.resolve())
}

// resolve replaces the references to secrets, {secret = "env:NAME"}, by the secrets, where a file can
// have them: values of settings and URLs of webhooks. The command reads them with the rights of its
// user.
func (f *setupFile) resolve() error {
	for table, field := range map[string]string{"settings": "value", "webhooks": "url"} {
		rows, _ := f.Values[table].(map[string]any)
		for key, value := range rows {
			holder, name, at := rows, key, table+"."+key
			row, ok := value.(map[string]any)
			if _, is := referenceOf(value); ok && !is {
				holder, name, at = row, field, at+"."+field
			}
			reference, is := referenceOf(holder[name])
			if !is {
				continue
			}
			text, err := f.secret(reference)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", f.path, place(at), err)
			}
			holder[name] = map[string]any{"secret": text}
		}
	}
	return nil
}

// referenceOf returns the reference in {secret = "env:NAME"}.
func referenceOf(value any) (reference string, is bool) {
	table, _ := value.(map[string]any)
	reference, is = table["secret"].(string)
	return reference, is && len(table) == 1
}

// maxSecret is the maximum size of a secret in bytes.
const maxSecret = 64 << 10

// secret returns the secret that a reference names.
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

// generators make the secrets of new objects, by the table of the objects.
var generators = map[string]func() string{
	"keys":     func() string { token, _, _ := auth.NewKey(); return token },
	"webhooks": webhook.NewSecret,
}

// eachSecretFile calls do for each object whose secret is written to a file.
func (f *setupFile) eachSecretFile(do func(table, key, path string, row map[string]any) error) error {
	for _, table := range slices.Sorted(maps.Keys(generators)) {
		rows, _ := f.Values[table].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			row, _ := rows[key].(map[string]any)
			path, ok := row["secret_file"].(string)
			if !ok {
				continue // absent, or a fault that the server reports
			}
			if err := do(table, key, f.beside(path), row); err != nil {
				return fmt.Errorf("%s: %s: %w", f.path, place(table+"."+key+".secret_file"), err)
			}
		}
	}
	return nil
}

// readSecrets reads the files that an earlier run has written. A new object gets the secret in it;
// without a file one stands for it that no object gets.
func (f *setupFile) readSecrets() error {
	return f.eachSecretFile(func(table, key, path string, row map[string]any) error {
		text, err := readSecretFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			text, err = generators[table](), nil
		case err == nil:
			err = checkSecret(table, path, text)
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
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

// writeSecrets writes the secrets of objects that will be created to their files, durably and before
// the server stores their hashes, so that none is lost.
func writeSecrets(files []*setupFile, changes []change) error {
	kinds := map[string]string{"keys": "API key", "webhooks": "webhook"}
	for _, f := range files {
		err := f.eachSecretFile(func(table, key, path string, row map[string]any) error {
			isNew := slices.ContainsFunc(changes, func(c change) bool {
				return c.Operation == "create" && c.Kind == kinds[table] && c.Key == key
			})
			if !isNew {
				return nil
			}
			if _, err := readSecretFile(path); !errors.Is(err, fs.ErrNotExist) {
				return err
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
