package server

import "reeve/store"

var settingGroupRoutes = []Route{
	memoryList("/system/setting-group", "system.setting.group.query", "List setting groups", &settingGroups),
	get("/system/setting-group/:id", "system.setting.group.query", "Get a setting group", &settingGroupRecords),
	create[settingGroupIn]("/system/setting-group", "system.setting.group.create", "Create a setting group", &settingGroupRecords),
	change[settingGroupIn]("/system/setting-group/:id", "system.setting.group.update", "Change a setting group", &settingGroupRecords),
	remove("/system/setting-group/:id", "system.setting.group.delete", "Delete a setting group", &settingGroupRecords),
	removeSeveral("/system/setting-group", "system.setting.group.delete", "Delete setting groups", &settingGroupRecords),
}

var settingGroupRecords = Resource[store.SettingGroup, *store.SettingGroup]{of: store.SettingGroups, out: asItIs[store.SettingGroup]}

var settingGroups = MemoryList[store.SettingGroup]{
	rows:     func(tx *store.Tx) []store.Row[store.SettingGroup] { return store.SettingCache.Get(tx).Groups },
	keywords: []string{"key", "title", "remark"},
	order:    "id, ascending",
	columns: []memoryColumn[store.SettingGroup]{
		{name: "id", number: func(g *store.SettingGroup) int64 { return int64(g.ID) }, uses: sorted},
		{name: "key", text: func(g *store.SettingGroup) string { return g.Key }, uses: sorted},
		{name: "title", text: func(g *store.SettingGroup) string { return g.Title }, uses: sorted},
		{name: "public", number: func(g *store.SettingGroup) int64 { return flagNumber(g.Public) }, uses: filtered},
		{name: "created_at", number: func(g *store.SettingGroup) int64 { return int64(g.CreatedAt) }, uses: sorted | ranged},
	},
}

type settingGroupIn struct {
	Key    *string     `json:"key" check:"create,max=64" doc:"Unique key matching [a-z][a-z0-9_]*"`
	Title  *string     `json:"title" check:"create,min=1,max=100"`
	Remark *string     `json:"remark" check:"max=1000,text"`
	Public *store.Flag `json:"public" doc:"Visibility: 1 makes the values readable without signing in; 0 does not"`
}
