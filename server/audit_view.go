package server

import (
	"slices"
	"strconv"

	"reeve/store"
	"reeve/store/audit"
)

// logSubject says who may read, and undo, what the change log has about a collection.
type logSubject struct {
	table  store.Table
	query  string // permission to read the records
	create string // permissions to create, change and delete them; "" if nobody can through the API
	update string
	remove string
	// fields are the permissions to change single fields that are not changed with update.
	fields map[string]string
}

// logSubjects has every collection that the change log knows.
var logSubjects = bySubject(
	logSubject{table: store.Permissions, query: "admin.rule.query", create: "admin.rule.create", update: "admin.rule.update", remove: "admin.rule.delete"},
	logSubject{table: store.Roles, query: "admin.role.query", create: "admin.role.create", update: "admin.role.update", remove: "admin.role.delete",
		fields: map[string]string{"rule_ids": "admin.role.rule"}},
	logSubject{table: store.Depts, query: "admin.dept.query", create: "admin.dept.create", update: "admin.dept.update", remove: "admin.dept.delete"},
	logSubject{table: store.Users, query: "admin.list.query", create: "admin.list.create", update: "admin.list.update", remove: "admin.list.delete",
		fields: map[string]string{"status": "admin.list.status"}},
	logSubject{table: store.AppUsers, query: "user.list.query", create: "user.list.create", update: "user.list.update", remove: "user.list.delete",
		fields: map[string]string{"status": "user.list.status"}},
	logSubject{table: store.AppRoles, query: "user.role.query", create: "user.role.create", update: "user.role.update", remove: "user.role.delete",
		fields: map[string]string{"rule_ids": "user.role.rule"}},
	logSubject{table: store.AppPermissions, query: "user.rule.query", create: "user.rule.create", update: "user.rule.update", remove: "user.rule.delete"},
	logSubject{table: store.SettingGroups, query: "system.setting.group.query", create: "system.setting.group.create", update: "system.setting.group.update", remove: "system.setting.group.delete"},
	logSubject{table: store.Settings, query: "system.setting.query", create: "system.setting.create", update: "system.setting.update", remove: "system.setting.delete",
		fields: map[string]string{"values": "system.setting.save"}},
	logSubject{table: store.Dicts, query: "system.dict.query", create: "system.dict.create", update: "system.dict.update", remove: "system.dict.delete"},
	logSubject{table: store.DictItems, query: "system.dict.item.query", create: "system.dict.item.create", update: "system.dict.item.update", remove: "system.dict.item.delete"},
	logSubject{table: store.FileGroups, query: "file.group.query", create: "file.group.create", update: "file.group.update", remove: "file.group.delete"},
	logSubject{table: store.Files, query: "file.list.query", update: "file.list.update", remove: "file.list.delete",
		fields: map[string]string{"trashed_at": "file.trash.restore"}},
	logSubject{table: store.SettingSecrets, query: "system.setting.query"},
	logSubject{table: store.PasswordHashes, query: "admin.list.query"},
	logSubject{table: store.TOTPs, query: "admin.list.query"},
	logSubject{table: store.Passkeys, query: "admin.list.query"},
	logSubject{table: store.RecoverySets, query: "admin.list.query"},
	logSubject{table: store.Sessions, query: "system.session.query"},
	logSubject{table: store.Devices, query: "admin.list.query"},
	logSubject{table: store.Avatars, query: "admin.list.query"},
	logSubject{table: store.Jobs, query: "admin.list.query"},
	logSubject{table: store.Webhooks, query: "system.webhook.query", create: "system.webhook.create", update: "system.webhook.update", remove: "system.webhook.delete"},
	logSubject{table: store.APIKeys, query: "admin.key.query", create: "admin.key.create", update: "admin.key.update", remove: "admin.key.delete"},
	logSubject{table: store.Links, query: "admin.invite.query", create: "admin.invite.create", remove: "admin.invite.delete"},
	logSubject{table: store.CustomFields, query: "system.field.query", create: "system.field.create", update: "system.field.update", remove: "system.field.delete"},
	logSubject{table: store.Installs, query: "system.info"},
)

func bySubject(all ...logSubject) map[string]logSubject {
	subjects := map[string]logSubject{}
	for _, s := range all {
		subjects[s.table.Name()] = s
	}
	return subjects
}

// logView decides what of the change log a caller may read: with the data scope all, every entry;
// with a narrower one, entries of users in it and about records in it. Changes of records that the
// caller may not read are left out.
type logView struct {
	tx    *store.Tx
	who   *store.Actor
	scope *store.Scope
	log   *store.LogReader
	names map[string]string // labels of referenced records that were looked up
}

func newLogView(tx *store.Tx, who *store.Actor) *logView {
	return &logView{tx: tx, who: who, scope: who.Scope(tx), log: store.NewLogReader(tx), names: map[string]string{}}
}

// seesActor reports whether the caller may know who did something.
func (v *logView) seesActor(a *audit.Actor) bool {
	switch a.Kind {
	case "user":
		return v.seesUser(store.ID(a.ID))
	case "app_user":
		return v.who.HasPermission(v.tx, "user.list.query")
	case "key":
		k, err := store.APIKeys.Get(v.tx, store.ID(a.ID))
		return v.scope.All || err == nil && v.seesUser(k.UserID)
	}
	return v.scope.All
}

// seesUser reports whether a user is in the data scope. A deleted one is in the scope all only.
func (v *logView) seesUser(id store.ID) bool {
	if v.scope.All || id == v.scope.Self {
		return true
	}
	u, err := store.Users.Get(v.tx, id)
	return err == nil && v.scope.HasUser(u)
}

// seesChange reports whether the caller may read a change.
func (v *logView) seesChange(c *audit.Change) bool {
	if c.Collection == store.Links.Name() {
		return v.seesLink(c)
	}
	subject, known := logSubjects[c.Collection]
	if !known || !v.who.HasPermission(v.tx, subject.query) && !v.isOwn(c) {
		return false
	}
	return v.scope.All || v.inScope(c)
}

// seesLink reports whether the caller may read a change of a one-time link, which is for a user in the data
// scope or for an app user.
func (v *logView) seesLink(c *audit.Change) bool {
	who, known := v.personOf(c)
	if !known {
		return false
	}
	if who.App {
		return v.who.HasPermission(v.tx, "user.invite.query")
	}
	return v.who.HasPermission(v.tx, "admin.invite.query") && (v.scope.All || v.seesUser(who.ID))
}

// personOf returns whom a link is for, also if it was deleted.
func (v *logView) personOf(c *audit.Change) (who store.Account, known bool) {
	if l, err := store.Links.Get(v.tx, store.ID(c.ID)); err == nil {
		return l.Account(), true
	}
	for _, f := range c.Fields {
		if f.Name != "user_id" && f.Name != "app_user_id" {
			continue
		}
		text := f.Old.Plain
		if text == nil {
			text = f.New.Plain
		}
		if n, err := strconv.ParseUint(string(text), 10, 64); err == nil && n != 0 {
			return store.Account{App: f.Name == "app_user_id", ID: store.ID(n)}, true
		}
	}
	return who, false
}

// isOwn reports whether a change is of the caller's own record, which everybody may read.
func (v *logView) isOwn(c *audit.Change) bool {
	return c.Collection == store.Users.Name() && store.ID(c.ID) == v.who.ID && (v.who.Key == nil || v.who.Key.Personal)
}

// inScope reports whether a changed record is in the caller's data scope.
func (v *logView) inScope(c *audit.Change) bool {
	switch c.Collection {
	case store.Users.Name():
		return v.seesUser(store.ID(c.ID)) || v.wasIn(c, "dept_id")
	case store.Depts.Name():
		return v.scope.HasDept(store.ID(c.ID)) || v.wasIn(c, "parent_id")
	case store.Files.Name():
		f, err := store.Files.Get(v.tx, store.ID(c.ID))
		if err == nil {
			return f.InScope(v.tx)
		}
	case store.Webhooks.Name():
		w, err := store.Webhooks.Get(v.tx, store.ID(c.ID))
		if err == nil {
			return v.seesUser(w.OwnerID)
		}
	case store.APIKeys.Name():
		k, err := store.APIKeys.Get(v.tx, store.ID(c.ID))
		if err == nil {
			return v.seesUser(k.UserID)
		}
	case store.PasswordHashes.Name(), store.TOTPs.Name(), store.RecoverySets.Name(), store.Passkeys.Name(), store.Sessions.Name(), store.Devices.Name(), store.Avatars.Name(), store.Jobs.Name():
	default:
		return v.inDept(c)
	}
	owner, known := ownerOf(c)
	return known && v.seesUser(owner)
}

// wasIn reports whether a record that was deleted was in a department of the data scope, which a field
// names.
func (v *logView) wasIn(c *audit.Change, field string) bool {
	i := slices.IndexFunc(c.Fields, func(f audit.Field) bool { return f.Name == field })
	if c.Operation != "delete" || i < 0 || logSubjects[c.Collection].table.Exists(v.tx, store.ID(c.ID)) {
		return false
	}
	id, err := strconv.ParseUint(string(c.Fields[i].Old.Plain), 10, 64)
	return err == nil && v.scope.HasDept(store.ID(id))
}

// inDept reports whether a record without a department, or one of a department in the data scope,
// has changed: see store.InDept.
func (v *logView) inDept(c *audit.Change) bool {
	fields, err := logSubjects[c.Collection].table.FieldsOf(v.tx, store.ID(c.ID))
	if err != nil {
		fields = store.Fields{}
		for _, f := range c.Fields {
			fields[f.Name] = f.Old.Plain
		}
	}
	text, limited := fields["dept_id"]
	if !limited {
		return true
	}
	id, err := strconv.ParseUint(string(text), 10, 64)
	return err == nil && v.scope.HasDept(store.ID(id))
}

// ownerOf returns the user whom a record belongs to, if the change tells it.
func ownerOf(c *audit.Change) (id store.ID, known bool) {
	for _, f := range c.Fields {
		if f.Name != "user_id" && f.Name != "uploader_id" && f.Name != "owner_id" {
			continue
		}
		text := f.New.Plain
		if text == nil {
			text = f.Old.Plain
		}
		n, err := strconv.ParseUint(string(text), 10, 64)
		return store.ID(n), err == nil && n != 0
	}
	return 0, false
}

// isAbout reports whether an entry is about something in the data scope, although somebody else did
// it.
func (v *logView) isAbout(c *audit.Change) bool {
	switch c.Collection {
	case store.Users.Name(), store.Depts.Name(), store.Files.Name(), store.Sessions.Name(), store.PasswordHashes.Name(), store.TOTPs.Name(), store.RecoverySets.Name(), store.Passkeys.Name(), store.Avatars.Name(), store.Links.Name():
		return v.seesChange(c)
	}
	return false
}
