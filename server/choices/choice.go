// Package choices lists the records that a user can choose in forms, for those who may save
// the form, but not read the list.
package choices

import (
	"cmp"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"picker": pickerNames(),
	})
}

// Choices are the records that a form or a filter offers where the caller chooses one of another
// collection. An operation may need such a list although its permission does not include reading
// those records: the choices have only their names.
func Routes(c *Choices) []web.Route {
	return []web.Route{
		web.Read("/admin/choice", web.SignedIn, "List choices", c.listChoices, web.Options{
			AllowedForCommands: true,

			Note: "The records that a form or a filter offers for a field with the ID of another " +
				"record, with their names only: roles and permissions that you can grant (`flag_role`, " +
				"`filter_role`: all roles; `grant_role`: those whose permissions you have), departments " +
				"and users in your data scope, app users where you can list them. Of users, the first " +
				"50 that match. Requires a permission for an operation that has such a field, or to " +
				"read the records themselves.",
		}),
	}
}

// Picker is a kind of records that inputs and lists refer to.
type Picker struct {
	Name  string   // value of the parameter of
	query string   // permission to read the records themselves
	Under []string // beginnings of the paths of the operations
	Field []string // names of the fields and columns that have their IDs
	list  func(tx *store.Tx, req *web.Request, in *choiceIn) ([]*choice, error)
}

var (
	admin   = []string{"/admin/"}
	product = []string{"/user/"}
	setting = []string{"/system/setting"}
	anyone  = []string{"/admin/", "/system/"}
)

var Pickers = []Picker{
	{"role", "admin.role.query", admin, []string{"role_ids"}, named(roleChoices)},
	{"grant_role", "admin.role.query", admin, []string{"grant_role_ids"}, named(grantRoleChoices)},
	{"filter_role", "admin.role.query", admin, []string{"role_id"}, named(everyRole)},
	{"dept", "admin.dept.query", []string{"/"}, []string{"dept_id", "dept_ids"}, named(deptChoices)},
	{"permission", "admin.rule.query", admin, []string{"rule_ids"}, named(permissionChoices)},
	{"user", "admin.list.query", anyone, []string{"user_id", "owner_id", "actor", "values"},
		userChoices},
	{"app_user", "user.list.query", product, []string{"user_id"}, appUserChoices},
	{"app_user", "user.list.query", anyone, []string{"app_user_id", "actor", "values"},
		appUserChoices},
	{"app_role", "user.role.query", product, []string{"role_id", "role_ids"},
		named(appRoleChoices)},
	{"app_permission", "user.rule.query", product, []string{"rule_ids"},
		named(appPermissionChoices)},
	{"file_group", "file.group.query", []string{"/file/"}, []string{"group_id"},
		named(fileGroupChoices)},
	{"setting_group", "system.setting.group.query", setting, []string{"group_id", "values"},
		named(settingGroupChoices)},
	{"flag_role", "admin.role.query", setting, []string{"values"}, named(everyRole)},
	{"flag_dept", "admin.dept.query", setting, []string{"values"}, named(deptChoices)},
	{"flag_app_role", "user.role.query", setting, []string{"values"}, named(everyAppRole)},
}

// pickerNames are the values of the parameter of.
func pickerNames() []string {
	names := make([]string, len(Pickers))
	for i, p := range Pickers {
		names[i] = p.Name
	}
	return slices.Compact(names)
}

// ChoosersOf returns, by the name of a picker, the permissions that let a caller list its choices:
// those of the operations that take such an ID, SignedIn if everyone may use one, and the
// permission to read the records.
func ChoosersOf(all []web.Route) map[string][]string {
	choosers := map[string][]string{}
	for _, p := range Pickers {
		keys := append(choosers[p.Name], p.query)
		for _, rt := range all {
			if p.Takes(&rt) != "" {
				keys = append(keys, rt.Access)
			}
		}
		slices.Sort(keys)
		choosers[p.Name] = slices.Compact(keys)
	}
	return choosers
}

// Takes returns the name of the field or the column of an operation that has IDs of such records;
// "" for none.
func (p *Picker) Takes(rt *web.Route) string {
	if rt.Open() && rt.Access != web.SignedIn ||
		!slices.ContainsFunc(p.Under, func(start string) bool { return strings.HasPrefix(rt.Path, start) }) {
		return ""
	}
	for _, name := range p.Field {
		if rt.List != nil && rt.List.Column(name, web.Param) != nil {
			return name
		}
		if rt.Input == nil || rt.ReadOnly && name == "values" {
			continue // a value that is only looked at may name what the caller can't list
		}
		for _, from := range []string{"json", "form", "query"} {
			if rt.Input.Has(from, name) {
				return name
			}
		}
	}
	return ""
}

// Choices lists the records that a user can choose in a form.
type Choices struct {
	Choosers map[string][]string // see ChoosersOf
}

type choiceIn struct {
	Of            string `query:"of" check:"required,enum=picker" doc:"Kind of the records"`
	Record        int64  `query:"record" check:"min=1" doc:"ID of the only record to return"`
	KeywordSearch string `query:"keywordSearch" check:"max=256" doc:"Part of the name or the key, regardless of case and accents"`
}

type choice struct {
	ID       store.ID   `json:"id"`
	ParentID store.ID   `json:"parent_id" doc:"ID of the parent; 0 for a root and for records that form no tree"`
	Name     string     `json:"name"`
	Key      string     `json:"key" doc:"Key of a permission or a setting group, username of a user; empty otherwise"`
	Status   store.Flag `json:"status" doc:"0 if the record is disabled"`

	sort int64
}

// listChoices returns the records that the caller may choose. A record whose parent does not match
// is a root.
func (c *Choices) listChoices(tx *store.Tx, req *web.Request,
	in *choiceIn) (web.Encoded[web.Tree[choice]], error) {
	keys := c.Choosers[in.Of]
	if !slices.ContainsFunc(keys, func(key string) bool {
		return key == web.SignedIn || req.Actor.HasPermission(tx, key)
	}) {
		return web.Encoded[web.Tree[choice]]{}, errs.New(errs.Denied,
			"one of these permissions is required: %s", keys)
	}

	i := slices.IndexFunc(Pickers, func(p Picker) bool { return p.Name == in.Of })
	all, err := Pickers[i].list(tx, req, in)
	if err != nil {
		return web.Encoded[web.Tree[choice]]{}, err
	}

	id, parent := func(c *choice) store.ID {
		return c.ID
	}, func(c *choice) store.ID { return c.ParentID }
	nodes := store.Tree(all, id, parent, func(c *choice) int64 { return c.sort })
	b, err := store.TreeData(nodes, func(c *choice) any { return c })
	return web.Encoded[web.Tree[choice]]{JSON: b}, err
}

// matches reports whether a record is one that the caller asks for. part is the folded search text.
func (in *choiceIn) matches(c *choice, part string) bool {
	return (in.Record == 0 || store.ID(in.Record) == c.ID) &&
		(part == "" || strings.Contains(fold.Search(c.Name+"\n"+c.Key), part))
}

// named returns the choices among all records of a collection.
func named(all func(*store.Tx, *store.Actor) ([]*choice, error)) func(*store.Tx, *web.Request,
	*choiceIn) ([]*choice, error) {
	return func(tx *store.Tx, req *web.Request, in *choiceIn) ([]*choice, error) {
		found, err := all(tx, req.Actor)
		part := fold.Search(in.KeywordSearch)
		return slices.DeleteFunc(found, func(c *choice) bool { return !in.matches(c, part) }), err
	}
}

// Users are too many for one response. Their list searches further fields, which callers who can't
// read users must not learn about, so its matches are checked again.
const (
	mostUsers = 50
	triedMost = 1000
)

func userChoices(tx *store.Tx, req *web.Request, in *choiceIn) ([]*choice, error) {
	scope := req.Actor.Scope(tx)
	return peopleChoices(tx, req, in, store.Users, "user", func(u *store.User) *choice {
		if !scope.HasUser(u) {
			return nil
		}
		return &choice{ID: u.ID, Name: cmp.Or(u.Nickname, u.Username), Key: u.Username,
			Status: u.Status}
	})
}

// appUserChoices returns all app users to callers with a permission on app users. Other lists show
// those of app users only with the data scope all.
func appUserChoices(tx *store.Tx, req *web.Request, in *choiceIn) ([]*choice, error) {
	if !req.Actor.Scope(tx).All && !slices.ContainsFunc(
		[]string{"user.list.query", "user.invite.query", "user.rule.query"},
		func(key string) bool { return req.Actor.HasPermission(tx, key) }) {
		return nil, nil
	}
	return peopleChoices(tx, req, in, store.AppUsers, "app_user", func(u *store.AppUser) *choice {
		return &choice{ID: u.ID, Name: cmp.Or(u.Nickname, u.Username), Key: u.Username,
			Status: u.Status}
	})
}

func peopleChoices[T any](tx *store.Tx, req *web.Request, in *choiceIn, records *kv.Collection[T],
	collection string, of func(*T) *choice) (found []*choice, err error) {
	part, ids := fold.Search(in.KeywordSearch), []store.ID{store.ID(in.Record)}
	if in.Record == 0 {
		most := triedMost
		if part == "" {
			most = mostUsers
		}
		if ids, _, err = req.FindNamed(tx, collection, part, most); err != nil {
			return nil, err
		}
	}

	for _, id := range ids {
		u, err := records.Get(tx, id)
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if c := of(u); c != nil && in.matches(c, part) {
			c.sort = int64(len(found)) // order of the list
			if found = append(found, c); len(found) == mostUsers {
				break
			}
		}
	}
	return found, nil
}

// choicesOf returns the records of a collection that of does not leave out.
func choicesOf[T any](tx *store.Tx, records *kv.Collection[T],
	of func(*T) *choice) (all []*choice, err error) {
	for record, err := range records.All(tx) {
		if err != nil {
			return nil, err
		}
		if c := of(record); c != nil {
			all = append(all, c)
		}
	}
	return all, nil
}

func roleChoices(tx *store.Tx, a *store.Actor) ([]*choice, error) {
	all, err := everyRole(tx, a)
	return slices.DeleteFunc(all, func(c *choice) bool { return !store.MayGiveRole(tx, c.ID) }), err
}

// grantRoleChoices returns the roles that a role can let its members assign.
func grantRoleChoices(tx *store.Tx, a *store.Actor) ([]*choice, error) {
	all, err := everyRole(tx, a)
	return slices.DeleteFunc(all, func(c *choice) bool {
		return !store.MayLetAssign(tx, c.ID)
	}), err
}

// everyRole returns also the roles that the caller cannot give, for flags and filters, which give
// no permissions.
func everyRole(tx *store.Tx, _ *store.Actor) ([]*choice, error) {
	return choicesOf(tx, store.Roles, func(r *store.Role) *choice {
		return &choice{ID: r.ID, Name: r.Name, Status: r.Status, sort: r.Sort}
	})
}

func deptChoices(tx *store.Tx, a *store.Actor) ([]*choice, error) {
	scope := a.Scope(tx)
	return choicesOf(tx, store.Depts, func(d *store.Dept) *choice {
		if !scope.HasDept(d.ID) {
			return nil
		}
		return &choice{ID: d.ID, ParentID: d.ParentID, Name: d.Name, Status: d.Status, sort: d.Sort}
	})
}

func permissionChoices(tx *store.Tx, _ *store.Actor) ([]*choice, error) {
	return choicesOf(tx, store.Permissions, func(p *store.Permission) *choice {
		if !store.MayGivePermission(tx, p.ID) {
			return nil
		}
		return &choice{
			ID:       p.ID,
			ParentID: p.ParentID,
			Name:     p.Name,
			Key:      p.Key,
			Status:   p.Status,
			sort:     p.Sort,
		}
	})
}

// appRoleChoices returns none to callers who can create or change app users, but neither see nor
// change their roles.
func appRoleChoices(tx *store.Tx, a *store.Actor) ([]*choice, error) {
	if !slices.ContainsFunc(
		[]string{"user.role.query", "user.list.role", "user.list.query", "user.list.export"},
		func(key string) bool { return a.HasPermission(tx, key) }) {
		return nil, nil
	}
	return everyAppRole(tx, a)
}

func everyAppRole(tx *store.Tx, _ *store.Actor) ([]*choice, error) {
	return choicesOf(tx, store.AppRoles, func(r *store.AppRole) *choice {
		return &choice{ID: r.ID, Name: r.Name, Status: r.Status, sort: r.Sort}
	})
}

func appPermissionChoices(tx *store.Tx, _ *store.Actor) ([]*choice, error) {
	return choicesOf(tx, store.AppPermissions, func(p *store.AppPermission) *choice {
		return &choice{
			ID:       p.ID,
			ParentID: p.ParentID,
			Name:     p.Name,
			Key:      p.Key,
			Status:   p.Status,
			sort:     p.Sort,
		}
	})
}

func fileGroupChoices(tx *store.Tx, _ *store.Actor) ([]*choice, error) {
	return choicesOf(tx, store.FileGroups, func(g *store.FileGroup) *choice {
		return &choice{ID: g.ID, Name: g.Name, Status: true, sort: g.Sort}
	})
}

func settingGroupChoices(tx *store.Tx, _ *store.Actor) ([]*choice, error) {
	return choicesOf(tx, store.SettingGroups, func(g *store.SettingGroup) *choice {
		return &choice{ID: g.ID, Name: g.Title, Key: g.Key, Status: true}
	})
}
