package backup

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"reeve/store/disk"
)

// confirmedName is the file in the data directory that lists the recipients whose identity has
// decrypted a challenge.
const confirmedName = "backup-recipients"

// Confirmed returns the recipients whose identity has decrypted a challenge.
func Confirmed(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, confirmedName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return strings.Fields(string(text)), nil
}

// Confirm lists a recipient as confirmed in a data directory, see Challenge.
func Confirm(dir, recipient string) error {
	known, err := Confirmed(dir)
	if err != nil || slices.Contains(known, recipient) {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, confirmedName), []byte(strings.Join(append(known, recipient), "\n")+"\n"))
}

// Challenge encrypts a challenge to a recipient, and returns an error unless the identities decrypt
// it.
func Challenge(recipient string, identities []age.Identity) error {
	to, err := age.ParseRecipients(strings.NewReader(recipient))
	if err != nil || len(to) != 1 {
		return errors.Join(err, errors.New("name one recipient"))
	}
	challenge := make([]byte, 32)
	rand.Read(challenge)
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, to...)
	if err != nil {
		return err
	}
	_, err = w.Write(challenge)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	opened, err := age.Decrypt(&sealed, identities...)
	if err == nil {
		var got []byte
		if got, err = io.ReadAll(opened); err == nil && !bytes.Equal(got, challenge) {
			err = errors.New("the decrypted challenge is another one")
		}
	}
	if err != nil {
		return errors.New("this is not the identity of the recipient " + recipient)
	}
	return nil
}
