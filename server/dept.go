package server

import "reeve/store"

var deptRoutes = []Route{
	read("/admin/dept", "admin.dept.query", "List departments", deptTree),
	read("/admin/dept/:id", "admin.dept.query", "Get a department", getDept),
	write("POST", "/admin/dept", "admin.dept.create", "Create a department", createDept),
	write("PUT", "/admin/dept/:id", "admin.dept.update", "Change a department", changeDept),
	write("DELETE", "/admin/dept/:id", "admin.dept.delete", "Delete a department", deleteDept),
	deleteOrdered("/admin/dept", "admin.dept.delete", "Delete departments", deleteDept, store.DeptsUpwards),
}

// dept is a department as it is answered.
type dept struct {
	store.Dept
	UserCount int `json:"user_count" doc:"in the department itself, without those below it"`
}

func deptOf(tx *store.Tx, d *store.Dept) (*dept, error) {
	n, err := store.UserByDept.Count(tx, d.ID)
	return &dept{*d, n}, err
}

// deptTree answers the departments in scope; the highest of them become tops.
func deptTree(tx *store.Tx, req *Request, _ *treeIn) (Encoded[tree[dept]], error) {
	nodes := store.RuleBook.Get(tx).DeptTree(req.Actor.Scope(tx))
	users, err := store.UserByDept.Counts(tx, nodeIDs(nodes, nil))
	if err != nil {
		return Encoded[tree[dept]]{}, err
	}
	b, err := store.TreeData(nodes, func(d *store.Dept) any { return dept{*d, users[d.ID]} })
	return Encoded[tree[dept]]{JSON: b}, err
}

func nodeIDs(nodes []*store.Node[store.Dept], ids []store.ID) []store.ID {
	for _, n := range nodes {
		ids = nodeIDs(n.Children, append(ids, n.Value.ID))
	}
	return ids
}

func getDept(tx *store.Tx, req *Request, in *byID) (*dept, error) {
	d, err := store.Depts.Get(tx, in.ID)
	if err == nil && !req.Actor.Scope(tx).HasDept(in.ID) {
		err = store.Depts.NotFound(in.ID)
	}
	if err != nil {
		return nil, err
	}
	return deptOf(tx, d)
}

type deptIn struct {
	ParentID *store.ID   `json:"parent_id" doc:"0 at the top"`
	Name     *string     `json:"name" check:"create,min=1,max=64"`
	Leader   *string     `json:"leader" check:"max=64"`
	Phone    *string     `json:"phone" check:"max=32,mobile"`
	Email    *string     `json:"email" check:"max=254,email"`
	Sort     *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Status   *store.Flag `json:"status" doc:"1 when absent at creation"`
}

func (in *deptIn) apply(d *store.Dept) {
	set(&d.ParentID, in.ParentID)
	set(&d.Name, in.Name)
	set(&d.Leader, in.Leader)
	set(&d.Phone, in.Phone)
	set(&d.Email, in.Email)
	set(&d.Sort, in.Sort)
	set(&d.Status, in.Status)
}

func createDept(tx *store.Tx, _ *Request, in *deptIn) (*dept, error) {
	d := &store.Dept{Status: true}
	in.apply(d)
	if err := store.Depts.Create(tx, d); err != nil {
		return nil, err
	}
	return deptOf(tx, d)
}

type deptChange struct {
	byID
	deptIn
}

func changeDept(tx *store.Tx, req *Request, in *deptChange) (*dept, error) {
	d, err := store.Depts.Update(tx, in.ID, func(d *store.Dept) error {
		in.apply(d)
		return req.fresh(d)
	})
	if err != nil {
		return nil, err
	}
	return deptOf(tx, d)
}

func deleteDept(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	return nothing{}, store.Depts.Delete(tx, in.ID)
}
