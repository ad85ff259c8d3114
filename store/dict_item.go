package store

import (
	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// DictItem is a value in a dictionary.
type DictItem struct {
	Ident
	DictID ID     `json:"dict_id"`
	Label  string `json:"label" visible:"name"`
	Value  string `json:"value" visible:"name"`
	Sort   int64  `json:"sort"`
	Switch Flag   `json:"switch" doc:"Whether the item can be chosen"`
	Status string `json:"status" enum:"item_status" doc:"Colour: default, success, error, processing or warning"`
	Versioned
}

// DictItems and their indexes.
var (
	DictItems       = kv.NewCollection[DictItem]("dict_item").Undoable()
	DictItemByValue = kv.NewUniqueText(DictItems, "value", fold.Value, func(i *DictItem) string {
		return i.DictID.String() + "." + i.Value
	}, "dict_id")
	DictItemByDict = kv.NewRef(DictItems, "dict_id", Dicts, func(i *DictItem) ID {
		return i.DictID
	}, kv.Restrict).Required()

	_ = DictItems.Constraint(constrainDictItem)
)

var _ = Manage(DictItems, "system.dict.item")

// constrainDictItem requires a dictionary, because a reference may be 0.
func constrainDictItem(_ *Tx, _, new *DictItem) error {
	if new != nil && new.DictID == 0 {
		return errs.Field(errs.Invalid, "dict_id", "is required")
	}
	return nil
}
