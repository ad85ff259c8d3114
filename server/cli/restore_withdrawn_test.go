package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// TestRestore_ListsWithdrawn restores a backup from before a user was disabled: the command says what stays withdrawn, as
// text and for programs, and nothing if the rights are wanted back.
func TestRestore_ListsWithdrawn(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	db, err := store.Open(data, store.Options{})
	servertest.Must(t, err)
	u := &store.User{Username: "anna", Status: true}
	servertest.Must(t, db.Update(store.System, func(tx *store.Tx) error { return store.Users.Create(tx, u) }))
	archive := filepath.Join(t.TempDir(), "backup.tar")
	f, err := os.Create(archive)
	servertest.Must(t, err)
	b, err := db.Backup(t.Context(), true)
	servertest.Must(t, err)
	_, err = b.WriteTo(f)
	servertest.Must(t, err)
	servertest.Must(t, b.Close())
	servertest.Must(t, f.Close())
	servertest.Must(t, db.Update(store.System, func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, u.ID, func(u *store.User) error { u.Status = false; return nil })
		return err
	}))
	servertest.Must(t, db.Close())

	const title = "user anna: it was disabled or deleted"
	out, _, err := runIn(t, "restore", archive, "--data", data)
	if err != nil || !strings.Contains(out, "these rights were withdrawn since and stay so; --return-rights brings them back:\n  "+title+"\n") {
		t.Errorf("%q, %v", out, err)
	}
	for flag, want := range map[string][]string{"": {title}, "--return-rights": {}} {
		out, _, err := runIn(t, strings.Fields("restore "+archive+" --json --data "+data+" "+flag)...)
		servertest.Must(t, err)
		var said map[string]json.RawMessage
		servertest.Must(t, json.Unmarshal([]byte(out), &said))
		var titles []string
		servertest.Must(t, json.Unmarshal(said["stay_withdrawn"], &titles))
		if !slices.Equal(titles, want) || titles == nil || string(said["withdrawn_known"]) != "true" {
			t.Errorf("%s: %s", flag, out)
		}
	}
	if out, _, err := runIn(t, "restore", archive, "--return-rights", "--data", data); err != nil || strings.Contains(out, "withdrawn") {
		t.Errorf("%q, %v", out, err)
	}
}
