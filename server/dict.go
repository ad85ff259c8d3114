package server

import "reeve/store"

var dictRoutes = []Route{
	withETag(read("/admin/dict", signedIn, "List enabled dictionaries, by code", openDicts)),
	list("/system/dict", "system.dict.query", "List dictionaries", &dicts),
	read("/system/dict/:id", "system.dict.query", "Get a dictionary", getDict),
	write("POST", "/system/dict", "system.dict.create", "Create a dictionary", createDict),
	write("PUT", "/system/dict/:id", "system.dict.update", "Change a dictionary", changeDict),
	write("DELETE", "/system/dict/:id", "system.dict.delete", "Delete a dictionary", deleteDict),
	deleteSeveral("/system/dict", "system.dict.delete", "Delete dictionaries", deleteDict),
}

var dicts = List[store.Dict]{
	rows:     func(tx *store.Tx) []store.Row[store.Dict] { return store.DictSet.Get(tx).Dicts },
	keywords: []string{"code", "name", "describe"},
	order:    "id, ascending",
	columns: []column[store.Dict]{
		{name: "id", number: func(d *store.Dict) int64 { return int64(d.ID) }, uses: sorted},
		{name: "code", text: func(d *store.Dict) string { return d.Code }, uses: sorted},
		{name: "name", text: func(d *store.Dict) string { return d.Name }, uses: sorted},
		{name: "type", text: func(d *store.Dict) string { return d.Type }, uses: param | filtered | sorted},
		{name: "status", number: func(d *store.Dict) int64 { return flagNumber(d.Status) }, uses: param | filtered},
		{name: "created_at", number: func(d *store.Dict) int64 { return int64(d.CreatedAt) }, uses: sorted | ranged},
		{name: "updated_at", number: func(d *store.Dict) int64 { return int64(d.UpdatedAt) }, uses: sorted | ranged},
	},
}

func openDicts(tx *store.Tx, _ *Request, _ *none) (Encoded[map[string]store.OpenDict], error) {
	open, err := store.DictSet.Get(tx).Open()
	if err != nil {
		return Encoded[map[string]store.OpenDict]{}, err
	}
	return Encoded[map[string]store.OpenDict]{JSON: open.JSON, ETag: open.ETag}, nil
}

func getDict(tx *store.Tx, _ *Request, in *byID) (*store.Dict, error) {
	return store.Dicts.Get(tx, in.ID)
}

type dictIn struct {
	Code     *string     `json:"code" check:"create,max=64,key" doc:"what programs call it; unique"`
	Name     *string     `json:"name" check:"create,min=1,max=100"`
	Type     *string     `json:"type" check:"enum=dict_type" doc:"how an item is shown; default when absent at creation"`
	Describe *string     `json:"describe" check:"max=1000,text"`
	Status   *store.Flag `json:"status" doc:"0 hides it from GET /admin/dict; 1 when absent at creation"`
}

func (in *dictIn) apply(d *store.Dict) {
	set(&d.Code, in.Code)
	set(&d.Name, in.Name)
	set(&d.Type, in.Type)
	set(&d.Describe, in.Describe)
	set(&d.Status, in.Status)
}

func createDict(tx *store.Tx, _ *Request, in *dictIn) (*store.Dict, error) {
	d := &store.Dict{Type: "default", Status: true}
	in.apply(d)
	return d, store.Dicts.Create(tx, d)
}

type dictChange struct {
	byID
	dictIn
}

func changeDict(tx *store.Tx, req *Request, in *dictChange) (*store.Dict, error) {
	return store.Dicts.Update(tx, in.ID, func(d *store.Dict) error {
		in.apply(d)
		return req.fresh(d)
	})
}

func deleteDict(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	return nothing{}, store.Dicts.Delete(tx, in.ID)
}
