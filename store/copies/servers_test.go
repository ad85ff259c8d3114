package copies

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/store"
)

// another returns an installation with the data of a directory.
func (in *installation) another(dir string) *installation {
	in.t.Helper()
	other := &installation{t: in.t, dir: dir, options: in.options, identity: in.identity, contents: map[string]bool{}}
	var err error
	if other.db, err = store.Open(dir, in.options); err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(func() { other.db.Close() })
	return other
}

// remedies returns what a refusal says to name.
func remedies(t testing.TB, err error) []string {
	t.Helper()
	if err == nil {
		t.Fatal("nothing is refused")
	}
	_, text, _ := strings.Cut(err.Error(), "--copy ")
	return strings.Split(text, " or --copy ")
}

// TestBase_TwoServers starts an old server again after its data have moved, by a restore and by copying the
// directory. The newest copy is that of the old server then, so nothing is chosen.
func TestBase_TwoServers(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"restore", "directory"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			to, in := directory(t), newInstallation(t, 3)
			in.copy(in.repository(to, Options{}))
			moved := time.Now()
			dir := filepath.Join(t.TempDir(), "new")
			if by == "restore" {
				var err error
				if dir, _, err = restoreMoment(t, to, Moment{}, in.identity); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := in.db.Close(); err != nil {
					t.Fatal(err)
				}
				if err := os.CopyFS(dir, os.DirFS(in.dir)); err != nil {
					t.Fatal(err)
				}
			}
			next := in.another(dir)
			r := next.repository(to, Options{})
			next.put("after the move")
			own := next.copy(r)
			if by == "directory" {
				in.restart()
			}
			identities := []age.Identity{in.identity}
			list := func(prefix string) []*Manifest {
				all, _, err := List(t.Context(), to, identities)
				if err != nil {
					t.Fatal(err)
				}
				return slices.DeleteFunc(all, func(m *Manifest) bool { return !strings.HasPrefix(m.Name(), prefix) })
			}
			if m, err := (Moment{}).Base(list("")); err != nil || m.Name() != own.Name {
				t.Errorf("after the move: %v, %v", m, err)
			}

			old := in.copy(in.repository(to, Options{}))
			all := list("")
			if len(all) != 3 {
				t.Fatalf("%d copies", len(all))
			}
			for _, m := range []Moment{{}, {At: time.Now()}, {Before: all[1].LogHead.Seq}} {
				_, err := m.Base(all)
				names := remedies(t, err)
				if len(names) != 2 {
					t.Fatal(err)
				}
				for i, want := range []string{old.Name, own.Name} {
					chosen, err := (Moment{}).Base(list(names[i] + "/"))
					if err != nil || chosen.Name() != want {
						t.Errorf("--copy %s: %v, %v, not %s", names[i], chosen, err, want)
					}
				}
			}
			if m, err := (Moment{At: moved}).Base(all); err != nil || m.Name() == own.Name {
				t.Errorf("before the move: %v, %v", m, err)
			}
		})
	}
}

// TestBase_RestoredElsewhere restores the data of a running server elsewhere, where copies go to the same
// target, and the running server goes on: what it has stored since is not left out without a word.
func TestBase_RestoredElsewhere(t *testing.T) {
	t.Parallel()
	to, in := directory(t), newInstallation(t, 3)
	r := in.repository(to, Options{})
	in.copy(r)
	dir, _, err := restoreMoment(t, to, Moment{}, in.identity)
	if err != nil {
		t.Fatal(err)
	}
	trial := in.another(dir)
	own := trial.copy(trial.repository(to, Options{}))
	if all, _, err := List(t.Context(), to, []age.Identity{in.identity}); err != nil {
		t.Fatal(err)
	} else if m, err := (Moment{}).Base(all); err != nil || m.Name() != own.Name {
		t.Errorf("while the other server has done nothing: %v, %v", m, err)
	}

	in.put("after the trial")
	in.ship(r)
	_, _, err = restoreMoment(t, to, Moment{}, in.identity)
	names := remedies(t, err)
	if len(names) != 2 || names[0] != generationOf(own.Name) || !strings.HasPrefix(r.start, names[1]+"/") {
		t.Fatal(err)
	}
	all, _, err := List(t.Context(), to, []age.Identity{in.identity})
	if err != nil {
		t.Fatal(err)
	}
	named := slices.DeleteFunc(slices.Clone(all), func(m *Manifest) bool { return !strings.HasPrefix(m.Name(), names[1]+"/") })
	m, err := (Moment{}).Base(named)
	if err != nil {
		t.Fatal(err)
	}
	commits, err := CommitsAfter(t.Context(), to, m, all, Moment{}, []age.Identity{in.identity})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range commits.Entries(t.Context())(*m.Stream) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		t.Error("the commits since are not found")
	}
}

// TestBase_NodesTakeTurns: nodes whose clocks differ store copies in turns.
func TestBase_NodesTakeTurns(t *testing.T) {
	t.Parallel()
	to, in := directory(t), newInstallation(t, 1)
	dir := filepath.Join(t.TempDir(), "other")
	in.copy(in.repository(to, Options{Nodes: true}))
	if err := in.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(in.dir)); err != nil {
		t.Fatal(err)
	}
	in.restart()
	one, other := in.repository(to, Options{Nodes: true}), in.another(dir)
	in.copy(one)
	other.copy(other.repository(to, Options{Nodes: true}))
	newest := in.copy(one) // as if a clock were behind: its first copy is before the other's
	all, _, err := List(t.Context(), to, []age.Identity{in.identity})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := (Moment{}).Base(all); err != nil || m.Name() != newest.Name {
		t.Errorf("%v, %v", m, err)
	}
	all[0].Nodes = false
	if _, err := (Moment{}).Base(all); err == nil {
		t.Error("two servers that are not nodes are not noticed")
	}
}

// TestOneLine_CopiedDirectory runs two servers with copies of one directory. The last copy does not follow
// from the other server's commits, which a restore would lose.
func TestOneLine_CopiedDirectory(t *testing.T) {
	t.Parallel()
	to, in := directory(t), newInstallation(t, 2)
	in.copy(in.repository(to, Options{}))
	if err := in.db.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := os.CopyFS(dir, os.DirFS(in.dir)); err != nil {
		t.Fatal(err)
	}
	line := func() error {
		identities := []age.Identity{in.identity}
		all, _, err := List(t.Context(), to, identities)
		if err != nil {
			t.Fatal(err)
		}
		m, err := (Moment{}).Base(all)
		if err != nil {
			t.Fatal(err)
		}
		return OneLine(t.Context(), to, m, all, identities)
	}
	next := in.another(dir)
	r := next.repository(to, Options{})
	next.put("at the new machine")
	next.ship(r)
	next.copy(r)
	if err := line(); err != nil {
		t.Errorf("one server after the other: %v", err)
	}

	in.restart()
	old := in.repository(to, Options{})
	in.put("at the old machine")
	in.put("once more")
	in.ship(old)
	in.copy(old)
	names := remedies(t, line())
	if len(names) != 2 || names[0]+"/" != r.start || names[1]+"/" != old.start {
		t.Errorf("%q, not %s and %s", names, r.start, old.start)
	}
}

// TestScan_Previous restores a proven copy: it is no proof for the server that goes on with its data.
func TestScan_Previous(t *testing.T) {
	t.Parallel()
	to, in := directory(t), newInstallation(t, 3)
	r := in.repository(to, Options{})
	in.copy(r)
	if _, err := r.Prove(t.Context(), scan(t, r), scan(t, r).Copies[0], t.TempDir(), 1, examine); err != nil {
		t.Fatal(err)
	}
	if c := scan(t, r).Copies[0]; c.Previous || c.Proof == nil {
		t.Errorf("%+v", c)
	}
	dir, _, err := restoreMoment(t, to, Moment{}, in.identity)
	if err != nil {
		t.Fatal(err)
	}
	next := in.another(dir)
	r = next.repository(to, Options{})
	next.copy(r)
	if all := scan(t, r).Copies; len(all) != 2 || all[0].Previous || all[0].Proof != nil || !all[1].Previous || all[1].Proof == nil {
		t.Errorf("%+v", all)
	}
}
