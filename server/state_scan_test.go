package server_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// stateScan finds what a program keeps in memory, from the types of its source:
//
//   - fields of structs that outlive a call, if they are assigned to after the struct was made, or
//     are maps, bytes (keys), or for use by several goroutines: channels, mutexes, atomic values
//   - variables of packages that are assigned to, or are for use by several goroutines
//   - functions that make a random value, or a function that remembers its result
//
// A struct outlives a call if it has a field for several goroutines, or if such a struct or a
// variable of a package leads to it. Fields with a tag are data of records and requests.
type stateScan struct {
	types.Info
	files    map[*ast.File]*types.Package
	packages map[*types.Package]string // directories of the packages of the module
	brief    map[string]bool           // names of types whose values do not outlive a call
	assigned map[types.Object]bool
	owners   []types.Type // of methods that goroutines call
	visited  map[types.Type]bool
	found    map[string]bool // DIRECTORY.NAME
}

// forSeveral matches packages with types for use by several goroutines.
var forSeveral = regexp.MustCompile(`^(sync|sync/atomic|hash/maphash|golang.org/x/sync/\w+)$`)

// lasting matches functions that make a random value, or a function that remembers its result.
var lasting = regexp.MustCompile(
	`^(crypto/rand|math/rand.*|hash/maphash)\.|^sync\.Once|\.(randomBytes|GenerateKey)$`)

func (s *stateScan) add(pkg *types.Package, name string) {
	s.found[s.packages[pkg]+"."+name] = true
}

// scan fills found.
func (s *stateScan) scan() {
	for file, pkg := range s.files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				s.scanCode(pkg, nameOf(decl), decl)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if v, is := spec.(*ast.ValueSpec); is {
						s.scanCode(pkg, v.Names[0].Name, v)
					}
				}
			}
		}
	}
	for _, owner := range s.owners {
		s.visit(owner)
	}
	for pkg := range s.packages {
		for _, name := range pkg.Scope().Names() {
			object := pkg.Scope().Lookup(name)
			switch object.(type) {
			case *types.Var:
				if s.assigned[object] || s.isForSeveral(object.Type()) {
					s.add(pkg, name)
				}
				s.visit(object.Type())
			case *types.TypeName:
				// The type features leads to the parts of the server.
				if s.isForSeveral(object.Type().Underlying()) || name == "features" {
					s.visit(object.Type())
				}
			}
		}
	}
}

// isForSeveral reports whether values of a type are for use by several goroutines, or contain
// such a value outside structs that have a name.
func (s *stateScan) isForSeveral(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Chan:
		return true
	case *types.Struct:
		for field := range t.Fields() {
			if s.isForSeveral(field.Type()) {
				return true
			}
		}
	case *types.Named:
		pkg := t.Obj().Pkg()
		if pkg == nil || forSeveral.MatchString(pkg.Path()) {
			return pkg != nil
		}
		_, isStruct := t.Underlying().(*types.Struct)
		return s.packages[pkg] != "" && !isStruct && s.isForSeveral(t.Underlying())
	case interface{ Elem() types.Type }:
		return s.isForSeveral(t.Elem())
	}
	return false
}

// visit finds the fields of a type, and of the types that it leads to.
func (s *stateScan) visit(t types.Type) {
	t = types.Unalias(t)
	if s.visited[t] {
		return
	}

	s.visited[t] = true
	switch t := t.(type) {
	case *types.Named:
		for argument := range t.TypeArgs().Types() {
			s.visit(argument)
		}
		name := t.Obj()
		if dir := s.packages[name.Pkg()]; s.brief[dir+"."+name.Name()] {
			s.add(name.Pkg(), name.Name())
		} else if dir != "" {
			s.findFields(name, t.Origin().Underlying())
			s.visit(t.Underlying())
		}
	case *types.Struct:
		for i := range t.NumFields() {
			if t.Tag(i) == "" {
				s.visit(t.Field(i).Type())
			}
		}
	case *types.Map:
		s.visit(t.Key())
		s.visit(t.Elem())
	case interface{ Elem() types.Type }:
		s.visit(t.Elem())
	}
}

func (s *stateScan) findFields(of *types.TypeName, t types.Type) {
	fields, is := t.(*types.Struct)
	for i := 0; is && i < fields.NumFields(); i++ {
		field := fields.Field(i)
		list, _ := field.Type().Underlying().(interface{ Elem() types.Type })
		_, isMap := list.(*types.Map)
		isBytes := list != nil && types.Identical(list.Elem(), types.Typ[types.Byte])
		isState := isMap || isBytes || s.assigned[field] || s.isForSeveral(field.Type())
		if isState && fields.Tag(i) == "" {
			s.add(of.Pkg(), of.Name()+"."+field.Name())
		}
	}
}

// scanCode notes what a declaration assigns to, and which structs goroutines run with. It finds
// the declaration if it uses a function that is lasting.
func (s *stateScan) scanCode(pkg *types.Package, name string, code ast.Node) {
	own := map[types.Object]bool{} // variables with a struct that the code makes
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			s.scanAssignment(own, n)
		case *ast.RangeStmt:
			s.assign(own, n.Key)
			s.assign(own, n.Value)
		case *ast.IncDecStmt:
			s.assign(own, n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND && !s.isOurs(n.X) {
				s.assign(own, n.X)
			}
		case *ast.SelectorExpr:
			if s.changesReceiver(n) {
				s.assign(own, n.X)
			}
		case *ast.GoStmt:
			s.noteOwners(n.Call)
		case *ast.CallExpr:
			switch function := n.Fun.(type) {
			case *ast.Ident:
				if slices.Contains([]string{"delete", "clear", "copy"}, function.Name) {
					s.assign(own, n.Args[0])
				}
			case *ast.SelectorExpr:
				if function.Sel.Name == "Go" {
					s.noteOwners(n)
				}
			}
		case *ast.Ident:
			called, is := s.Uses[n].(*types.Func)
			if is && called.Pkg() != nil &&
				lasting.MatchString(called.Pkg().Path()+"."+called.Name()) {
				s.add(pkg, name)
			}
		}
		return true
	})
}

func (s *stateScan) scanAssignment(own map[types.Object]bool, n *ast.AssignStmt) {
	for i, target := range n.Lhs {
		s.assign(own, target)
		if id, is := target.(*ast.Ident); is && len(n.Rhs) == len(n.Lhs) && isNew(n.Rhs[i]) {
			own[s.Defs[id]] = true
		}
	}
}

// noteOwners notes the types whose methods a goroutine calls.
func (s *stateScan) noteOwners(started ast.Node) {
	ast.Inspect(started, func(n ast.Node) bool {
		if e, is := n.(*ast.SelectorExpr); is {
			if method := s.Selections[e]; method != nil && method.Kind() == types.MethodVal {
				s.owners = append(s.owners, method.Recv())
			}
		}
		return true
	})
}

// changesReceiver reports whether a method gets the address of the variable that it is called on.
func (s *stateScan) changesReceiver(e *ast.SelectorExpr) bool {
	method := s.Selections[e]
	if method == nil || method.Kind() != types.MethodVal || s.isOurs(e.X) {
		return false
	}
	return isPointer(method.Obj().(*types.Func).Signature().Recv().Type()) &&
		!isPointer(method.Recv())
}

// nameOf returns "name()" for a function and "Type.name()" for a method.
func nameOf(function *ast.FuncDecl) string {
	name := function.Name.Name + "()"
	if function.Recv == nil {
		return name
	}
	of, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(function.Recv.List[0].Type), "*"),
		"[")
	return of + "." + name
}

func isPointer(t types.Type) bool {
	_, is := t.Underlying().(*types.Pointer)
	return is
}

// isNew reports whether an expression makes the value that it points to.
func isNew(e ast.Expr) bool {
	if address, is := e.(*ast.UnaryExpr); is {
		e = address.X
	}
	_, is := e.(*ast.CompositeLit)
	return is
}

// isOurs reports whether an expression is a struct of the module: its fields are found themselves.
func (s *stateScan) isOurs(e ast.Expr) bool {
	named, is := types.Unalias(s.TypeOf(e)).(*types.Named)
	return is && s.packages[named.Obj().Pkg()] != ""
}

// assign notes the variable or field that an assignment changes.
func (s *stateScan) assign(own map[types.Object]bool, target ast.Expr) {
	switch e := target.(type) {
	case *ast.Ident:
		s.assigned[s.Uses[e]] = true
	case *ast.SelectorExpr:
		if name, is := e.X.(*ast.Ident); is && (own[s.Uses[name]] || s.isLocalValue(s.Uses[name])) {
			return
		}
		if field, is := s.Uses[e.Sel].(*types.Var); is {
			s.assigned[field.Origin()] = true
		}
	case *ast.IndexExpr:
		s.assign(own, e.X)
	case *ast.SliceExpr:
		s.assign(own, e.X)
	case *ast.StarExpr:
		s.assign(own, e.X)
	case *ast.ParenExpr:
		s.assign(own, e.X)
	}
}

// isLocalValue reports whether a variable of a function has a struct, not a pointer to one.
func (s *stateScan) isLocalValue(object types.Object) bool {
	v, is := object.(*types.Var)
	if !is || v.Parent() == v.Pkg().Scope() {
		return false
	}
	_, is = v.Type().Underlying().(*types.Struct)
	return is
}
