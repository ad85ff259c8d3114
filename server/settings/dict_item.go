package settings

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func DictItemRoutes() []web.Route {
	return []web.Route{
		web.CachedList("/system/dict/:id/item", "system.dict.item.query",
			"List a dictionary's items", &dictItems),
		web.Write("POST", "/system/dict/:id/item", "system.dict.item.create",
			"Create a dictionary item", createDictItem),
		web.Write("PUT", "/system/dict/:id/item/:item_id", "system.dict.item.update",
			"Change a dictionary item", changeDictItem,
			web.Options{Record: web.RecordOf(store.DictItems)}),
		web.Write("DELETE", "/system/dict/:id/item/:item_id", "system.dict.item.delete",
			"Delete a dictionary item", deleteDictItem, web.Options{
				Record: web.RecordOf(store.DictItems),
				Note:   "Clients that read the dictionary no longer get the item.",
			}),
		web.Write("DELETE", "/system/dict/:id/item", "system.dict.item.delete",
			"Delete dictionary items", deleteDictItems),
	}
}

var dictItems = web.MemoryList[store.DictItem]{
	Under: func(tx *store.Tx, dict store.ID) ([]store.Row[store.DictItem], error) {
		return store.DictCache.Get(tx).Items(dict)
	},
	Keywords: []string{"label", "value"},
	Order:    "sort, then id, ascending",
	Columns: []web.MemoryColumn[store.DictItem]{
		{Name: "id", Number: func(i *store.DictItem) int64 {
			return int64(i.ID)
		}, Uses: web.Sorted},
		{Name: "label", Text: func(i *store.DictItem) string { return i.Label }, Uses: web.Sorted},
		{Name: "value", Text: func(i *store.DictItem) string { return i.Value }, Uses: web.Sorted},
		{Name: "sort", Number: func(i *store.DictItem) int64 { return i.Sort }, Uses: web.Sorted},
		{Name: "switch", Number: func(i *store.DictItem) int64 {
			return web.FlagNumber(i.Switch)
		}, Uses: web.Param | web.Filtered},
		{Name: "status", Text: func(i *store.DictItem) string {
			return i.Status
		}, Uses: web.Param | web.Filtered},
		{Name: "created_at", Number: func(i *store.DictItem) int64 {
			return int64(i.CreatedAt)
		}, Uses: web.Sorted | web.Ranged},
		{Name: "updated_at", Number: func(i *store.DictItem) int64 {
			return int64(i.UpdatedAt)
		}, Uses: web.Sorted | web.Ranged},
	},
}

type dictItemIn struct {
	Label  *string     `json:"label" check:"create,min=1,max=200" doc:"Text that is shown"`
	Value  *string     `json:"value" check:"create,min=1,max=200" doc:"Value that programs store, unique in its dictionary"`
	Sort   *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Switch *store.Flag `json:"switch" doc:"Status: 1 enabled, the default of a new item; 0 hides it from GET /admin/dict"`
	Status *string     `json:"status" check:"enum=item_status" doc:"Color; default for a new item"`
}

var assignDictItem = web.Assigning[dictItemIn, store.DictItem]()

type newDictItem struct {
	web.ByID
	dictItemIn
}

func createDictItem(tx *store.Tx, _ *web.Request, in *newDictItem) (*store.DictItem, error) {
	if _, err := store.Dicts.Get(tx, in.ID); err != nil {
		return nil, err // not found, since the ID is in the path; the reference check would report an invalid field
	}
	i := &store.DictItem{DictID: in.ID, Switch: true, Status: "default"}
	assignDictItem(&in.dictItemIn, i)
	return i, store.DictItems.Create(tx, i)
}

type byItemID struct {
	web.ByID
	ItemID store.ID `path:"item_id"`
}

// holds returns NotFound for an item of a dictionary other than that of the path.
func (in *byItemID) holds(i *store.DictItem) error {
	if i.DictID != in.ID {
		return errs.New(errs.NotFound, "dictionary item %d not found in dictionary %d", in.ItemID,
			in.ID)
	}
	return nil
}

type dictItemChange struct {
	byItemID
	dictItemIn
}

func changeDictItem(tx *store.Tx, req *web.Request, in *dictItemChange) (*store.DictItem, error) {
	return store.DictItems.Update(tx, in.ItemID, func(i *store.DictItem) error {
		if err := in.holds(i); err != nil {
			return err
		}
		assignDictItem(&in.dictItemIn, i)
		return nil
	})
}

func deleteDictItem(tx *store.Tx, _ *web.Request, in *byItemID) (web.Nothing, error) {
	i, err := store.DictItems.Get(tx, in.ItemID)
	if err == nil {
		err = in.holds(i)
	}
	if err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.DictItems.Delete(tx, in.ItemID)
}

type byItemIDs struct {
	web.ByID
	web.ByIDs
}

func deleteDictItems(tx *store.Tx, req *web.Request, in *byItemIDs) (web.Nothing, error) {
	return web.Nothing{}, web.Each(tx, in.IDs, func(id store.ID) error {
		_, err := deleteDictItem(tx, req, &byItemID{in.ByID, id})
		return err
	})
}
