package server

import "reeve/store"

var dictRoutes = []Route{
	withETag(read("/admin/dict", signedIn, "List enabled dictionaries, by code", openDicts)),
	withETag(read("/api/dict", public, "List public dictionaries, by code", publicDicts)),
	memoryList("/system/dict", "system.dict.query", "List dictionaries", &dicts),
	get("/system/dict/:id", "system.dict.query", "Get a dictionary", &dictRecords),
	create[dictIn]("/system/dict", "system.dict.create", "Create a dictionary", &dictRecords),
	change[dictIn]("/system/dict/:id", "system.dict.update", "Change a dictionary", &dictRecords),
	remove("/system/dict/:id", "system.dict.delete", "Delete a dictionary", &dictRecords),
	removeSeveral("/system/dict", "system.dict.delete", "Delete dictionaries", &dictRecords),
}

var dictRecords = Resource[store.Dict, *store.Dict]{of: store.Dicts, blank: store.Dict{Type: "default", Status: true}, out: asItIs[store.Dict]}

var dicts = MemoryList[store.Dict]{
	rows:     func(tx *store.Tx) []store.Row[store.Dict] { return store.DictCache.Get(tx).Dicts },
	keywords: []string{"code", "name", "describe"},
	order:    "id, ascending",
	columns: []memoryColumn[store.Dict]{
		{name: "id", number: func(d *store.Dict) int64 { return int64(d.ID) }, uses: sorted},
		{name: "code", text: func(d *store.Dict) string { return d.Code }, uses: sorted},
		{name: "name", text: func(d *store.Dict) string { return d.Name }, uses: sorted},
		{name: "type", text: func(d *store.Dict) string { return d.Type }, uses: param | filtered | sorted},
		{name: "status", number: func(d *store.Dict) int64 { return flagNumber(d.Status) }, uses: param | filtered},
		{name: "public", number: func(d *store.Dict) int64 { return flagNumber(d.Public) }, uses: param | filtered},
		{name: "created_at", number: func(d *store.Dict) int64 { return int64(d.CreatedAt) }, uses: sorted | ranged},
		{name: "updated_at", number: func(d *store.Dict) int64 { return int64(d.UpdatedAt) }, uses: sorted | ranged},
	},
}

func openDicts(tx *store.Tx, _ *Request, _ *none) (Encoded[map[string]store.OpenDict], error) {
	open, err := store.DictCache.Get(tx).Open()
	if err != nil {
		return Encoded[map[string]store.OpenDict]{}, err
	}
	return Encoded[map[string]store.OpenDict]{JSON: open.JSON, ETag: open.ETag}, nil
}

// publicDicts returns what everybody may read, from app or web site. Caches keep it, and ask each time
// whether it is current.
func publicDicts(tx *store.Tx, req *Request, _ *none) (Encoded[map[string]store.OpenDict], error) {
	open, err := store.DictCache.Get(tx).Open()
	if err != nil {
		return Encoded[map[string]store.OpenDict]{}, err
	}
	req.w.Header()["Cache-Control"] = publicChecked
	return Encoded[map[string]store.OpenDict]{JSON: open.Public.JSON, ETag: open.Public.ETag}, nil
}

type dictIn struct {
	Code     *string     `json:"code" check:"create,max=64,key" doc:"Unique name of the dictionary for programs"`
	Name     *string     `json:"name" check:"create,min=1,max=100"`
	Type     *string     `json:"type" check:"enum=dict_type" doc:"Way in which items are shown; default for a new dictionary"`
	Describe *string     `json:"describe" check:"max=1000,text"`
	Status   *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new dictionary; 0 hides it from GET /admin/dict"`
	Public   *store.Flag `json:"public" doc:"Visibility: 1 makes it readable without signing in, with GET /api/dict; 0, the default, does not"`
}
