package changes

import (
	"encoding/json"
	"strconv"

	"reeve/store"
	"reeve/store/kv"
)

// logRefs are the collections that fields with IDs refer to. The field parent_id refers to its own
// collection.
var logRefs = map[string]kv.Table{
	"dept_id": store.Depts, "dept_ids": store.Depts, "role_ids": store.Roles,
	"grant_role_ids": store.Roles,
	"rule_ids":       store.Permissions, "dict_id": store.Dicts, "user_id": store.Users,
	"uploader_id": store.Users, "owner_id": store.Users,
	"app_user_id": store.AppUsers, "setting_id": store.Settings,
}

// appRefs are the references of app users and their roles that differ from those of users, by
// collection.
var appRefs = map[string]map[string]kv.Table{
	store.AppUsers.Name(): {"role_ids": store.AppRoles},
	store.AppRoles.Name(): {"rule_ids": store.AppPermissions},
}

// labelFields are the fields that name a record, the first that it has.
var labelFields = []string{"username", "title", "name", "label", "key"}

// RefersTo returns the collection that a field refers to; nil for none.
func RefersTo(collection, field string) kv.Table {
	switch {
	case field == "parent_id":
		return store.AccessOf(collection).Table
	case field == "group_id" && collection == store.Settings.Name():
		return store.SettingGroups
	case field == "group_id" && collection == store.Files.Name():
		return store.FileGroups
	}
	if table := appRefs[collection][field]; table != nil {
		return table
	}
	return logRefs[field]
}

// labels returns the names of the records whose IDs a field has, except of those in an array that
// have not changed.
func (v *View) labels(collection string, f *logField) map[string]string {
	table := RefersTo(collection, f.Name)
	if table == nil {
		return nil
	}

	found := map[string]string{}
	for _, value := range append([]json.RawMessage{f.Old, f.New}, append(f.Added, f.Removed...)...) {
		id, err := strconv.ParseUint(string(value), 10, 64)
		if err != nil || id == 0 {
			continue
		}
		if name := v.label(table, store.ID(id)); name != "" {
			found[string(value)] = name
		}
	}

	return found
}

// label returns the current name of a record; "" if there is none, or the caller may not read it.
func (v *View) label(table kv.Table, id store.ID) string {
	key := table.Name() + " " + id.String()
	name, known := v.names[key]
	if !known {
		name = v.findLabel(table, id)
		v.names[key] = name
	}
	return name
}

func (v *View) findLabel(table kv.Table, id store.ID) string {
	switch {
	case !v.who.HasPermission(v.tx, store.AccessOf(table.Name()).Query):
		return ""
	case table == kv.Table(store.Users) &&
		!v.seesUser(id), table == kv.Table(store.Depts) && !v.Scope.HasDept(id):
		return ""
	}

	fields, err := table.FieldsOf(v.tx, id)
	if err != nil {
		return "" // it has been deleted
	}

	for _, name := range labelFields {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return text
		}
	}

	return ""
}
