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
