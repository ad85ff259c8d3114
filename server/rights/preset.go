package rights

import (
	"reeve/server/web"
	"reeve/store"
)

// Preset is a usual role: a start for a new one.
type Preset struct {
	Key         string   `json:"key" doc:"Key of the preset, by which consoles name it"`
	DataScope   string   `json:"data_scope" enum:"data_scope" doc:"Data scope that is usual for it"`
	Permissions []string `json:"permissions" doc:"Keys of its permissions, those of menus and pages included"`
}

// Presets are the presets, in the order in which they are offered.
var Presets = []Preset{
	{"helpdesk", store.ScopeAll, []string{
		"admin", "admin.list", "admin.list.query", "admin.list.create", "admin.list.update", "admin.list.password",
		"admin.list.status", "admin.list.unlock", "admin.list.factor",
		"admin.invite", "admin.invite.query", "admin.invite.create", "admin.invite.delete",
		"system", "system.session", "system.session.query", "system.session.delete",
		"system.loginlog", "system.loginlog.query",
	}},
	{"settings_editor", store.ScopeSelf, []string{
		"system", "system.setting", "system.setting.query", "system.setting.save",
	}},
	{"auditor", store.ScopeAll, []string{
		"admin", "admin.list", "admin.list.query", "admin.role", "admin.role.query", "admin.rule", "admin.rule.query",
		"admin.dept", "admin.dept.query", "admin.key", "admin.key.query",
		"system", "system.audit", "system.audit.query", "system.audit.export",
		"system.loginlog", "system.loginlog.query", "system.session", "system.session.query",
	}},
	{"file_keeper", store.ScopeAll, []string{
		"file", "file.list", "file.list.query", "file.list.create", "file.list.update", "file.list.delete",
		"file.list.download", "file.group", "file.group.query", "file.group.create", "file.group.update",
		"file.group.delete", "file.trash", "file.trash.query", "file.trash.restore",
	}},
	{"reader", store.ScopeAll, []string{
		"admin", "admin.list", "admin.list.query", "admin.role", "admin.role.query", "admin.rule", "admin.rule.query",
		"admin.dept", "admin.dept.query", "user.list", "user.list.query", "user.role", "user.role.query",
		"user.rule", "user.rule.query",
		"file", "file.list", "file.list.query", "file.list.download", "file.group", "file.group.query",
		"system", "system.setting", "system.setting.query", "system.setting.group.query",
		"system.dict", "system.dict.query", "system.dict.item.query", "system.field", "system.field.query",
	}},
}

type presets struct {
	Data []Preset `json:"data" doc:"Presets, in the order in which they are offered"`
}

func listPresets(*store.Tx, *web.Request, *web.None) (*presets, error) {
	return &presets{Presets}, nil
}
