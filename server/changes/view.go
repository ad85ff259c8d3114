package changes

import (
	"slices"
	"strconv"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/kv"
)

// View decides what of the change log a caller may read: with the data scope all, every entry;
// with a narrower one, entries of users in it and about records in it. Changes of records that the
// caller may not read are left out.
type View struct {
	tx    *store.Tx
	who   *store.Actor
	Scope *store.Scope
	log   *store.LogReader
	names map[string]string // labels of referenced records that were looked up
}

func NewView(tx *store.Tx, who *store.Actor) *View {
	return &View{
		tx:    tx,
		who:   who,
		Scope: who.Scope(tx),
		log:   store.NewLogReader(tx),
		names: map[string]string{},
	}
}

// seesActor reports whether the caller may know who did something.
func (v *View) seesActor(a *audit.Actor) bool {
	switch a.Kind {
	case "user":
		return v.seesUser(store.ID(a.ID))
	case "app_user":
		return v.who.HasPermission(v.tx, "user.list.query")
	case "key":
		k, err := store.APIKeys.Get(v.tx, store.ID(a.ID))
		return v.Scope.All || err == nil && v.seesUser(k.UserID)
	}
	return v.Scope.All
}

// seesUser reports whether a user is in the data scope. A deleted one is in the scope all only.
func (v *View) seesUser(id store.ID) bool {
	if v.Scope.All || id == v.Scope.Self {
		return true
	}
	u, err := store.Users.Get(v.tx, id)
	return err == nil && v.Scope.HasUser(u)
}

// seesChange reports whether the caller may read a change.
func (v *View) seesChange(c *audit.Change) bool {
	if c.Collection == store.Links.Name() {
		return v.seesLink(c)
	}
	subject := store.AccessOf(c.Collection)
	if subject.Table == nil || !v.who.HasPermission(v.tx, subject.Query) && !v.isOwn(c) {
		return false
	}
	return v.Scope.All || v.inScope(c)
}

// seesLink reports whether the caller may read a change of a one-time link, which is for a user in
// the data scope or for an app user.
func (v *View) seesLink(c *audit.Change) bool {
	who, known := v.personOf(c)
	if !known {
		return false
	}
	if who.App {
		return v.who.HasPermission(v.tx, "user.invite.query")
	}
	return v.who.HasPermission(v.tx, "admin.invite.query") && (v.Scope.All || v.seesUser(who.ID))
}

// personOf returns whom a link is for, even if it was deleted.
func (v *View) personOf(c *audit.Change) (who store.Account, known bool) {
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
func (v *View) isOwn(c *audit.Change) bool {
	return c.Collection == store.Users.Name() && store.ID(c.ID) == v.who.ID &&
		(v.who.Key == nil || v.who.Key.Personal)
}

// inScope reports whether a changed record is in the caller's data scope.
func (v *View) inScope(c *audit.Change) bool {
	switch c.Collection {
	case store.Users.Name():
		return v.seesUser(store.ID(c.ID)) || v.wasIn(c, "dept_id")
	case store.Depts.Name():
		return v.Scope.HasDept(store.ID(c.ID)) || v.wasIn(c, "parent_id")
	case store.Files.Name():
		f, err := store.Files.Get(v.tx, store.ID(c.ID))
		if err == nil {
			return f.InScope(v.tx)
		}
	case store.FileVersions.Name():
		id, _ := changedID(c, "file_id")
		f, err := store.Files.Get(v.tx, id)
		return err == nil && f.InScope(v.tx)
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
	case store.Views.Name():
		w, err := store.Views.Get(v.tx, store.ID(c.ID))
		if err == nil {
			return bool(w.Shared) || w.UserID == v.who.ID
		}
	case store.PasswordHashes.Name(), store.TOTPs.Name(), store.RecoverySets.Name(), store.Passkeys.Name(), store.Sessions.Name(), store.Devices.Name(), store.Avatars.Name(), store.Jobs.Name():
	default:
		return v.inDept(c)
	}
	owner, known := ownerOf(c)
	return known && v.seesUser(owner)
}

// wasIn reports whether a record that was deleted was in a department of the data scope, which a
// field names.
func (v *View) wasIn(c *audit.Change, field string) bool {
	i := slices.IndexFunc(c.Fields, func(f audit.Field) bool { return f.Name == field })
	if c.Operation != "delete" || i < 0 ||
		store.AccessOf(c.Collection).Table.Exists(v.tx, store.ID(c.ID)) {
		return false
	}
	id, err := strconv.ParseUint(string(c.Fields[i].Old.Plain), 10, 64)
	return err == nil && v.Scope.HasDept(store.ID(id))
}

// inDept reports whether a record without a department, or one of a department in the data scope,
// has changed: see store.InDept.
func (v *View) inDept(c *audit.Change) bool {
	fields, err := store.AccessOf(c.Collection).Table.FieldsOf(v.tx, store.ID(c.ID))
	if err != nil {
		fields = kv.Fields{}
		for _, f := range c.Fields {
			fields[f.Name] = f.Old.Plain
		}
	}
	text, limited := fields["dept_id"]
	if !limited {
		return true
	}
	id, err := strconv.ParseUint(string(text), 10, 64)
	return err == nil && v.Scope.HasDept(store.ID(id))
}

// ownerOf returns the user whom a record belongs to, if the change tells it.
func ownerOf(c *audit.Change) (id store.ID, known bool) {
	return changedID(c, "user_id", "uploader_id", "owner_id")
}

// changedID returns the ID in the first of some fields that the change has.
func changedID(c *audit.Change, names ...string) (id store.ID, known bool) {
	for _, f := range c.Fields {
		if !slices.Contains(names, f.Name) {
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

// isAbout reports whether an entry is about a record in the data scope, even if its actor is not.
func (v *View) isAbout(c *audit.Change) bool {
	switch c.Collection {
	case store.Users.Name(), store.Depts.Name(), store.Files.Name(), store.Sessions.Name(), store.PasswordHashes.Name(), store.TOTPs.Name(), store.RecoverySets.Name(), store.Passkeys.Name(), store.Avatars.Name(), store.Links.Name():
		return v.seesChange(c)
	}
	return false
}
