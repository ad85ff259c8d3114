package store

import "reeve/store/errs"

// DictItem is one value of a dictionary.
type DictItem struct {
	Ident
	DictID ID     `json:"dict_id"`
	Label  string `json:"label"`
	Value  string `json:"value"`
	Sort   int64  `json:"sort"`
	Switch Flag   `json:"switch" doc:"whether it can be chosen"`
	Status string `json:"status" enum:"item_status" doc:"the colour: default, success, error, processing or warning"`
	Versioned
}

// The items of dictionaries.
var (
	DictItems       = NewCollection[DictItem]("dict_item")
	DictItemByValue = NewUnique(DictItems, "value", func(i *DictItem) string { return i.DictID.String() + "." + i.Value }, "dict_id")
	DictItemByDict  = NewRef(DictItems, "dict_id", Dicts, func(i *DictItem) ID { return i.DictID }, Refuse)

	_ = DictItems.Rule(dictItemRule)
)

// dictItemRule keeps items from belonging nowhere, which a reference allows.
func dictItemRule(_ *Tx, _, new *DictItem) error {
	if new != nil && new.DictID == 0 {
		return errs.Field(errs.Invalid, "dict_id", "is required")
	}
	return nil
}
