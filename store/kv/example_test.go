package kv_test

import (
	"fmt"
	"os"

	"reeve/store/fold"
	"reeve/store/kv"
)

// Note is the record type of this example.
type Note struct {
	kv.Ident
	Title string `json:"title"`
	kv.Timestamps
}

var (
	Notes       = kv.NewCollection[Note]("note")
	NoteByTitle = kv.NewUniqueText(Notes, "title", fold.Name, func(n *Note) string {
		return n.Title
	})
)

// program is the principal of this example.
type program struct{}

func (program) Unrestricted() bool { return true }

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}

	defer os.RemoveAll(dir)
	db, err := kv.Open(dir, kv.Options{Schema: &kv.Schema{Tables: []kv.Table{kv.Installs, Notes}}})
	if err != nil {
		panic(err)
	}

	defer db.Close()
	err = db.Update(program{}, func(tx *kv.Tx) error {
		return Notes.Create(tx, &Note{Title: "First"})
	})
	fmt.Println(err)
	err = db.Update(program{}, func(tx *kv.Tx) error {
		return Notes.Create(tx, &Note{Title: " first "})
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// title: is already used by another note
}
