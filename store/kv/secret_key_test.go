package kv

import (
	"bytes"
	"testing"
)

// TestTemporaryKey covers keys of what a restore ends: they remain when the database is opened again.
func TestTemporaryKey(t *testing.T) {
	dir := t.TempDir()
	db := logged(t, dir)
	key, other := db.TemporaryKey("links"), db.TemporaryKey("codes")
	durable, err := db.DerivedKey("links")
	noErr(t, err)
	if len(key) != 32 || bytes.Equal(key, other) || bytes.Equal(key, durable) {
		t.Errorf("keys %x, %x, %x", key, other, durable)
	}
	archive := archiveOf(t, db)
	shut(t, db)
	db = logged(t, dir)
	if again := db.TemporaryKey("links"); !bytes.Equal(key, again) {
		t.Error("opening the database again changes the key")
	}
	shut(t, db)

	_, err = Restore(dir, archive, nil, Options{Schema: loggedOffice()})
	noErr(t, err)
	db = logged(t, dir)
	if again := db.TemporaryKey("links"); bytes.Equal(key, again) {
		t.Error("a restore keeps the key")
	}
	same, err := db.DerivedKey("links")
	noErr(t, err)
	if !bytes.Equal(durable, same) {
		t.Error("a restore changes what is derived from secret.key alone")
	}
	shut(t, db)
}
