package server_test

import (
	"errors"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// stateExample has one of each kind of state in memory.
const stateExample = `package example

import ("crypto/rand"; "strings"; "sync")

var (
	fixed   = map[string]int{"a": 1}
	changed = map[string]int{}
	guard   sync.Mutex
	once    = sync.OnceValue(func() int { return 1 })
	limits  = &limit{}
)

type limit struct { name string; used int; Tagged map[string]int "json:\"tagged\"" }
type server struct {
	mu      sync.Mutex
	name    string
	text    strings.Builder
	byID    map[string]*inner
	key     [4]byte
	request call
}
type inner struct { name string; list []int; pointed, added int }
type call struct { wait chan int }
type local struct { last int }
type poller struct { name string; failures int }

func newServer() *server { s := &server{}; s.name = "a"; rand.Read(s.key[:]); return s }
func (s *server) write()  { s.text.WriteString("a"); changed["a"]++; limits.used = fixed["a"] }
func change(i *inner)     { i.list[0] = 1; p := &i.pointed; *p = 2; i.added++ }
func renamed(i *inner)    { copied := *i; copied.name = "b" }
func use(l *local)        { l.last = 1 }
func (p *poller) poll()   { p.failures++ }
func start(p *poller)     { go func() { p.poll() }() }
`

// stateOfExample are the names that a scan finds in stateExample.
const stateOfExample = "call changed guard inner.added inner.list inner.pointed limit.used " +
	"newServer() once poller.failures server.byID server.key server.mu server.text"

// State in memory is declared in state.tsv of its package, see "Shared and local state" in
// architecture.md.
func TestState_IsDeclared(t *testing.T) {
	t.Parallel()
	s := newStateScan(t, stateExample)
	s.brief["example.call"] = true
	declared := map[string]bool{}
	for pkg, dir := range s.packages {
		for name, class := range readState(t, filepath.Join("..", dir, "state.tsv")) {
			if !exists(pkg, name) {
				t.Errorf("%s/state.tsv: there is no %s", dir, name)
			}
			declared[dir+"."+name], s.brief[dir+"."+name] = true, class == "transient"
		}
	}

	s.scan()
	example := []string{}
	for name := range s.found {
		dir, rest, _ := strings.Cut(name, ".")
		switch {
		case dir == "example":
			example = append(example, rest)
		case !declared[name]:
			t.Errorf("%s is state in memory: declare it in %s/state.tsv", rest, dir)
		}
	}

	slices.Sort(example)
	if got := strings.Join(example, " "); got != stateOfExample {
		t.Errorf("found %s\n want %s", got, stateOfExample)
	}
}

// readState returns the classes of the names in a table; none if there is no table.
func readState(t *testing.T, path string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		servertest.Must(t, err)
	}

	classes := map[string]string{}
	for number, row := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		columns := strings.Split(row, "\t")
		switch {
		case number == 0 && (row == "" || row == "names\tclass\treason"):
			continue
		case len(columns) != 3 || columns[2] == "" || !stateClass.MatchString(columns[1]):
			t.Errorf("%s:%d: %q is not names, class and reason", path, number+1, row)
			continue
		}
		for name := range strings.FieldsSeq(columns[0]) {
			if classes[name] != "" {
				t.Errorf("%s:%d: %s is declared twice", path, number+1, name)
			}
			classes[name] = columns[1]
		}
	}

	return classes
}

var stateClass = regexp.MustCompile(`^(shared|local|row|transient)$`)

// exists reports whether a package has a type, variable, function, field or method.
func exists(pkg *types.Package, name string) bool {
	name, member, _ := strings.Cut(strings.TrimSuffix(name, "()"), ".")
	object := pkg.Scope().Lookup(name)
	if object == nil || member == "" {
		return object != nil
	}
	found, _, _ := types.LookupFieldOrMethod(object.Type(), true, pkg, member)
	return found != nil
}
