package names

import (
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

var (
	roles = named(store.Roles, store.RoleByName, "Name of the role", "Names of the roles",
		func(r *store.Role) string { return r.Name },
		func(tx *store.Tx, r *store.Role) bool {
			return reads(tx, "admin.role.query") || store.MayGiveRole(tx, r.ID)
		})
	permissions = named(store.Permissions, store.PermissionByKey, "Key of the permission",
		"Keys of the permissions",
		func(p *store.Permission) string { return p.Key },
		func(tx *store.Tx, p *store.Permission) bool {
			return reads(tx, "admin.rule.query") || store.MayGivePermission(tx, p.ID)
		})
	appRoles = named(store.AppRoles, store.AppRoleByName, "Name of the app role",
		"Names of the app roles", func(r *store.AppRole) string { return r.Name }, anyone)
	appPermissions = named(store.AppPermissions, store.AppPermissionByKey,
		"Key of the app permission", "Keys of the app permissions",
		func(p *store.AppPermission) string { return p.Key }, anyone)
	providers = named(store.Providers, store.ProviderByName, "Name of the sign-in provider",
		"Names of the sign-in providers", func(p *store.Provider) string { return p.Name }, anyone)
	settingGroups = named(store.SettingGroups, store.SettingGroupByKey, "Key of the setting group",
		"Keys of the setting groups", func(g *store.SettingGroup) string { return g.Key }, anyone)
	fileGroups = named(store.FileGroups, store.FileGroupByName, "Name of the folder",
		"Names of the folders", func(g *store.FileGroup) string { return g.Name }, anyone)
)

// reads reports whether the actor has the permission to read the records of a kind.
func reads(tx *store.Tx, permission string) bool {
	return store.ActorOf(tx).HasPermission(tx, permission)
}

// anyone is for records that every caller finds, such as those that the choices of forms offer.
func anyone[T any](*store.Tx, *T) bool { return true }

// named returns the kind of a collection whose names are unique. may reports whether the actor may
// refer to a record.
func named[T any](records *kv.Collection[T], by *kv.Unique[T], doc, docs string,
	nameOf func(*T) string, may func(*store.Tx, *T) bool) *Kind {
	k := &Kind{
		Doc:   doc,
		Docs:  docs,
		noun:  records.Noun(),
		find:  unique(records, by, may),
		match: unique(records, by, anyone),
	}
	k.near = func(tx *store.Tx, name string) ([]string, error) {
		near, similar := nearestTo(name), map[string]*T{}
		for v, err := range records.All(tx) {
			if store.IsDamage(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			similar[nameOf(v)] = v
			near.add(nameOf(v))
		}
		return near.names(func(name string) bool { return may(tx, similar[name]) }), nil
	}
	return k
}

// unique returns a find of Kind by a unique index.
func unique[T any](records *kv.Collection[T], by *kv.Unique[T],
	may func(*store.Tx, *T) bool) func(*store.Tx, string) ([]store.ID, error) {
	return func(tx *store.Tx, name string) ([]store.ID, error) {
		v, err := by.Get(tx, name)
		if errs.Is(err, errs.NotFound) || err == nil && !may(tx, v) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []store.ID{records.ID(v)}, nil
	}
}
