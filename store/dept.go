package store

import (
	"strings"

	"reeve/store/errs"
)

// Dept is a department of the organisation.
type Dept struct {
	Ident
	ParentID ID     `json:"parent_id"`
	Name     string `json:"name"`
	Leader   string `json:"leader"`
	Phone    string `json:"phone"`
	Email    string `json:"email"`
	Sort     int64  `json:"sort"`
	Status   Flag   `json:"status"`
	Versioned
}

// Depts, a tree.
var (
	Depts        = NewCollection[Dept]("dept")
	DeptByParent = NewRef(Depts, "parent_id", Depts, deptParent, Refuse)

	_ = Depts.Guard(deptGuard).Rule(deptRule).Rule(treeRule(Depts, DeptByParent, deptParent)).Check(treeCheck(Depts, deptParent))
)

func deptParent(d *Dept) ID { return d.ParentID }

// deptGuard keeps an actor within the data scope.
func deptGuard(tx *Tx, old *Dept) error {
	if !tx.actor.Scope(tx).HasDept(old.ID) {
		return Depts.NotFound(old.ID)
	}
	return nil
}

// deptRule keeps a department that moves within the data scope: all below it, and
// the one under which it comes to lie. So nobody can move a department into their
// own scope.
func deptRule(tx *Tx, old, new *Dept) error {
	scope := tx.actor.Scope(tx)
	if new == nil || scope.All || old != nil && old.ParentID == new.ParentID {
		return nil
	}
	if !scope.HasDept(new.ParentID) {
		return outOfScope("parent_id", new.ParentID)
	}
	if old != nil {
		for _, id := range RuleBook.Get(tx).Below(old.ID) {
			if !scope.HasDept(id) {
				return errs.Field(errs.Invalid, "parent_id", "a department below it is out of your data scope, so it cannot be moved")
			}
		}
	}
	return nil
}

// DeptTree arranges the departments in a scope; the highest of them become tops.
func (r *Rules) DeptTree(scope *Scope) []*Node[Dept] {
	var in []*Dept
	for id, d := range r.depts.all() {
		if scope.HasDept(id) {
			in = append(in, d)
		}
	}
	return Tree(in, func(d *Dept) ID { return d.ID }, deptParent, func(d *Dept) int64 { return d.Sort })
}

// pathEscape keeps a slash in a department's name apart from those in a path.
var pathEscape = strings.NewReplacer(`\`, `\\`, `/`, `\/`)

// DeptPath is the names of a department and of those above it, from the top,
// joined by slashes; a slash or backslash in a name has a backslash before it.
func (r *Rules) DeptPath(id ID) string {
	path := ""
	for d, steps := r.depts.get(id), 0; d != nil && steps <= MaxDepth; d, steps = r.depts.get(d.ParentID), steps+1 {
		path = "/" + pathEscape.Replace(d.Name) + path
	}
	return strings.TrimPrefix(path, "/")
}

// DeptPaths is every department in a scope by its folded path; several can share one.
func (r *Rules) DeptPaths(scope *Scope) map[string][]ID {
	paths := map[string][]ID{}
	for id := range r.depts.all() {
		if !scope.HasDept(id) {
			continue
		}
		path := Fold(r.DeptPath(id))
		paths[path] = append(paths[path], id)
	}
	return paths
}
