package copies

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
	"reeve/store/stall"
)

// installation is a database with files, and the identity of its recipient.
type installation struct {
	t        testing.TB
	dir      string
	options  store.Options
	db       *store.DB
	identity *age.X25519Identity
	contents map[string]bool
}

func newInstallation(t testing.TB, files int) *installation {
	t.Helper()
	in := &installation{t: t, dir: filepath.Join(t.TempDir(), "data"), contents: map[string]bool{}}
	var err error
	if in.identity, err = age.GenerateX25519Identity(); err != nil {
		t.Fatal(err)
	}
	in.options.Stream = &kv.StreamOptions{Recipients: []age.Recipient{in.identity.Recipient()}}
	if in.db, err = store.Open(in.dir, in.options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.db.Close() })
	for i := range files {
		in.put(fmt.Sprintf("file %d", i))
	}
	return in
}

// put creates a file whose content begins with its name.
func (in *installation) put(name string) store.ID {
	in.t.Helper()
	content := name + strings.Repeat(" some bytes", rand.IntN(20_000))
	u, err := in.db.NewUpload()
	if err != nil {
		in.t.Fatal(err)
	}
	defer u.Release()
	if _, err := io.WriteString(u, content); err != nil {
		in.t.Fatal(err)
	}
	digest, err := u.Finish()
	if err != nil {
		in.t.Fatal(err)
	}
	f := &store.File{Name: name, FileContent: store.FileContent{Kind: store.OtherFile, Size: int64(len(content)), Digest: digest}}
	if err := in.db.Update(store.System, func(tx *store.Tx) error { return store.Files.Create(tx, f) }); err != nil {
		in.t.Fatal(err)
	}
	in.contents[content] = true
	return f.ID
}

func (in *installation) repository(target Target, o Options) *Repository {
	in.t.Helper()
	o.Recipients = []age.Recipient{in.identity.Recipient()}
	r, err := Open(in.t.Context(), target, in.db, o)
	if err != nil {
		in.t.Fatal(err)
	}
	return r
}

// reopen opens the database, as after a restart.
func (in *installation) reopen() {
	in.t.Helper()
	if in.db != nil {
		if err := in.db.Close(); err != nil {
			in.t.Fatal(err)
		}
	}
	var err error
	if in.db, err = store.Open(in.dir, in.options); err != nil {
		in.t.Fatal(err)
	}
}

func (in *installation) copy(r *Repository) *Copy {
	in.t.Helper()
	if err := r.Copy(in.t.Context(), "1.2.3", unseen); err != nil {
		in.t.Fatal(err)
	}
	return scan(in.t, r).Copies[0]
}

func unseen(int64, int64) {}

func scan(t testing.TB, r *Repository) *Scan {
	t.Helper()
	s, err := r.Scan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// restored returns the contents of the files in what is restored from the newest copy, and how many
// are missing.
func restored(t testing.TB, target Target, identity age.Identity) (contents map[string]bool, missing int) {
	t.Helper()
	all, _, err := List(t.Context(), target, []age.Identity{identity})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d copies, %v", len(all), err)
	}
	path := filepath.Join(t.TempDir(), "copy.age")
	if err := Fetch(t.Context(), target, all[0], path); err != nil {
		t.Fatal(err)
	}
	open, err := Contents(t.Context(), target, all[0].Instance, []age.Identity{identity})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	done, err := store.RestoreContents(dir, path, []age.Identity{identity}, open, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return contentsIn(t, dir), done.Missing
}

// contentsIn returns the contents of the files in a data directory.
func contentsIn(t testing.TB, dir string) map[string]bool {
	t.Helper()
	db, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	contents := map[string]bool{}
	err = db.View(store.System, func(tx *store.Tx) error {
		for f, err := range store.Files.All(tx) {
			if err != nil {
				return err
			}
			r, err := db.OpenBlob(f.Digest)
			if err != nil {
				continue // it is missing
			}
			text, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			contents[string(text)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return contents
}

// examine restores an archive and returns what is in it.
func examine(_ context.Context, archive, dir string, identities []age.Identity) (int, *audit.Head, error) {
	done, err := store.RestoreContents(dir, archive, identities, func(kv.Content, int) (io.ReadCloser, error) {
		return nil, os.ErrNotExist
	}, store.Options{})
	return done.Records, done.LogHead, err
}

func directory(t testing.TB) Directory { return Directory(t.TempDir()) }

// TestCopy_RestoredWithIdentityAlone stores copies while files come and go, restores each with the
// identity and the target alone, and checks that contents are stored once.
func TestCopy_RestoredWithIdentityAlone(t *testing.T) {
	in, target := newInstallation(t, 5), directory(t)
	r := in.repository(target, Options{})
	in.copy(r)
	first := objects(t, target)
	if got, missing := restored(t, target, in.identity); !maps.Equal(got, in.contents) || missing != 0 {
		t.Errorf("%d of %d files, %d missing", len(got), len(in.contents), missing)
	}

	in.put("later")
	r = in.repository(target, Options{}) // the server starts again
	c := in.copy(r)
	if got, missing := restored(t, target, in.identity); !maps.Equal(got, in.contents) || missing != 0 {
		t.Errorf("%d of %d files, %d missing", len(got), len(in.contents), missing)
	}
	second := objects(t, target)
	if n := len(second) - len(first); n != 5 { // start, content, its index, data, manifest
		t.Errorf("%d new objects: %q", n, slices.Sorted(maps.Keys(second)))
	}
	if c.Manifest == nil || c.Files != 6 {
		t.Errorf("%+v", c)
	}
	s := scan(t, r)
	if len(s.Copies) != 2 || s.Copies[0].Name != c.Name || s.Copies[1].Own || !s.Copies[0].Own || !s.Other.IsZero() {
		t.Errorf("%+v", s)
	}
}

func objects(t testing.TB, target Target) map[string]int64 {
	t.Helper()
	all, err := target.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, o := range all {
		sizes[o.Name] = o.Size
	}
	return sizes
}

// TestCopy_ShowsNothing looks for the records of the installation in all that is stored.
func TestCopy_ShowsNothing(t *testing.T) {
	in, target := newInstallation(t, 3), directory(t)
	in.copy(in.repository(target, Options{}))
	digests := []string{"file 1", "some bytes", "secret.key", "data.db", "SQLite"}
	err := in.db.View(store.System, func(tx *store.Tx) error {
		for f, err := range store.Files.All(tx) {
			if err != nil {
				return err
			}
			digests = append(digests, f.Digest.String(), string(f.Digest[:]))
		}
		return nil
	})
	if err != nil || len(digests) < 8 {
		t.Fatal(err, len(digests))
	}
	for name := range objects(t, target) {
		content := disktest.ReadFile(t, target.path(name))
		for _, text := range digests {
			if bytes.Contains(content, []byte(text)) || strings.Contains(name, text) {
				t.Errorf("%s has %q", name, text)
			}
		}
	}
}

// TestCopy_OtherIdentity checks what a wrong identity is told.
func TestCopy_OtherIdentity(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	in.copy(in.repository(target, Options{}))
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	all, others, err := List(t.Context(), target, []age.Identity{other})
	if len(all) != 0 || others != 1 || err != nil {
		t.Errorf("%v, %d, %v", all, others, err)
	}
}

// faulty is a target with a fault in one of its operations.
type faulty struct {
	Target
	mu    sync.Mutex
	after int // operations until the fault; each read and write of bytes is one
}

var errFault = errors.New("the network has failed")

// step reports whether it is the operation with the fault, and those after it.
func (f *faulty) step() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after--
	return f.after < 0
}

func (f *faulty) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	if f.step() {
		return errFault
	}
	return f.Target.Put(ctx, name, size, &faultyReader{f, content})
}

func (f *faulty) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if f.step() {
		return nil, errFault
	}
	in, err := f.Target.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{&faultyReader{f, in}, in}, nil
}

func (f *faulty) List(ctx context.Context, prefix string) ([]Object, error) {
	if f.step() {
		return nil, errFault
	}
	return f.Target.List(ctx, prefix)
}

func (f *faulty) Delete(ctx context.Context, name string) error {
	if f.step() {
		return errFault
	}
	return f.Target.Delete(ctx, name)
}

type faultyReader struct {
	f *faulty
	io.Reader
}

func (r *faultyReader) Read(p []byte) (int, error) {
	if r.f.step() {
		return 0, errFault
	}
	return r.Reader.Read(p)
}

// TestCopy_InterruptedAnywhere lets a copy and the deletion of older ones fail at each of their
// operations. Every copy that is in the list can be restored, and the next attempt succeeds.
func TestCopy_InterruptedAnywhere(t *testing.T) {
	in, first := newInstallation(t, 3), directory(t)
	in.copy(in.repository(first, Options{}))
	before := maps.Clone(in.contents)
	in.put("later")
	target, failed, step := first, 0, disktest.Size(7, 3, 1)
	for after := 0; ; after += step {
		target = directory(t)
		if err := os.CopyFS(string(target), os.DirFS(string(first))); err != nil {
			t.Fatal(err)
		}
		f := &faulty{Target: target, after: 1 << 30}
		r := in.repository(f, Options{})
		f.after = after
		err := r.Copy(t.Context(), "1.2.3", unseen)
		if err == nil {
			var s *Scan
			if s, err = r.Scan(t.Context()); err == nil {
				_, err = r.Prune(t.Context(), s, Keep{Daily: 1}, time.UTC)
			}
		}
		got, missing := restored(t, target, in.identity)
		if missing != 0 || !maps.Equal(got, in.contents) && !maps.Equal(got, before) {
			t.Fatalf("after %d operations (%v): %d files, %d missing", after, err, len(got), missing)
		}
		if err == nil {
			break
		}
		failed++
	}
	if failed < 10 {
		t.Errorf("only %d interruptions", failed)
	}
	r := in.repository(target, Options{})
	in.copy(r)
	if got, missing := restored(t, target, in.identity); !maps.Equal(got, in.contents) || missing != 0 {
		t.Errorf("%d of %d files, %d missing", len(got), len(in.contents), missing)
	}
}

// TestCopy_DamageIsFound damages each kind of object in several ways. A proof, or a restore, finds
// each; the next copy stores contents again that were lost.
func TestCopy_DamageIsFound(t *testing.T) {
	in := newInstallation(t, 3)
	for kind, matches := range map[string]func(string) bool{
		"records":  func(n string) bool { return strings.HasSuffix(n, dataSuffix) },
		"manifest": func(n string) bool { return strings.HasSuffix(n, listSuffix) },
		"content":  func(n string) bool { return strings.Contains(n, "/files/") && !strings.HasSuffix(n, indexSuffix) },
		"index":    func(n string) bool { return strings.HasSuffix(n, indexSuffix) },
	} {
		for damage, change := range map[string]func(path string, size int64) error{
			"deleted": func(path string, _ int64) error { return os.Remove(path) },
			"emptied": func(path string, _ int64) error { return os.Truncate(path, 0) },
			"cut off": func(path string, size int64) error { return os.Truncate(path, size-1) },
			"longer":  func(path string, size int64) error { return os.Truncate(path, size+1) },
			"flipped": func(path string, size int64) error { return flip(path, rand.Int64N(size)) },

			"without its recipient": func(path string, _ int64) error { return withStanza(path, "") },
			"with another recipient": func(path string, _ int64) error {
				return withStanza(path, "-> X25519 "+strings.Repeat("A", 43)+"\n"+strings.Repeat("A", 43)+"\n")
			},
		} {
			t.Run(kind+" "+damage, func(t *testing.T) {
				target := directory(t)
				r := in.repository(target, Options{})
				c := in.copy(r)
				for name, size := range objects(t, target) {
					if matches(name) {
						if err := change(target.path(name), size); err != nil {
							t.Fatal(err)
						}
						break
					}
				}
				r.known = map[string]*Copy{} // as after a start, but for the identity in memory
				s := scan(t, r)
				found := len(s.Copies) == 0 || s.Copies[0].Manifest == nil
				if !found {
					_, err := r.Prove(t.Context(), s, c, t.TempDir(), 1000, examine)
					found = err != nil
				}
				if !found {
					t.Error("it was not found")
				}

				if kind != "content" { // the right size of one can hide its damage from a process that has proven nothing
					r = in.repository(target, Options{})
				}
				c = in.copy(r)
				if _, err := r.Prove(t.Context(), scan(t, r), c, t.TempDir(), 1000, examine); err != nil {
					t.Errorf("the next copy: %v", err)
				}
				c = in.copy(in.repository(target, Options{})) // after a restart
				if c.Files != 3 {
					t.Errorf("%d files", c.Files)
				}
				if got, missing := restored(t, target, in.identity); !maps.Equal(got, in.contents) || missing != 0 {
					t.Errorf("the next copy: %d of %d files, %d missing", len(got), len(in.contents), missing)
				}
			})
		}
	}
}

// withStanza replaces the first stanza of a recipient in the header of an object.
func withStanza(path, stanza string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := x25519.FindIndex(text)
	if at == nil {
		return errors.New("it has no recipient")
	}
	return os.WriteFile(path, slices.Concat(text[:at[0]], []byte(stanza), text[at[1]:]), 0o600)
}

var x25519 = regexp.MustCompile(`(?m)^-> X25519 .*\n.*\n`)

func flip(path string, at int64) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text[at] ^= 1
	return os.WriteFile(path, text, 0o600)
}

// TestPrune_DeletesUnnamed checks that what no copy names is deleted after a day, and nothing else.
func TestPrune_DeletesUnnamed(t *testing.T) {
	in, target := newInstallation(t, 2), directory(t)
	if err := in.db.SetStream(nil); err != nil { // commits keep contents longer, see TestPrune_KeepsWindow
		t.Fatal(err)
	}
	in.put("deleted later")
	r := in.repository(target, Options{})
	in.copy(r)
	for content := range in.contents {
		if strings.HasPrefix(content, "deleted later") {
			in.remove(content)
			for begun := time.Now(); in.db.HasBlob(sha256.Sum256([]byte(content))); time.Sleep(time.Millisecond) {
				if time.Since(begun) > time.Minute { // it is deleted in the background
					t.Fatal("the content of a deleted file stays")
				}
			}
		}
	}
	old := time.Now().Add(-48 * time.Hour)
	all := objects(t, target)
	for name := range all {
		if err := os.Chtimes(target.path(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	r = in.repository(target, Options{})
	in.copy(r)
	for range 2 { // the second time, there is nothing to do
		if _, err := r.Prune(t.Context(), scan(t, r), Keep{Daily: 1}, time.UTC); err != nil {
			t.Fatal(err)
		}
	}
	got, missing := restored(t, target, in.identity)
	if !maps.Equal(got, in.contents) || missing != 0 {
		t.Errorf("%d files, %d missing", len(got), missing)
	}
	// Start, data and manifest of the second copy; two contents and their index of the first.
	if left := objects(t, target); len(left) != 6 {
		t.Errorf("left: %q", slices.Sorted(maps.Keys(left)))
	}
}

// TestPrune_DamagedTakesNoPlace checks that a damaged copy does not stay in place of a sound one of
// the same day.
func TestPrune_DamagedTakesNoPlace(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	sound := in.copy(r)
	damaged := in.copy(r)
	if err := flip(target.path(damaged.Name+listSuffix), 300); err != nil {
		t.Fatal(err)
	}
	r = in.repository(target, Options{})
	s := scan(t, r)
	if s.Copies[0].Fault == nil {
		t.Fatalf("%+v", s.Copies[0])
	}
	if _, err := r.Prune(t.Context(), s, Keep{Daily: 1}, time.UTC); err != nil {
		t.Fatal(err)
	}
	left := scan(t, r).Copies
	if len(left) != 2 || left[1].Name != sound.Name {
		t.Errorf("%d copies are left", len(left))
	}
	newest := in.copy(r)
	if _, err := r.Prove(t.Context(), scan(t, r), newest, t.TempDir(), 1, examine); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Prune(t.Context(), scan(t, r), Keep{Daily: 1}, time.UTC); err != nil {
		t.Fatal(err)
	}
	if left := scan(t, r).Copies; len(left) != 1 || left[0].Name != newest.Name {
		t.Errorf("%d copies are left", len(left))
	}
}

// TestProve_OpensContents has an index name an object that is whole, but has another content or can't be opened to its
// end. One of an earlier version, which only the identities open, counts by its hash.
func TestProve_OpensContents(t *testing.T) {
	for name, test := range map[string]struct {
		memory, cut bool
		content     string
		sound       bool
	}{
		"another content":                     {true, false, "something else", false},
		"cut off before it was encrypted":     {true, true, "", false},
		"for the identities alone":            {false, false, "", true},
		"another one for the identities only": {false, false, "something else", true}, // nothing here can know
	} {
		t.Run(name, func(t *testing.T) {
			in, target := newInstallation(t, 1), directory(t)
			r := in.repository(target, Options{})
			in.copy(r)
			s := scan(t, r)
			content := test.content
			if content == "" {
				content = slices.Collect(maps.Keys(in.contents))[0]
			}
			recipients := r.options.Recipients
			if test.memory {
				recipients = with(recipients, r.memory.Recipient())
			}
			var sealed bytes.Buffer
			out, err := age.Encrypt(&sealed, recipients...)
			if err == nil {
				_, err = io.WriteString(out, content)
			}
			if err = errors.Join(err, out.Close()); err != nil {
				t.Fatal(err)
			}
			text := sealed.Bytes()
			if test.cut {
				text = text[:len(text)-1]
			}
			for old := range s.indexes {
				list := r.indexes[old]
				one := &list.Contents[0]
				one.Stored = Stored{r.start + filesName + randomName(), int64(len(text)), blob.Digest(sha256.Sum256(text))}
				if err := target.Put(t.Context(), one.Stored.Object, one.Stored.Size, bytes.NewReader(text)); err != nil {
					t.Fatal(err)
				}
				_, err := r.quietly().storeJSON(t.Context(), r.start+filesName+randomName()+indexSuffix, list)
				if err = errors.Join(err, os.Remove(target.path(old))); err != nil {
					t.Fatal(err)
				}
			}
			s = scan(t, r)
			_, err = r.Prove(t.Context(), s, s.Copies[0], t.TempDir(), 10, examine)
			if (err == nil) != test.sound || err != nil && !errors.As(err, &LostError{}) {
				t.Error(err)
			}
		})
	}
}

// TestProve_ComparesWithManifest: a copy is not proven if it has another number of records, or another
// newest entry of the change log, than its manifest.
func TestProve_ComparesWithManifest(t *testing.T) {
	in, target := newInstallation(t, 3), directory(t)
	r := in.repository(target, Options{})
	c := in.copy(r)
	if c.Manifest.Records < 3 {
		t.Fatalf("the manifest has %d records", c.Manifest.Records)
	}
	prove := func(records int, change func(*audit.Head) *audit.Head) error {
		_, err := r.Prove(t.Context(), scan(t, r), c, t.TempDir(), 1, func(ctx context.Context, archive, dir string, identities []age.Identity) (int, *audit.Head, error) {
			n, head, err := examine(ctx, archive, dir, identities)
			return n + records, change(head), err
		})
		return err
	}
	same := func(h *audit.Head) *audit.Head { return h }
	for name, c := range map[string]struct {
		records int
		change  func(*audit.Head) *audit.Head
		want    string
	}{
		"a record less": {-1, same, "records, not"},
		"a record more": {1, same, "records, not"},
		"another head":  {0, func(h *audit.Head) *audit.Head { other := *h; other.Seq++; return &other }, "change log ends with"},
		"no head":       {0, func(*audit.Head) *audit.Head { return nil }, "change log ends with"},
	} {
		if err := prove(c.records, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := prove(0, same); err != nil {
		t.Error(err)
	}
}

// TestPatient_Stalled ends each operation of a target that does not respond.
func TestPatient_Stalled(t *testing.T) {
	target := patient{stalled{}, 10 * time.Millisecond}
	_, listing := target.List(t.Context(), "")
	_, getting := target.Get(t.Context(), "a")
	for _, err := range []error{listing, getting, target.Delete(t.Context(), "a"),
		target.Put(t.Context(), "a", 1, strings.NewReader("x"))} {
		if !errors.Is(err, stall.ErrStalled) {
			t.Error(err)
		}
	}
}

// stalled is a target that does not respond.
type stalled struct{}

func (stalled) Put(ctx context.Context, _ string, _ int64, _ io.Reader) error {
	<-ctx.Done()
	return ctx.Err()
}

func (stalled) Get(ctx context.Context, _ string) (io.ReadCloser, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stalled) List(ctx context.Context, _ string) ([]Object, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stalled) Delete(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestPrune_AfterKeyRotation checks that what was sealed with an earlier secret.key is deleted with
// the last copy that may need it, and not before.
func TestPrune_AfterKeyRotation(t *testing.T) {
	in, target := newInstallation(t, 2), directory(t)
	in.copy(in.repository(target, Options{}))
	if err := in.db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.RotateKey(in.dir, store.Options{}); err != nil {
		t.Fatal(err)
	}
	var err error
	if in.db, err = store.Open(in.dir, store.Options{}); err != nil {
		t.Fatal(err)
	}

	old := time.Now().Add(-48 * time.Hour)
	for name := range objects(t, target) {
		if err := os.Chtimes(target.path(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	before := objects(t, target)
	r := in.repository(target, Options{})
	in.copy(r)
	if _, err := r.Prune(t.Context(), scan(t, r), Keep{Hourly: 10, Daily: 10}, time.UTC); err != nil {
		t.Fatal(err)
	}
	for name := range before {
		if _, there := objects(t, target)[name]; !there && strings.Contains(name, "/files/") {
			t.Errorf("%s was deleted, and a kept copy may need it", name)
		}
	}
	for range 2 {
		if _, err := r.Prune(t.Context(), scan(t, r), Keep{}, time.UTC); err != nil {
			t.Fatal(err)
		}
	}
	for name := range before {
		if _, there := objects(t, target)[name]; there {
			t.Errorf("%s is left", name)
		}
	}
	if got, missing := restored(t, target, in.identity); !maps.Equal(got, in.contents) || missing != 0 {
		t.Errorf("%d files, %d missing", len(got), missing)
	}
}

// TestPrune_NotBesideAnother checks that two servers with the same data delete nothing.
func TestPrune_NotBesideAnother(t *testing.T) {
	in, target, dir := newInstallation(t, 1), directory(t), filepath.Join(t.TempDir(), "data")
	if err := errors.Join(in.db.Close(), os.CopyFS(dir, os.DirFS(in.dir))); err != nil {
		t.Fatal(err)
	}
	in.restart()
	other := in.another(dir)
	one := in.repository(target, Options{})
	in.copy(one)
	two := other.repository(target, Options{})
	other.copy(two)
	in.copy(one)
	for _, r := range []*Repository{one, two} {
		s := scan(t, r)
		if s.Other.IsZero() {
			t.Error("the other server is not seen")
		}
		if n, err := r.Prune(t.Context(), s, Keep{}, time.UTC); n != 0 || err != nil {
			t.Errorf("%d copies were deleted, %v", n, err)
		}
	}
}

// TestKeep_Choose compares the choice with the rule, for random times.
func TestKeep_Choose(t *testing.T) {
	rng := disktest.Random(t)
	for range disktest.Size(100, 1000, 10_000) {
		keep := Keep{Hourly: rng.IntN(5), Daily: rng.IntN(5), Weekly: rng.IntN(5), Monthly: rng.IntN(5)}
		times := make([]time.Time, rng.IntN(50))
		at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
		for i := range times {
			at = at.Add(-time.Duration(rng.IntN(40*3600)) * time.Second)
			times[i] = at
		}
		kept := keep.choose(times, time.UTC)
		newestOf := func(most int, same func(a, b time.Time) bool) map[int]bool {
			all := map[int]bool{}
			for i := range times {
				if i == 0 || !same(times[i], times[i-1]) {
					if len(all) < most {
						all[i] = true
					}
				}
			}
			return all
		}
		hours := newestOf(keep.Hourly, func(a, b time.Time) bool { return a.Truncate(time.Hour).Equal(b.Truncate(time.Hour)) })
		days := newestOf(keep.Daily, func(a, b time.Time) bool { return a.Format("0102") == b.Format("0102") && a.Year() == b.Year() })
		weeks := newestOf(keep.Weekly, func(a, b time.Time) bool {
			monday := func(t time.Time) string {
				return t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format(time.DateOnly)
			}
			return monday(a) == monday(b)
		})
		months := newestOf(keep.Monthly, func(a, b time.Time) bool { return a.Format("2006 Jan") == b.Format("2006 Jan") })
		for i := range times {
			want := i == 0 || hours[i] || days[i] || weeks[i] || months[i]
			if kept[i] != want {
				t.Fatalf("%+v keeps %v of\n%v", keep, kept, times)
			}
		}
	}
}
