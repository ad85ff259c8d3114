package cluster

import (
	"bytes"
	"testing"
)

// TestNotes leaves notes for another node, which etcd can neither read nor exchange.
func TestNotes(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	a := g.start(first, "a")
	b := g.start(keyOnly(t, first), "b")
	for name, text := range map[string]string{"notes/one": "a word", "notes/two": "another word"} {
		if err := a.SetNote(t.Context(), name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := b.Notes(t.Context(), "notes/")
	if err != nil || len(all) != 2 || string(all["notes/one"]) != "a word" {
		t.Errorf("%q, %v", all, err)
	}
	sealed, err := a.etcd.Notes(t.Context(), "notes/")
	if err != nil || bytes.Contains(sealed["notes/one"], []byte("word")) {
		t.Errorf("%q, %v", sealed, err)
	}
	if err := a.etcd.SetNote(t.Context(), "notes/one", sealed["notes/two"]); err != nil {
		t.Fatal(err)
	}
	if all, err = b.Notes(t.Context(), "notes/"); err != nil || len(all) != 1 {
		t.Errorf("a note in another's place: %q, %v", all, err)
	}
}
