package server_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store/errs"
)

// formatAt is which argument of a function is the format of a message: those of
// package errs, and Add of errs.Faults.
var formatAt = map[string]int{"New": 1, "Field": 2, "Say": 0, "Add": 1}

// otherAdds are methods called Add with two arguments that are not of errs.Faults.
var otherAdds = map[string]bool{"h": true, "Header": true}

// Every message that the program makes has its line in the catalogue.
func TestMessageCatalogue_Complete(t *testing.T) {
	files, found := token.NewFileSet(), 0
	sources, constants := map[string]*ast.File{}, map[string]ast.Expr{}
	for _, path := range goSources(t) {
		if strings.HasPrefix(filepath.ToSlash(path), "../store/errs/") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		servertest.Must(t, err)
		sources[path] = file
		addConstants(constants, filepath.Dir(path), file)
	}

	for path, file := range sources {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}

			format := formatOf(call)
			if format == nil {
				return true
			}

			found++
			if name, ok := format.(*ast.Ident); ok {
				format = constants[filepath.Join(filepath.Dir(path), name.Name)]
			}

			text, ok := textOf(format)
			switch {
			case !ok:
				t.Errorf("%s: write the format of the message in the call or as a constant, so that it can be found", files.Position(call.Pos()))
			case !errs.Known(text):
				t.Errorf("%s: add %q to the catalogue, store/errs/messages*.go",
					files.Position(call.Pos()), text)
			}

			return true
		})
	}

	if found < 200 {
		t.Fatalf("found only %d messages in the sources", found)
	}
}

// addConstants adds the constants of a file, by directory and name.
func addConstants(all map[string]ast.Expr, dir string, file *ast.File) {
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) {
					all[filepath.Join(dir, name.Name)] = value.Values[i]
				}
			}
		}
	}
}

// formatOf returns the format in a call that makes a message; nil in any other.
func formatOf(call *ast.CallExpr) ast.Expr {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}

	at, makes := formatAt[sel.Sel.Name]
	if !makes || len(call.Args) <= at {
		return nil
	}

	of, _ := sel.X.(*ast.Ident)
	if sel.Sel.Name == "Add" {
		if inner, ok := sel.X.(*ast.SelectorExpr); ok {
			of = inner.Sel
		}
		if of == nil || otherAdds[of.Name] {
			return nil
		}
	} else if of == nil || of.Name != "errs" {
		return nil
	}

	return call.Args[at]
}

// textOf returns the text of literals, joined by + or not.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return constant.StringVal(constant.MakeFromLiteral(e.Value, e.Kind, 0)), true
		}
	case *ast.BinaryExpr:
		left, ok := textOf(e.X)
		right, ok2 := textOf(e.Y)
		return left + right, ok && ok2 && e.Op == token.ADD
	}
	return "", false
}
