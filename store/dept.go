package store

import (
	"strings"

	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// Dept is a department.
type Dept struct {
	Ident
	ParentID ID     `json:"parent_id"`
	Name     string `json:"name" visible:"name"`
	Leader   string `json:"leader" visible:"name"`
	Phone    string `json:"phone"`
	Email    string `json:"email" visible:"address"`
	Sort     int64  `json:"sort"`
	Status   Flag   `json:"status"` // whether users can be put into it
	Versioned
}

// Depts and their indexes. Departments are a tree.
var (
	Depts        = kv.NewCollection[Dept]("dept").Undoable()
	DeptByParent = kv.NewRef(Depts, "parent_id", Depts, deptParent, kv.Restrict)

	_ = Depts.Authorize(authorizeDept).Constraint(constrainDept).Constraint(kv.TreeConstraint(Depts, DeptByParent, deptParent)).Check(kv.TreeCheck(Depts, deptParent))
)

var _ = Manage(Depts, "admin.dept")

func deptParent(d *Dept) ID { return d.ParentID }

// authorizeDept hides departments outside the actor's data scope.
func authorizeDept(tx *Tx, old *Dept) error {
	if !ActorOf(tx).Scope(tx).HasDept(old.ID) {
		return Depts.NotFound(old.ID)
	}
	return nil
}

// constrainDept requires that a department that is moved, all below it, and its new parent are in
// the actor's data scope. So no actor can move a department into their own scope.
func constrainDept(tx *Tx, old, new *Dept) error {
	scope := ActorOf(tx).Scope(tx)
	if new == nil || scope.All || old != nil && old.ParentID == new.ParentID {
		return nil
	}
	if !scope.HasDept(new.ParentID) {
		return outOfScope("parent_id", new.ParentID)
	}
	if old != nil {
		for _, id := range PolicyCache.Get(tx).Descendants(old.ID) {
			if !scope.HasDept(id) {
				return errs.Field(errs.Invalid, "parent_id",
					"can't be moved: a department below it is outside your data scope")
			}
		}
	}

	return nil
}

// requireEnabledDept refuses to put a user into a disabled department. Those who are in it stay
// there, with their data scope.
func requireEnabledDept(tx *Tx, old, new *User) error {
	if ActorOf(tx).system || new == nil || new.DeptID == 0 ||
		old != nil && old.DeptID == new.DeptID {
		return nil
	}
	if d := PolicyCache.Get(tx).depts.Get(new.DeptID); d != nil && !bool(d.Status) { // a reference to none is refused as such
		return errs.Field(errs.Invalid, "dept_id",
			"department %s is disabled; enable it first, or choose another one", d.Name)
	}
	return nil
}

// DeptTree returns the departments in a scope as trees. A department whose parent is outside
// the scope is a root.
func (r *Policy) DeptTree(scope *Scope) []*kv.Node[Dept] {
	var in []*Dept
	for id, d := range r.depts.All() {
		if scope.HasDept(id) {
			in = append(in, d)
		}
	}
	return kv.Tree(in, func(d *Dept) ID {
		return d.ID
	}, deptParent, func(d *Dept) int64 { return d.Sort })
}

// pathEscape escapes slashes in the name of a department, so that they do not separate names in
// a path.
var pathEscape = strings.NewReplacer(`\`, `\\`, `/`, `\/`)

// DeptPath returns the names of a department and its ancestors, from the root, separated by
// slashes. A slash or backslash in a name is preceded by a backslash.
func (r *Policy) DeptPath(id ID) string {
	path := ""
	for d, steps := r.depts.Get(id), 0; d != nil &&
		steps <= kv.MaxDepth; d, steps = r.depts.Get(d.ParentID), steps+1 {
		path = "/" + pathEscape.Replace(d.Name) + path
	}
	return strings.TrimPrefix(path, "/")
}

// DeptPaths returns the departments in a scope by their case-folded paths. Several departments
// can have the same path.
func (r *Policy) DeptPaths(scope *Scope) map[string][]ID {
	paths := map[string][]ID{}
	for id := range r.depts.All() {
		if !scope.HasDept(id) {
			continue
		}
		path := fold.Key(r.DeptPath(id))
		paths[path] = append(paths[path], id)
	}
	return paths
}
