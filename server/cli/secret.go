package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"reeve/store/disk"
)

// revealed is how a command puts out a secret that the server makes and tells only once.
type revealed struct {
	field string                 // field of the answer with the secret
	ask   func() (record, error) // lets the server make it
	text  func(record) string    // lines for people, without --output
	// lost does what can be done about a secret that was made and could not be written, and returns
	// advice.
	lost func(record) string
}

func outputFlag(f *pflag.FlagSet, _ *program) {
	f.String("output", "", "write the secret to this new `FILE` instead of printing it")
}

// reveal lets the server make a secret and puts it out: to the file of --output, which exists and has
// its place on the disk before the server is asked, or else to the standard output.
func (p *program) reveal(r revealed) error {
	path := p.text("output")
	var file *secretFile
	if path != "" {
		var err error
		if file, err = reserveSecret(path); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}

	made, err := r.ask()
	if err != nil {
		return errors.Join(err, file.remove())
	}
	secret, text := made.text(r.field), r.text(made)
	if file != nil {
		if err := file.store(secret); err != nil {
			return fmt.Errorf("--output: %w; %s", errors.Join(err, file.remove()), r.lost(made))
		}
		delete(made, r.field)
		made["file"] = jsonText(path)
		text = "the secret is in " + path
	}
	err = p.show(made, "%s", text)
	if err != nil && file == nil && secret != "-" {
		err = fmt.Errorf("the secret could not be printed: %w; %s", err, r.lost(made))
	}
	return err
}

// secretFile is a file for a secret that is not known yet. A nil one is none.
type secretFile struct{ *os.File }

// reservedBytes is the size of the file until the secret is known, more than any has.
const reservedBytes = 4096

// reserveSecret creates a file that must not exist, which only the user of the command can read, and
// takes its place on the disk.
func reserveSecret(path string) (*secretFile, error) {
	file, err := createSecretFile(path, bytes.Repeat([]byte("\n"), reservedBytes))
	if err != nil {
		return nil, err
	}
	return &secretFile{file}, nil
}

// store replaces the content by a secret, durably, and closes the file.
func (f *secretFile) store(secret string) error {
	_, err := f.WriteAt([]byte(secret+"\n"), 0)
	if err == nil {
		err = f.Truncate(int64(len(secret) + 1))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// remove removes the file.
func (f *secretFile) remove() error {
	if f == nil {
		return nil
	}
	f.Close() // twice after store; the file has nothing to lose
	return disk.RemoveFile(f.Name())
}

// createSecretFile creates a file with a content, durably. It follows no link.
func createSecretFile(path string, content []byte) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = file.Write(content); err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(path))
	}
	return file, nil
}
