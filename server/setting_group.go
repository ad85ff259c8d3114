package server

import "reeve/store"

var settingGroupRoutes = []Route{
	list("/system/setting-group", "system.setting.group.query", "List setting groups", &settingGroups),
	read("/system/setting-group/:id", "system.setting.group.query", "Get a setting group", getSettingGroup),
	write("POST", "/system/setting-group", "system.setting.group.create", "Create a setting group", createSettingGroup),
	write("PUT", "/system/setting-group/:id", "system.setting.group.update", "Change a setting group", changeSettingGroup),
	write("DELETE", "/system/setting-group/:id", "system.setting.group.delete", "Delete a setting group", deleteSettingGroup),
	deleteSeveral("/system/setting-group", "system.setting.group.delete", "Delete setting groups", deleteSettingGroup),
}

var settingGroups = List[store.SettingGroup]{
	rows:     func(tx *store.Tx) []store.Row[store.SettingGroup] { return store.SettingSet.Get(tx).Groups },
	keywords: []string{"key", "title", "remark"},
	order:    "id, ascending",
	columns: []column[store.SettingGroup]{
		{name: "id", number: func(g *store.SettingGroup) int64 { return int64(g.ID) }, uses: sorted},
		{name: "key", text: func(g *store.SettingGroup) string { return g.Key }, uses: sorted},
		{name: "title", text: func(g *store.SettingGroup) string { return g.Title }, uses: sorted},
		{name: "public", number: func(g *store.SettingGroup) int64 { return flagNumber(g.Public) }, uses: filtered},
		{name: "created_at", number: func(g *store.SettingGroup) int64 { return int64(g.CreatedAt) }, uses: sorted | ranged},
	},
}

func getSettingGroup(tx *store.Tx, _ *Request, in *byID) (*store.SettingGroup, error) {
	return store.SettingGroups.Get(tx, in.ID)
}

type settingGroupIn struct {
	Key    *string     `json:"key" check:"create,max=64" doc:"[a-z][a-z0-9_]*, unique"`
	Title  *string     `json:"title" check:"create,min=1,max=100"`
	Remark *string     `json:"remark" check:"max=1000,text"`
	Public *store.Flag `json:"public" doc:"1 shows its values to everybody, signed in or not"`
}

func (in *settingGroupIn) apply(g *store.SettingGroup) {
	set(&g.Key, in.Key)
	set(&g.Title, in.Title)
	set(&g.Remark, in.Remark)
	set(&g.Public, in.Public)
}

func createSettingGroup(tx *store.Tx, _ *Request, in *settingGroupIn) (*store.SettingGroup, error) {
	g := &store.SettingGroup{}
	in.apply(g)
	return g, store.SettingGroups.Create(tx, g)
}

type settingGroupChange struct {
	byID
	settingGroupIn
}

func changeSettingGroup(tx *store.Tx, req *Request, in *settingGroupChange) (*store.SettingGroup, error) {
	return store.SettingGroups.Update(tx, in.ID, func(g *store.SettingGroup) error {
		in.apply(g)
		return req.fresh(g)
	})
}

func deleteSettingGroup(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	return nothing{}, store.SettingGroups.Delete(tx, in.ID)
}
