package store

import "reeve/store/kv"

// Dict is a dictionary: a named set of values that forms offer as choices and lists show as
// labels.
type Dict struct {
	Ident
	Code     string `json:"code"`
	Name     string `json:"name" visible:"name"`
	Type     string `json:"type" enum:"dict_type" doc:"How an item is shown: default, badge or tag"`
	Describe string `json:"describe"`
	Status   Flag   `json:"status"`
	Public   Flag   `json:"public" doc:"Whether everybody can read it, signed in or not"`
	Versioned
}

// Dicts and their indexes.
var (
	Dicts      = kv.NewCollection[Dict]("dict").Undoable()
	DictByCode = kv.NewUnique(Dicts, "code", func(d *Dict) string { return d.Code })
)

var _ = Manage(Dicts, "system.dict")
