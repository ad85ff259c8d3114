package kv

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"reeve/store/disk/disktest"
	"reeve/store/seal"
	"reeve/store/stream"
)

// TestCommitLog_Upgrade joins with a base copy of an older schema and the entries after it, which are
// applied before the migrations run. Without entries, such a base copy is refused.
func TestCommitLog_Upgrade(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: older()})
	for i := range 10 {
		mustCreate(t, s.dbs[i%2], fmt.Sprint("before ", i))
	}
	s.same()
	base, key := archiveOf(t, s.dbs[0]), disktest.ReadFile(t, filepath.Join(s.dirs[0], keyName))
	instance := s.dbs[0].Instance()
	for i := range 10 {
		mustCreate(t, s.dbs[i%2], fmt.Sprint("after ", i))
	}
	s.same()
	last, err := s.log.Head(t.Context())
	noErr(t, err)
	var identities []age.Identity
	keys, err := DerivedKeys(s.dirs[0], instance, CommitLogKey)
	noErr(t, err)
	for _, key := range keys {
		identity, err := seal.NewKey(key, CommitLogStanza, "")
		noErr(t, err)
		identities = append(identities, identity)
	}
	opener := stream.NewOpener(identities...)
	enough := errors.New("enough")
	entries := func(from stream.Head) iter.Seq2[*stream.Entry, error] {
		return func(yield func(*stream.Entry, error) bool) {
			err := s.log.Follow(t.Context(), from, func(sealed stream.SealedEntry) error {
				e, err := opener.Open(sealed.Sealed)
				if !yield(e, err) || sealed.Number == last.Number {
					return enough
				}
				return nil
			})
			if err != enough {
				t.Error(err)
			}
		}
	}

	same := filepath.Join(t.TempDir(), "same")
	noErr(t, os.Mkdir(same, 0o700))
	noErr(t, os.WriteFile(filepath.Join(same, keyName), key, 0o600))
	if _, err := Join(same, base, nil, entries, Options{Schema: older()}); !errors.Is(err, ErrCurrent) {
		t.Errorf("a base copy of the same schema: %v", err)
	}
	if HasDatabase(same) {
		t.Error("it was taken")
	}
	newerOptions := Options{Schema: newer("first")}
	dir := filepath.Join(t.TempDir(), "data")
	noErr(t, os.Mkdir(dir, 0o700))
	noErr(t, os.WriteFile(filepath.Join(dir, keyName), key, 0o600))
	if _, err := Join(dir, base, nil, nil, newerOptions); err == nil || !strings.Contains(err.Error(), "reeve cluster upgrade") {
		t.Errorf("a base copy of an older schema: %v", err)
	}
	if head, err := CommitPosition(s.dirs[0], s.options); err == nil {
		t.Errorf("the position of data that are in use: %v", head)
	}
	done, err := Join(dir, base, nil, entries, newerOptions)
	noErr(t, err)
	if done.Applied.Number != last.Number || done.Applied.Hash != last.Hash {
		t.Errorf("applied up to %v, not %v", done.Applied, last)
	}
	if head, err := CommitPosition(dir, newerOptions); err != nil || head != (stream.Head{}) {
		t.Errorf("the log does not continue migrated records, and their position is %v: %v", head, err)
	}
	if _, err := Open(dir, newerOptions); err == nil {
		t.Error("the data of the cluster were opened without it")
	}
	newerOptions.LeaveCommitLog = true
	db := open(t, dir, newerOptions)
	view(t, db, func(tx *Tx) error {
		kept, err := keepers.Count(tx)
		migrated, otherErr := beasts.Count(tx)
		if kept != 20 || migrated != 1 {
			t.Errorf("%d of 20 records, and %d of 1 that the migration has made", kept, migrated)
		}
		return errors.Join(err, otherErr)
	})
	mustVerify(t, db)

	shut(t, s.dbs[1])
	options := Options{Schema: newer("first"), CommitLog: &CommitLogOptions{Log: s.log}}
	if db, err := Open(s.dirs[1], options); err == nil {
		shut(t, db)
		t.Error("a program with another schema has opened the data")
	} else if !errors.Is(err, ErrOtherCopy) {
		t.Errorf("a program with another schema: %v", err)
	}
	s.open(1)
}

// TestCommitLog_OlderProgram: a program that is older than the cluster says that it is to be replaced, since an upgrade
// of the cluster would not help.
func TestCommitLog_OlderProgram(t *testing.T) {
	s := newNodes(t, 1, Options{Schema: newer("first"), Version: "9.8.7"})
	base, key := archiveOf(t, s.dbs[0]), disktest.ReadFile(t, filepath.Join(s.dirs[0], keyName))
	dir := t.TempDir()
	noErr(t, os.WriteFile(filepath.Join(dir, keyName), key, 0o600))
	_, err := Join(dir, base, nil, nil, Options{Schema: older()})
	if err == nil || !strings.Contains(err.Error(), "install reeve 9.8.7 or a newer version") || strings.Contains(err.Error(), "upgrade") {
		t.Errorf("a base copy of a newer schema: %v", err)
	}
}
