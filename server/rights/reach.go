package rights

import (
	"slices"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// ReachRoutes returns the operations that say what a role is good for before it is saved.
func ReachRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/admin/role-reach", "admin.role.query", "Explain whom a role can change", roleReach,
			web.Options{
				ReadOnly: true,
				Note: "Returns how many of the people in your data scope the holders of a role could change, and " +
					"the roles of the others, who hold more. The role is that of the input, which need not be saved. " +
					"Holders can also change the people whose roles they can assign (grant_role_ids).",
			}),
		web.Read("/admin/role-preset", "admin.role.query", "List role presets", listPresets,
			web.Options{Note: "Usual roles, each with the permissions that its job needs: a start for a new role."}),
	}
}

type reachIn struct {
	ID           int64      `json:"id" check:"min=0,max=9007199254740991" doc:"ID of the role, which may have been deleted since; 0 for a new one"`
	RuleIDs      []store.ID `json:"rule_ids" names:"permissions,permission" check:"max=10000" doc:"IDs of its permissions"`
	DataScope    string     `json:"data_scope" check:"enum=data_scope" doc:"Data scope"`
	DeptIDs      []store.ID `json:"dept_ids" names:"departments,department" check:"max=1000" doc:"IDs of the departments of the data scope custom"`
	GrantRoleIDs []store.ID `json:"grant_role_ids" names:"grant_roles,role" check:"max=100" doc:"IDs of the roles that its holders can assign"`
}

// changing are the permissions to change users that are bounded by what the users hold.
var changing = []string{"admin.list.update", "admin.list.password", "admin.list.status",
	"admin.list.delete", "admin.list.factor", "admin.list.erase"}

// reach is whom the holders of a role can change.
type reach struct {
	People  int         `json:"people" doc:"Number of users in your data scope"`
	Changes store.Flag  `json:"changes" doc:"1 if the role has a permission to change users; else the rest is of no use"`
	Beyond  int         `json:"beyond" doc:"Number of those whom the holders can't change"`
	Reasons []unreached `json:"reasons" doc:"Roles of those users, by ID; without roles that none of them has"`
}

type unreached struct {
	ID      store.ID   `json:"id"`
	Name    string     `json:"name"`
	Users   int        `json:"users" doc:"Number of users in your data scope who have the role"`
	Missing []string   `json:"missing" doc:"Keys of the permissions that the role in the input lacks, sorted"`
	Wider   store.Flag `json:"wider" doc:"1 if the data scope of the role is wider"`
	Remedy  store.Flag `json:"remedy" doc:"1 if you can let the holders assign this role, so that they can change its users"`
}

func roleReach(req *web.Request, in *reachIn) (out *reach, err error) {
	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		out, err = reachOf(tx, req, in)
		return err
	})
	return out, err
}

func reachOf(tx *store.Tx, req *web.Request, in *reachIn) (*reach, error) {
	out := &reach{Reasons: []unreached{}}
	within, narrow := req.Actor.Scope(tx).Users()
	count := func(where ...kv.Condition) (int, error) {
		if narrow {
			where = append(where, within)
		}
		_, n, err := store.Users.Find(tx, kv.Query[store.User]{Where: where})
		return n, err
	}

	rules, err := store.PolicyCache.Get(tx), error(nil)
	out.Changes = store.Flag(slices.ContainsFunc(rules.KeysOf(in.RuleIDs), func(key string) bool {
		return slices.Contains(changing, key)
	}))
	if out.People, err = count(); err != nil {
		return nil, err
	}
	var ids []store.ID
	for _, u := range rules.Unreached(&store.Role{
		Ident:        store.Ident{ID: store.ID(in.ID)},
		RuleIDs:      in.RuleIDs,
		DataScope:    in.DataScope,
		DeptIDs:      in.DeptIDs,
		GrantRoleIDs: in.GrantRoleIDs,
	}) {
		n, err := count(store.UserByRole.AnyOf(u.Role.ID))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue
		}
		ids = append(ids, u.Role.ID)
		out.Reasons = append(out.Reasons, unreached{u.Role.ID, u.Role.Name, n, web.OrEmpty(u.Missing),
			store.Flag(u.Wider), store.Flag(store.MayLetAssign(tx, u.Role.ID))})
	}
	if len(ids) > 0 {
		out.Beyond, err = count(store.UserByRole.AnyOf(ids...))
	}
	return out, err
}
