package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"reeve/store"
	"reeve/store/disk"
	"reeve/store/errs"
)

// passwordLine is the prefix of the password's line in the initial file.
const passwordLine = "password: "

// WriteInitial writes the file with the first user's generated password and syncs it to
// disk.
func WriteInitial(path, username, password string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "username: %s\n%s%s\n", username, passwordLine, password)
	return errors.Join(err, f.Sync(), f.Close())
}

// ForgetInitial removes the file with the first user's generated password if replaced
// is the first user's account.
func (a *Auth) ForgetInitial(replaced store.Account) error {
	if replaced != (store.Account{ID: FirstUser}) {
		return nil
	}
	return a.removeInitial()
}

// HasInitial reports whether the file with the first user's generated password still
// exists.
func (a *Auth) HasInitial() bool {
	if !a.initial.Load() {
		return false
	}
	if _, err := os.Stat(a.options.InitialFile); err != nil {
		a.initial.Store(false) // the file is written before New and never afterwards
		return false
	}
	return true
}

func (a *Auth) removeInitial() error {
	if a.options.InitialFile == "" {
		return nil
	}
	return disk.RemoveFile(a.options.InitialFile)
}

// RemoveStaleInitial removes the file with the first user's generated password if that
// user no longer has to change it or has another password. That is the case if the
// program stopped before it could remove the file, or if another database was restored.
// It computes one hash while the password still has to be changed, and none otherwise.
func (a *Auth) RemoveStaleInitial() error {
	if a.options.InitialFile == "" {
		return nil
	}

	text, err := os.ReadFile(a.options.InitialFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	hash := ""
	err = a.db.View(store.System, func(tx *store.Tx) error {
		user, err := store.Users.Get(tx, FirstUser)
		if err != nil || !bool(user.MustChangePassword) {
			return err
		}
		h, err := store.HashOf(tx, store.Account{ID: FirstUser})
		if err == nil {
			hash = h.Hash
		}
		return err
	})
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}

	_, password, found := strings.Cut(string(text), passwordLine)
	if found && hash != "" {
		password, _, _ = strings.Cut(password, "\n")
		same, err := a.hasher.compare(newPasswords, hash, password)
		if err != nil || same {
			return err
		}
	}

	return a.removeInitial()
}

// followInitial removes the file with the first user's generated password after another node has replaced
// that password.
func (a *Auth) followInitial() error {
	if !a.replaced.Swap(false) || !a.HasInitial() {
		return nil
	}
	return a.RemoveStaleInitial()
}
