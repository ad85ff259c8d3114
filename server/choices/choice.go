// Package choices lists the records that a user can choose in forms, for those who may save
// the form, but not read the list.
package choices

import (
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"picker": pickerNames(),
	})
}

// Choices are the records that a form offers where the caller chooses one of another collection. An
// operation may need such a list although its permission does not include reading those records:
// the choices have only their names.
func Routes(c *Choices) []web.Route {
	return []web.Route{
		web.Read("/admin/choice", web.SignedIn, "List choices", c.listChoices, web.Options{
			AllowedForCommands: true,

			Note: "The records that a form offers for a field with the ID of another record, with " +
				"their names only: roles and permissions that you can grant (`flag_role`: all " +
				"roles), and departments in your data scope. Requires a permission for an operation " +
				"that has such a field, or to read the records themselves.",
		}),
	}
}

// Picker is a kind of records that inputs refer to.
type Picker struct {
	Name  string // value of the parameter of
	query string // permission to read the records themselves
	Under string // beginning of the paths of the operations
	Field []string
	list  func(tx *store.Tx, a *store.Actor) ([]*choice, error)
}

var Pickers = []Picker{
	{"role", "admin.role.query", "/admin/", []string{"role_ids", "grant_role_ids"}, roleChoices},
	{"dept", "admin.dept.query", "/", []string{"dept_id", "dept_ids"}, deptChoices},
	{"permission", "admin.rule.query", "/admin/", []string{"rule_ids"}, permissionChoices},
	{"app_role", "user.role.query", "/user/", []string{"role_ids"}, appRoleChoices},
	{"app_permission", "user.rule.query", "/user/", []string{"rule_ids"}, appPermissionChoices},
	{"file_group", "file.group.query", "/file/", []string{"group_id"}, fileGroupChoices},
	{"setting_group", "system.setting.group.query", "/system/setting",
		[]string{"group_id", "values"}, settingGroupChoices},
	{"flag_role", "admin.role.query", "/system/setting", []string{"values"}, everyRole},
	{"flag_dept", "admin.dept.query", "/system/setting", []string{"values"}, deptChoices},
	{"flag_app_role", "user.role.query", "/system/setting", []string{"values"}, appRoleChoices},
}

// pickerNames are the values of the parameter of.
func pickerNames() []string {
	names := make([]string, len(Pickers))
	for i, p := range Pickers {
		names[i] = p.Name
	}
	return names
}

// ChoosersOf returns, by the name of a picker, the permissions that let a caller list its choices:
// those of the operations whose input has such a field, SignedIn if everyone may use one, and the
// permission to read the records.
func ChoosersOf(all []web.Route) map[string][]string {
	choosers := map[string][]string{}
	for _, p := range Pickers {
		keys := []string{p.query}
		for _, rt := range all {
			writes := rt.Method != "GET" && !rt.ReadOnly &&
				(!rt.Open() || rt.Access == web.SignedIn)
			if writes && strings.HasPrefix(rt.Path, p.Under) &&
				slices.ContainsFunc(p.Field, func(name string) bool {
					return chooses(&rt, name)
				}) {
				keys = append(keys, rt.Access)
			}
		}
		slices.Sort(keys)
		choosers[p.Name] = slices.Compact(keys)
	}
	return choosers
}

// chooses reports whether the input has a field of the body.
func chooses(rt *web.Route, name string) bool {
	return rt.Input != nil && (rt.Input.Has("json", name) || rt.Input.Has("form", name))
}

// Choices lists the records that a user can choose in a form.
type Choices struct {
	Choosers map[string][]string // see ChoosersOf
}

type choiceIn struct {
	Of string `query:"of" check:"required,enum=picker" doc:"Kind of the records"`
}

type choice struct {
	ID       store.ID   `json:"id"`
	ParentID store.ID   `json:"parent_id" doc:"ID of the parent; 0 for a root and for records that form no tree"`
	Name     string     `json:"name"`
	Key      string     `json:"key" doc:"Key of a permission or a setting group; empty otherwise"`
	Status   store.Flag `json:"status" doc:"0 if the record is disabled"`

	sort int64
}

// listChoices returns the records that the caller may choose: roles and permissions within what the
// caller can grant (all roles in the rules of a flag), and departments in the data scope.
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
	all, err := Pickers[i].list(tx, req.Actor)
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

// everyRole returns also the roles that the caller cannot give: a flag gives no permissions.
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

func appRoleChoices(tx *store.Tx, _ *store.Actor) ([]*choice, error) {
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
