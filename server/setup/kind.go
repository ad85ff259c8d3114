package setup

import (
	"strings"

	"reeve/store"
	"reeve/store/fold"
	"reeve/store/kv"
)

// object has the fields of an object as in a file: names in place of IDs, and booleans in place of
// 1 and 0.
type object map[string]any

// kind is a kind of objects in setup files.
type kind struct {
	name    string // name for people, in the singular
	table   string // table of the files
	records kv.Table

	create, update, remove string // routes, such as "POST /admin/role"

	short string              // field that a file can give alone, in place of a table; "" for none
	fold  func(string) string // keys with the same result are of the same object; nil if they must be equal
	refs  []ref
	late  string // reference to objects of the same kind, which is set when all of them exist; "" for none

	load func(*state) error                                                // adds the current objects
	body func(s *state, w *wanted, body map[string]any, create bool) error // completes the body of a request
	hide func(field string, of object) bool                                // reports whether a value is secret; nil for none
	form func(s *state, w *wanted, fields object)                          // brings checked fields into the form of current ones; nil for none
}

// ref is a field with the names of other objects.
type ref struct {
	field string // its name in files
	kind  string
	route string // route that sets it; "" for that of the other fields
}

// The order of kinds is that in which objects are created: each refers to those before it. They are
// deleted in the opposite order.
var kinds []*kind

func init() { kinds = allKinds() } // not where it is declared, since the functions in it use it

func allKinds() []*kind {
	return []*kind{
		{
			name: "permission", table: "permissions", records: store.Permissions,
			create: "POST /admin/rule", update: "PUT /admin/rule/:id", remove: "DELETE /admin/rule/:id",
			short: "name", load: loadPermissions, body: permissionBody,
		},
		{
			name: "app permission", table: "app_permissions", records: store.AppPermissions,
			create: "POST /user/rule", update: "PUT /user/rule/:id", remove: "DELETE /user/rule/:id",
			short: "name", load: loadAppPermissions, body: permissionBody,
		},
		{
			name: "department", table: "departments", records: store.Depts,
			create: "POST /admin/dept", update: "PUT /admin/dept/:id", remove: "DELETE /admin/dept/:id",
			fold: fold.Key, load: loadDepts, body: deptBody, form: deptForm,
		},
		{
			name: "setting group", table: "setting_groups", records: store.SettingGroups,
			create: "POST /system/setting-group", update: "PUT /system/setting-group/:id",
			remove: "DELETE /system/setting-group/:id",
			short:  "title", load: loadGroups, body: keyBody("key"),
		},
		{
			name: "role", table: "roles", records: store.Roles,
			create: "POST /admin/role", update: "PUT /admin/role/:id", remove: "DELETE /admin/role/:id",
			fold: folded, load: loadRoles, body: keyBody("name"), late: "grant_roles",
			refs: []ref{
				{field: "permissions", kind: "permission", route: "PUT /admin/role/:id/rule"},
				{field: "departments", kind: "department"},
				{field: "grant_roles", kind: "role"},
			},
		},
		{
			name: "app role", table: "app_roles", records: store.AppRoles,
			create: "POST /user/role", update: "PUT /user/role/:id", remove: "DELETE /user/role/:id",
			fold: folded, load: loadAppRoles, body: keyBody("name"),
			refs: []ref{
				{field: "permissions", kind: "app permission", route: "PUT /user/role/:id/rule"},
			},
		},
		{
			name: "setting", table: "settings", records: store.Settings,
			create: "POST /system/setting", update: "PUT /system/setting/:id",
			remove: "DELETE /system/setting/:id",
			short:  "value", load: loadSettings, body: settingBody, hide: hidesSetting,
		},
		{
			name: "dictionary", table: "dictionaries", records: store.Dicts,
			create: "POST /system/dict", update: "PUT /system/dict/:id", remove: "DELETE /system/dict/:id",
			short: "name", load: loadDicts, body: keyBody("code"),
		},
		{
			name: itemKind, records: store.DictItems,
			create: "POST /system/dict/:id/item", update: "PUT /system/dict/:id/item/:item_id",
			remove: "DELETE /system/dict/:id/item/:item_id",
			load:   loadItems, body: itemBody,
		},
		{
			name: "custom field", table: "fields", records: store.CustomFields,
			create: "POST /system/field", update: "PUT /system/field/:id", remove: "DELETE /system/field/:id",
			load: loadFields, body: fieldBody,
		},
		{
			name: providerKind, table: "providers", records: store.Providers,
			create: "POST /system/provider", update: "PUT /system/provider/:id",
			remove: "DELETE /system/provider/:id",
			load:   loadProviders, body: providerBody, hide: hidesProvider, form: providerForm,
		},
		{
			name: "webhook", table: "webhooks", records: store.Webhooks,
			create: "POST /system/webhook", update: "PUT /system/webhook/:id",
			remove: "DELETE /system/webhook/:id",
			load:   loadWebhooks, body: keyBody("description"), hide: hidesWebhook,
		},
		{
			name: "API key", table: "keys", records: store.APIKeys,
			create: "POST /admin/key", update: "PUT /admin/key/:id", remove: "DELETE /admin/key/:id",
			load: loadKeys, body: keyBody("name"), hide: hidesKey,
			refs: []ref{
				{field: "roles", kind: "role"},
				{field: "departments", kind: "department"},
			},
		},
	}
}

// folded returns a name in the form in which names are compared.
func folded(name string) string { return fold.Name(name).Key }

// itemKind is the kind of the items of dictionaries, which are in the field items of these.
const itemKind = "dictionary item"

func kindOf(name string) *kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	panic("setup: there is no kind " + name)
}

// refersTo returns the kinds of the objects that a field refers to.
func (k *kind) refersTo(field string) (kindNames []string) {
	switch ref := k.ref(field); {
	case ref != nil:
		return []string{ref.kind}
	case field == "parent":
		return []string{k.name}
	case field == "mappings":
		for _, of := range mappingNames {
			kindNames = append(kindNames, of.kind)
		}
	}
	return kindNames
}

// tables returns the names of the tables of a file.
func tables() []string {
	names := []string{flagTable}
	for _, k := range kinds {
		if k.table != "" {
			names = append(names, k.table)
		}
	}
	return names
}

// ref returns the reference in a field; nil for none.
func (k *kind) ref(field string) *ref {
	for i := range k.refs {
		if k.refs[i].field == field {
			return &k.refs[i]
		}
	}
	return nil
}

// folded returns the form of a key that is the same for all keys of an object.
func (k *kind) folded(key string) string {
	if k.fold == nil {
		return key
	}
	return k.fold(key)
}

// parentKey returns the key of the parent of a permission: shop.order of shop.order.refund; "" for
// none. The keys of all app permissions begin with app, which is none itself.
func parentKey(kindName, key string) string {
	if kindName == "app permission" && "app."+lastOf(key) == key {
		return ""
	}
	if at := strings.LastIndexByte(key, '.'); at >= 0 {
		return key[:at]
	}
	return ""
}
