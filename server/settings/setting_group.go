package settings

import (
	"reeve/server/web"
	"reeve/store"
)

func GroupRoutes() []web.Route {
	return []web.Route{
		web.CachedList("/system/setting-group", "system.setting.group.query",
			"List setting groups", &settingGroups),
		web.Get("/system/setting-group/:id", "system.setting.group.query", "Get a setting group",
			&settingGroupRecords),
		web.Create[settingGroupIn]("/system/setting-group", "system.setting.group.create",
			"Create a setting group", &settingGroupRecords),
		web.Change[settingGroupIn]("/system/setting-group/:id", "system.setting.group.update",
			"Change a setting group", &settingGroupRecords),
		web.Remove("/system/setting-group/:id", "system.setting.group.delete",
			"Delete a setting group", &settingGroupRecords, web.Options{
				Note: "409 while it has settings.",
			}),
		web.RemoveSeveral("/system/setting-group", "system.setting.group.delete",
			"Delete setting groups", &settingGroupRecords),
	}
}

var settingGroupRecords = web.Resource[store.SettingGroup, *store.SettingGroup]{
	Collection: store.SettingGroups,
	Output:     web.AsItIs[store.SettingGroup],
}

var settingGroups = web.MemoryList[store.SettingGroup]{
	Rows: func(tx *store.Tx) []store.Row[store.SettingGroup] {
		return store.SettingCache.Get(tx).Groups
	},
	Keywords: []string{"key", "title", "remark"},
	Order:    "id, ascending",
	Columns: []web.MemoryColumn[store.SettingGroup]{
		{Name: "id", Number: func(g *store.SettingGroup) int64 {
			return int64(g.ID)
		}, Uses: web.Sorted},
		{Name: "key", Text: func(g *store.SettingGroup) string { return g.Key }, Uses: web.Sorted},
		{Name: "title", Text: func(g *store.SettingGroup) string {
			return g.Title
		}, Uses: web.Sorted},
		{Name: "public", Number: func(g *store.SettingGroup) int64 {
			return web.FlagNumber(g.Public)
		}, Uses: web.Filtered},
		{Name: "created_at", Number: func(g *store.SettingGroup) int64 {
			return int64(g.CreatedAt)
		}, Uses: web.Sorted | web.Ranged},
	},
}

type settingGroupIn struct {
	Key    *string     `json:"key" check:"create,max=64" doc:"Unique key matching [a-z][a-z0-9_]*"`
	Title  *string     `json:"title" check:"create,min=1,max=100"`
	Remark *string     `json:"remark" check:"max=1000,text"`
	Public *store.Flag `json:"public" doc:"Visibility: 1 makes the values readable without signing in; 0 does not"`
}
