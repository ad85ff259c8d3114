package store

import (
	"iter"
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
	Code     string `json:"code" doc:"Unique key, by which requests can refer to the department as #code; empty for none"`
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
	DeptByCode   = kv.NewUnique(Depts, "code", func(d *Dept) string { return d.Code })
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

// pathName returns the name of a department as it is in a path. A # at its beginning is escaped,
// too, because a reference to a department that begins with # is a code.
func pathName(name string) string {
	if name = pathEscape.Replace(name); strings.HasPrefix(name, "#") {
		return `\` + name
	}
	return name
}

// DeptPath returns the names of a department and its ancestors, from the root, separated by
// slashes. A slash or backslash in a name, and a # at its beginning, is preceded by a backslash.
func (r *Policy) DeptPath(id ID) string {
	path := ""
	for d, steps := r.depts.Get(id), 0; d != nil &&
		steps <= kv.MaxDepth; d, steps = r.depts.Get(d.ParentID), steps+1 {
		path = "/" + pathName(d.Name) + path
	}
	return strings.TrimPrefix(path, "/")
}

// DeptRef returns the path of a department, or # and its code if another one has the same path.
func (r *Policy) DeptRef(id ID) string {
	path := r.DeptPath(id)
	if d := r.depts.Get(id); d != nil && d.Code != "" && len(r.deptPaths()[pathKey(path)]) > 1 {
		return "#" + d.Code
	}
	return path
}

// pathKey returns the key of a path in pathsOf.
func pathKey(path string) (key string) {
	for _, name := range pathNames(path) {
		key += "/" + pathName(fold.Key(name))
	}
	return key
}

// DeptsAt returns the departments in a scope with a path, as DeptPath writes it, or the one with a
// code after a #. Names that differ only in case, width or spaces are equal. Several departments
// can have the same path.
func (r *Policy) DeptsAt(scope *Scope, path string) (in []ID) {
	key := path
	if !strings.HasPrefix(path, "#") {
		key = pathKey(path)
	}
	for _, id := range r.deptPaths()[key] {
		if scope.HasDept(id) {
			in = append(in, id)
		}
	}
	return in
}

// ReadableRefs returns references to the departments in a scope which name no department outside:
// their paths, or their codes.
func (r *Policy) ReadableRefs(scope *Scope) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id, d := range r.depts.All() {
			if r.readable(scope, id) && !yield(r.DeptPath(id)) ||
				d.Code != "" && scope.HasDept(id) && !yield("#"+d.Code) {
				return
			}
		}
	}
}

// DeptCodes returns the codes of departments, without those that have none.
func (r *Policy) DeptCodes(ids []ID) (codes []string) {
	for _, id := range ids {
		if d := r.depts.Get(id); d != nil && d.Code != "" {
			codes = append(codes, "#"+d.Code)
		}
	}
	return codes
}

// readable reports whether a department and all its ancestors are in a scope.
func (r *Policy) readable(scope *Scope, id ID) bool {
	for steps := 0; id != 0 && steps <= kv.MaxDepth; steps++ {
		d := r.depts.Get(id)
		if d == nil || !scope.HasDept(id) {
			return false
		}
		id = d.ParentID
	}
	return id == 0
}

// pathNames splits a path at the slashes that no backslash precedes.
func pathNames(path string) (names []string) {
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path):
			i++
			name.WriteByte(path[i])
		case path[i] == '/':
			names = append(names, name.String())
			name.Reset()
		default:
			name.WriteByte(path[i])
		}
	}
	return append(names, name.String())
}

// pathsOf returns the departments by their paths, with names in the form in which they are compared
// and a slash before each, and by their codes, with a # before them.
func pathsOf(depts *kv.RecordMap[Dept], below *kv.RecordMap[[]ID]) map[string][]ID {
	paths := map[string][]ID{}
	var add func(parent ID, path string)
	add = func(parent ID, path string) {
		children := below.Get(parent)
		if children == nil {
			return
		}
		for _, id := range *children {
			d := depts.Get(id)
			if d.Code != "" {
				paths["#"+d.Code] = []ID{id}
			}
			at := path + "/" + pathName(fold.Key(d.Name))
			paths[at] = append(paths[at], id)
			add(id, at)
		}
	}
	add(0, "")
	return paths
}

// SplitDeptPath returns the path of the parent of a department, "" for a root, and its name.
func SplitDeptPath(path string) (parent, name string) {
	all := pathNames(path)
	for _, above := range all[:len(all)-1] {
		parent += "/" + pathName(above)
	}
	return strings.TrimPrefix(parent, "/"), all[len(all)-1]
}
