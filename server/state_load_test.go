package server_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/servertest"
)

type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }

// newStateScan parses and type-checks the packages of the module, and an example.
func newStateScan(t *testing.T, example string) *stateScan {
	t.Helper()
	s := &stateScan{
		Info: types.Info{
			Defs:       map[*ast.Ident]types.Object{},
			Uses:       map[*ast.Ident]types.Object{},
			Types:      map[ast.Expr]types.TypeAndValue{},
			Selections: map[*ast.SelectorExpr]*types.Selection{},
		},
		files:    map[*ast.File]*types.Package{},
		packages: map[*types.Package]string{},
		brief:    map[string]bool{},
		assigned: map[types.Object]bool{},
		visited:  map[types.Type]bool{},
		found:    map[string]bool{},
	}

	compiled, checked, set := map[string]string{}, map[string]*types.Package{}, token.NewFileSet()
	others := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(compiled[path])
	})
	config := types.Config{Importer: importFunc(func(path string) (*types.Package, error) {
		if pkg := checked[path]; pkg != nil {
			return pkg, nil
		}
		return others.Import(path)
	})}
	check := func(path string, files ...*ast.File) {
		pkg, err := config.Check(path, set, files, &s.Info)
		servertest.Must(t, err)
		checked[path], s.packages[pkg] = pkg, strings.TrimPrefix(path, "reeve/")
		for _, file := range files {
			s.files[file] = pkg
		}
	}
	for _, pkg := range listPackages(t) {
		compiled[pkg.path] = pkg.compiled
		if isWithin(pkg.path, "reeve") && !strings.HasSuffix(pkg.path, "test") {
			check(pkg.path, pkg.parse(t, set)...)
		}
	}

	file, err := parser.ParseFile(set, "example.go", example, parser.SkipObjectResolution)
	servertest.Must(t, err)
	check("reeve/example", file)
	return s
}

// listedPackage is a package with the file that the compiler wrote for it.
type listedPackage struct {
	path, compiled, dir string
	files               []string
}

// listPackages returns the packages of auth, store and server, each after those that it imports.
func listPackages(t *testing.T) (all []listedPackage) {
	t.Helper()
	const format = `{{.ImportPath}} {{or .Export "-"}} {{.Dir}} {{join .GoFiles " "}}`
	list := exec.Command("go", "list", "-export", "-deps", "-f", format)
	list.Args = append(list.Args, "./auth/...", "./store/...", "./server/...")
	list.Dir = ".."
	out, err := list.Output()
	servertest.Must(t, err)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		all = append(all, listedPackage{fields[0], fields[1], fields[2], fields[3:]})
	}
	return all
}

func (p *listedPackage) parse(t *testing.T, set *token.FileSet) (files []*ast.File) {
	t.Helper()
	for _, name := range p.files {
		file, err := parser.ParseFile(set, filepath.Join(p.dir, name), nil,
			parser.SkipObjectResolution)
		servertest.Must(t, err)
		files = append(files, file)
	}
	return files
}
