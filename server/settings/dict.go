package settings

import (
	"reeve/server/web"
	"reeve/store"
)

func init() {
	web.Enums(map[string][]string{
		"dict_type":   {"default", "badge", "tag"},
		"item_status": {"default", "success", "error", "processing", "warning"},
	})
}

func DictRoutes() []web.Route {
	return []web.Route{
		web.Read("/admin/dict", web.SignedIn, "List enabled dictionaries, by code", openDicts,
			web.Options{
				AllowedForCommands: true,

				ETag: true,
				Note: "Returns the enabled dictionaries with their enabled items, by code.",
			}),
		web.Read("/api/dict", web.Public, "List public dictionaries, by code", publicDicts,
			web.Options{
				ETag: true,
				Note: "Returns the enabled dictionaries that are public, with their enabled items, by " +
					"code. For apps and web sites; which origins may read it is configured for all " +
					"operations, see server.cors_origins.",
			}),
		web.CachedList("/system/dict", "system.dict.query", "List dictionaries", &dicts),
		web.Get("/system/dict/:id", "system.dict.query", "Get a dictionary", &dictRecords),
		web.Create[dictIn]("/system/dict", "system.dict.create", "Create a dictionary",
			&dictRecords),
		web.Change[dictIn]("/system/dict/:id", "system.dict.update", "Change a dictionary",
			&dictRecords),
		web.Remove("/system/dict/:id", "system.dict.delete", "Delete a dictionary", &dictRecords,
			web.Options{
				Note: "409 while it has items.",
			}),
		web.RemoveSeveral("/system/dict", "system.dict.delete", "Delete dictionaries",
			&dictRecords),
	}
}

var dictRecords = web.Resource[store.Dict, *store.Dict]{
	Collection: store.Dicts,
	Blank:      store.Dict{Type: "default", Status: true},
	Output:     web.AsItIs[store.Dict],
}

var dicts = web.MemoryList[store.Dict]{
	Rows:     func(tx *store.Tx) []store.Row[store.Dict] { return store.DictCache.Get(tx).Dicts },
	Keywords: []string{"code", "name", "describe"},
	Order:    "id, ascending",
	Columns: []web.MemoryColumn[store.Dict]{
		{Name: "id", Number: func(d *store.Dict) int64 { return int64(d.ID) }, Uses: web.Sorted},
		{Name: "code", Text: func(d *store.Dict) string { return d.Code }, Uses: web.Sorted},
		{Name: "name", Text: func(d *store.Dict) string { return d.Name }, Uses: web.Sorted},
		{Name: "type", Text: func(d *store.Dict) string {
			return d.Type
		}, Uses: web.Param | web.Filtered | web.Sorted},
		{Name: "status", Number: func(d *store.Dict) int64 {
			return web.FlagNumber(d.Status)
		}, Uses: web.Param | web.Filtered},
		{Name: "public", Number: func(d *store.Dict) int64 {
			return web.FlagNumber(d.Public)
		}, Uses: web.Param | web.Filtered},
		{Name: "created_at", Number: func(d *store.Dict) int64 {
			return int64(d.CreatedAt)
		}, Uses: web.Sorted | web.Ranged},
		{Name: "updated_at", Number: func(d *store.Dict) int64 {
			return int64(d.UpdatedAt)
		}, Uses: web.Sorted | web.Ranged},
	},
}

func openDicts(tx *store.Tx, _ *web.Request,
	_ *web.None) (web.Encoded[map[string]store.OpenDict], error) {
	open, err := store.DictCache.Get(tx).Open()
	if err != nil {
		return web.Encoded[map[string]store.OpenDict]{}, err
	}
	return web.Encoded[map[string]store.OpenDict]{JSON: open.JSON, ETag: open.ETag}, nil
}

// publicDicts returns the dictionaries that are public, to apps and web sites. Caches keep the
// response, and revalidate it each time.
func publicDicts(tx *store.Tx, req *web.Request,
	_ *web.None) (web.Encoded[map[string]store.OpenDict], error) {
	open, err := store.DictCache.Get(tx).Open()
	if err != nil {
		return web.Encoded[map[string]store.OpenDict]{}, err
	}
	req.Writer.Header()["Cache-Control"] = web.PublicChecked
	return web.Encoded[map[string]store.OpenDict]{JSON: open.Public.JSON, ETag: open.Public.ETag},
		nil
}

type dictIn struct {
	Code     *string     `json:"code" check:"create,max=64,key" doc:"Unique name of the dictionary for programs"`
	Name     *string     `json:"name" check:"create,min=1,max=100"`
	Type     *string     `json:"type" check:"enum=dict_type" doc:"Way in which items are shown; default for a new dictionary"`
	Describe *string     `json:"describe" check:"max=1000,text"`
	Status   *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new dictionary; 0 hides it from GET /admin/dict"`
	Public   *store.Flag `json:"public" doc:"Visibility: 1 makes it readable without signing in, with GET /api/dict; 0, the default, does not"`
}
