package store

import (
	"strconv"

	"reeve/store/errs"
	"reeve/store/kv"
)

// SetupMark says that a setup file has created a record, so that it is deleted when the file no
// longer has it and is applied with --prune.
type SetupMark struct {
	Ident
	Owner    string `json:"owner" visible:"name"` // name of the file
	Kind     string `json:"kind"`                 // kind of the object in setup files
	RecordID ID     `json:"record_id"`
	kv.Timestamps
}

// SetupMarks and their index.
var (
	SetupMarks        = kv.NewCollection[SetupMark]("setup_mark").Undoable()
	setupMarkByRecord = kv.NewUnique(SetupMarks, "record", func(m *SetupMark) string {
		return m.Kind + " " + strconv.FormatUint(uint64(m.RecordID), 10)
	}, "kind", "record_id")
)

var _ = manage(Access{
	Table:  SetupMarks,
	Query:  "system.setup.query",
	Create: "system.setup.apply",
	Update: "system.setup.apply",
	Delete: "system.setup.apply",
})

// MarkSetup marks a new record as created by a file. The mark of a deleted record that had its ID
// is replaced.
func MarkSetup(tx *Tx, owner, kind string, id ID) error {
	if err := UnmarkSetup(tx, kind, id); err != nil {
		return err
	}
	return SetupMarks.Create(tx, &SetupMark{Owner: owner, Kind: kind, RecordID: id})
}

// UnmarkSetup removes the mark of a record, if it has one.
func UnmarkSetup(tx *Tx, kind string, id ID) error {
	mark, err := SetupMarkOf(tx, kind, id)
	if mark == 0 || err != nil {
		return err
	}
	return SetupMarks.Delete(tx, mark)
}

// SetupMarkOf returns the ID of the mark of a record; 0 for none.
func SetupMarkOf(tx *Tx, kind string, id ID) (ID, error) {
	m, err := setupMarkByRecord.Get(tx, kind+" "+strconv.FormatUint(uint64(id), 10))
	if errs.Is(err, errs.NotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return m.ID, nil
}
