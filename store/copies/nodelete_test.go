package copies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// undeletable is a target that deletes nothing, like a locked bucket, and may alter what it stores.
type undeletable struct {
	Target
	deleted atomic.Int64 // attempts
	alter   atomic.Pointer[string]
}

func (u *undeletable) Delete(context.Context, string) error {
	u.deleted.Add(1)
	return errors.New("access denied")
}

func (u *undeletable) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	if what := u.alter.Load(); what != nil && strings.Contains(name, *what) {
		text, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		text[len(text)/2] ^= 1
		return u.Target.Put(ctx, name, size, bytes.NewReader(text))
	}
	return u.Target.Put(ctx, name, size, content)
}

// TestNoDelete makes copies, stores commits and lists of erasures, and proves and prunes where nothing may be
// deleted, also after objects that were altered while they were stored.
func TestNoDelete(t *testing.T) {
	t.Parallel()
	to, in := &undeletable{Target: directory(t)}, newInstallation(t, 3)
	erased := "one\n"
	r := in.repository(to, Options{NoDelete: true, Erased: func() ([]byte, error) { return []byte(erased), nil }})
	in.copy(r)
	for i, what := range []string{"", filesName, dataSuffix, indexSuffix, listSuffix, streamName, erasedSuffix} {
		in.put(fmt.Sprint("file ", i))
		erased += fmt.Sprint(i, "\n")
		failed := error(nil)
		if what != "" {
			to.alter.Store(&what)
			_, ship := r.Ship(t.Context())
			failed = errors.Join(ship, r.Settle(t.Context()), r.Copy(t.Context(), "1.2.3", unseen))
			if failed == nil || !strings.Contains(failed.Error(), "another one when it is read back") || strings.Contains(failed.Error(), "access denied") {
				t.Errorf("%s is altered: %v", what, failed)
			}
			to.alter.Store(nil)
		}
		log := in.log()
		if err := log.Begin(log.Head()); err != nil { // ends the segment, which could replace its parts
			t.Fatal(err)
		}
		in.put(fmt.Sprint("file after ", i)) // a part that was altered keeps its name until another commit
		in.copy(r)
		in.ship(r)
		s := scan(t, r)
		if _, err := r.Prove(t.Context(), s, s.Copies[0], t.TempDir(), 100, examine); err != nil {
			t.Errorf("after %q: %v", what, err)
		}
		if _, err := r.Prune(t.Context(), scan(t, r), Keep{Daily: 1}, time.UTC); err != nil {
			t.Error(err)
		}
		dir, done, err := restoreMoment(t, to, Moment{}, in.identity)
		if err != nil {
			t.Fatalf("after %q: %v", what, err)
		}
		if got := contentsIn(t, dir); len(got) != len(in.contents) || done.Missing > 0 {
			t.Errorf("after %q: %d of %d files, %d missing", what, len(got), len(in.contents), done.Missing)
		}
	}
	if n := to.deleted.Load(); n > 0 {
		t.Errorf("%d objects were to be deleted", n)
	}
	lines, unread, err := erasedAt(t, in, to)
	if err != nil || unread > 0 || strings.Join(lines, "\n")+"\n" != erased {
		t.Errorf("%q, %d can't be read, %v; not %q", lines, unread, err, erased)
	}
}
