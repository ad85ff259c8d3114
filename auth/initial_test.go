package auth

import (
	"os"
	"path/filepath"
	"testing"

	"reeve/store"
)

func TestInitialPassword_StaleIsRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		file    string // the password in it
		prepare func(in *instance)
		stays   bool
	}{
		"still to be changed": {password, func(in *instance) {
			in.user(FirstUser, func(u *store.User) { u.MustChangePassword = true })
		}, true},
		"changed": {password, func(*instance) {}, false},
		"reset to another one": {"another password", func(in *instance) {
			in.user(FirstUser, func(u *store.User) { u.MustChangePassword = true })
		}, false},
		"of a user who is gone": {password, func(in *instance) {
			in.update(func(tx *store.Tx) error {
				if err := addUser(tx, "other", password); err != nil {
					return err
				}
				return store.Users.Delete(tx, FirstUser)
			})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			path := filepath.Join(in.dir, "initial-password")
			must(t, in.RemoveStaleInitial()) // no file yet
			must(t, WriteInitial(path, "admin", test.file))
			test.prepare(in)
			must(t, in.RemoveStaleInitial())
			if _, err := os.Stat(path); (err == nil) != test.stays {
				t.Errorf("the file: %v, want it to stay: %t", err, test.stays)
			}
		})
	}
}

// TestInitialPassword_FollowsOtherNodes: a commit of another node, which has replaced the password, has
// the file removed here.
func TestInitialPassword_FollowsOtherNodes(t *testing.T) {
	in := start(t)
	path := filepath.Join(in.dir, "initial-password")
	must(t, WriteInitial(path, "admin", password))
	in.user(FirstUser, func(u *store.User) { u.MustChangePassword = true })
	must(t, in.tidy())
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the password is still the one in the file: %v", err)
	}
	in.user(FirstUser, func(u *store.User) { u.MustChangePassword = false })
	must(t, in.tidy())
	if _, err := os.Stat(path); err == nil {
		t.Error("the file remains")
	}
}
