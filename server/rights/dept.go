package rights

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

func DeptRoutes() []web.Route {
	return []web.Route{
		web.Read("/admin/dept", "admin.dept.query", "List departments", deptTree, web.Options{
			Note: "Returns the departments in your data scope as a tree, ordered by sort, then id.",
		}),
		web.Read("/admin/dept/:id", "admin.dept.query", "Get a department", getDept),
		web.Create[deptIn]("/admin/dept", "admin.dept.create", "Create a department", &depts),
		web.Change[deptIn]("/admin/dept/:id", "admin.dept.update", "Change a department", &depts),
		web.Remove("/admin/dept/:id", "admin.dept.delete", "Delete a department", &depts,
			web.Options{
				Note: "409 while it has sub-departments or users.",
			}),
		web.RemoveOrdered("/admin/dept", "admin.dept.delete", "Delete departments", &depts,
			store.DeptsUpwards),
	}
}

// dept is a department in responses.
type dept struct {
	store.Dept
	UserCount int `json:"user_count" doc:"Number of users in the department, without its sub-departments"`
}

var depts = web.Resource[store.Dept, *dept]{
	Collection: store.Depts,
	Blank:      store.Dept{Status: true},
	Output:     deptOf,
}

func deptOf(tx *store.Tx, _ *web.Request, d *store.Dept) (*dept, error) {
	n, err := store.UserByDept.Count(tx, d.ID)
	return &dept{*d, n}, err
}

// deptTree returns the departments in the caller's data scope. Those whose parent is out of
// scope are roots.
func deptTree(tx *store.Tx, req *web.Request, _ *web.TreeIn) (web.Encoded[web.Tree[dept]], error) {
	nodes := store.PolicyCache.Get(tx).DeptTree(req.Actor.Scope(tx))
	users, err := store.UserByDept.Counts(tx, nodeIDs(nodes, nil))
	if err != nil {
		return web.Encoded[web.Tree[dept]]{}, err
	}
	b, err := store.TreeData(nodes, func(d *store.Dept) any { return dept{*d, users[d.ID]} })
	return web.Encoded[web.Tree[dept]]{JSON: b}, err
}

func nodeIDs(nodes []*kv.Node[store.Dept], ids []store.ID) []store.ID {
	for _, n := range nodes {
		ids = nodeIDs(n.Children, append(ids, n.Value.ID))
	}
	return ids
}

func getDept(tx *store.Tx, req *web.Request, in *web.ByID) (*dept, error) {
	d, err := store.Depts.Get(tx, in.ID)
	if err == nil && !req.Actor.Scope(tx).HasDept(in.ID) {
		err = store.Depts.NotFound(in.ID)
	}
	if err != nil {
		return nil, err
	}
	return deptOf(tx, req, d)
}

type deptIn struct {
	ParentID *store.ID   `json:"parent_id" names:"parent,department" doc:"ID of the parent department; 0 for a root"`
	Name     *string     `json:"name" check:"create,min=1,max=64"`
	Code     *string     `json:"code" check:"max=64,code" doc:"Unique key, by which requests can refer to the department as #code; empty for none"`
	Leader   *string     `json:"leader" check:"max=64"`
	Phone    *string     `json:"phone" check:"max=32,mobile"`
	Email    *string     `json:"email" check:"max=254,email"`
	Sort     *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Status   *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new department; 0 disabled: no more users can be put into it, and those who are in it stay"`
}
