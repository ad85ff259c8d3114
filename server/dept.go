package server

import (
	"encoding/json"

	"reeve/store"
)

var deptRoutes = []Route{
	read("/admin/dept", "admin.dept.query", "List departments", deptTree),
	read("/admin/dept/:id", "admin.dept.query", "Get a department", getDept),
	write("POST", "/admin/dept", "admin.dept.create", "Create a department", createDept),
	write("PUT", "/admin/dept/:id", "admin.dept.update", "Change a department", changeDept),
	write("DELETE", "/admin/dept/:id", "admin.dept.delete", "Delete a department", deleteDept),
}

// deptTree answers the departments in scope; the highest of them become tops.
func deptTree(tx *store.Tx, req *Request, _ *none) (Encoded[tree[store.Dept]], error) {
	b, err := store.TreeData(store.RuleBook.Get(tx).DeptTree(req.Actor.Scope(tx)), func(d *store.Dept) any { return d })
	return Encoded[tree[store.Dept]]{JSON: json.RawMessage(b)}, err
}

func getDept(tx *store.Tx, req *Request, in *byID) (*store.Dept, error) {
	d, err := store.Depts.Get(tx, in.ID)
	if err == nil && !req.Actor.Scope(tx).HasDept(in.ID) {
		err = store.Depts.NotFound(in.ID)
	}
	return d, err
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

func createDept(tx *store.Tx, _ *Request, in *deptIn) (*store.Dept, error) {
	d := &store.Dept{Status: true}
	in.apply(d)
	return d, store.Depts.Create(tx, d)
}

type deptChange struct {
	byID
	deptIn
}

func changeDept(tx *store.Tx, req *Request, in *deptChange) (*store.Dept, error) {
	return store.Depts.Update(tx, in.ID, func(d *store.Dept) error {
		in.apply(d)
		return req.fresh(d.Stamps)
	})
}

func deleteDept(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	return nothing{}, store.Depts.Delete(tx, in.ID)
}
