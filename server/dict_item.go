package server

import (
	"reeve/store"
	"reeve/store/errs"
)

var dictItemRoutes = []Route{
	memoryList("/system/dict/:id/item", "system.dict.item.query", "List a dictionary's items", &dictItems),
	write("POST", "/system/dict/:id/item", "system.dict.item.create", "Create a dictionary item", createDictItem),
	onRecord(store.DictItems, write("PUT", "/system/dict/:id/item/:item_id", "system.dict.item.update", "Change a dictionary item", changeDictItem)),
	onRecord(store.DictItems, write("DELETE", "/system/dict/:id/item/:item_id", "system.dict.item.delete", "Delete a dictionary item", deleteDictItem)),
	write("DELETE", "/system/dict/:id/item", "system.dict.item.delete", "Delete dictionary items", deleteDictItems),
}

var dictItems = MemoryList[store.DictItem]{
	under: func(tx *store.Tx, dict store.ID) ([]store.Row[store.DictItem], error) {
		return store.DictCache.Get(tx).Items(dict)
	},
	keywords: []string{"label", "value"},
	order:    "sort, then id, ascending",
	columns: []memoryColumn[store.DictItem]{
		{name: "id", number: func(i *store.DictItem) int64 { return int64(i.ID) }, uses: sorted},
		{name: "label", text: func(i *store.DictItem) string { return i.Label }, uses: sorted},
		{name: "value", text: func(i *store.DictItem) string { return i.Value }, uses: sorted},
		{name: "sort", number: func(i *store.DictItem) int64 { return i.Sort }, uses: sorted},
		{name: "switch", number: func(i *store.DictItem) int64 { return flagNumber(i.Switch) }, uses: param | filtered},
		{name: "status", text: func(i *store.DictItem) string { return i.Status }, uses: param | filtered},
		{name: "created_at", number: func(i *store.DictItem) int64 { return int64(i.CreatedAt) }, uses: sorted | ranged},
		{name: "updated_at", number: func(i *store.DictItem) int64 { return int64(i.UpdatedAt) }, uses: sorted | ranged},
	},
}

type dictItemIn struct {
	Label  *string     `json:"label" check:"create,min=1,max=200" doc:"Text that is shown"`
	Value  *string     `json:"value" check:"create,min=1,max=200" doc:"Value that programs store, unique in its dictionary"`
	Sort   *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Switch *store.Flag `json:"switch" doc:"Status: 1 enabled, the default of a new item; 0 hides it from GET /admin/dict"`
	Status *string     `json:"status" check:"enum=item_status" doc:"Color; default for a new item"`
}

var assignDictItem = assigning[dictItemIn, store.DictItem]()

type newDictItem struct {
	byID
	dictItemIn
}

func createDictItem(tx *store.Tx, _ *Request, in *newDictItem) (*store.DictItem, error) {
	if _, err := store.Dicts.Get(tx, in.ID); err != nil {
		return nil, err // not found, since the ID is in the path; the reference check would report an invalid field
	}
	i := &store.DictItem{DictID: in.ID, Switch: true, Status: "default"}
	assignDictItem(&in.dictItemIn, i)
	return i, store.DictItems.Create(tx, i)
}

type byItemID struct {
	byID
	ItemID store.ID `path:"item_id"`
}

// holds returns NotFound for an item of a dictionary other than that of the path.
func (in *byItemID) holds(i *store.DictItem) error {
	if i.DictID != in.ID {
		return errs.New(errs.NotFound, "dictionary item %d not found in dictionary %d", in.ItemID, in.ID)
	}
	return nil
}

type dictItemChange struct {
	byItemID
	dictItemIn
}

func changeDictItem(tx *store.Tx, req *Request, in *dictItemChange) (*store.DictItem, error) {
	return store.DictItems.Update(tx, in.ItemID, func(i *store.DictItem) error {
		if err := in.holds(i); err != nil {
			return err
		}
		assignDictItem(&in.dictItemIn, i)
		return nil
	})
}

func deleteDictItem(tx *store.Tx, _ *Request, in *byItemID) (nothing, error) {
	i, err := store.DictItems.Get(tx, in.ItemID)
	if err == nil {
		err = in.holds(i)
	}
	if err != nil {
		return nothing{}, err
	}
	return nothing{}, store.DictItems.Delete(tx, in.ItemID)
}

type byItemIDs struct {
	byID
	byIDs
}

func deleteDictItems(tx *store.Tx, req *Request, in *byItemIDs) (nothing, error) {
	return nothing{}, each(tx, in.IDs, func(id store.ID) error {
		_, err := deleteDictItem(tx, req, &byItemID{in.byID, id})
		return err
	})
}
