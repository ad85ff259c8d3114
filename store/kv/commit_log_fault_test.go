package kv

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"go.etcd.io/bbolt"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/stream"
	"reeve/store/stream/streamtest"
)

// number returns the number of the last entry of the log.
func (s *nodes) number() uint64 {
	s.t.Helper()
	last, err := s.log.Head(s.t.Context())
	noErr(s.t, err)
	return last.Number
}

// TestCommitLog_EntriesThatDontFit lets a node receive entries that it must not apply: it stops to apply
// and to write, and says why. The others go on.
func TestCommitLog_EntriesThatDontFit(t *testing.T) {
	damage := func(change func(*stream.SealedEntry)) func(s *nodes) {
		return func(s *nodes) { s.log.Change(change) }
	}
	for name, test := range map[string]struct {
		damage func(s *nodes)
		says   string
	}{
		"bit":          {damage(func(e *stream.SealedEntry) { e.Sealed[len(e.Sealed)-1] ^= 1 }), "can't be decrypted"},
		"cut off":      {damage(func(e *stream.SealedEntry) { e.Sealed = e.Sealed[:len(e.Sealed)-3] }), "cut off"},
		"empty":        {damage(func(e *stream.SealedEntry) { e.Sealed = nil }), "cut off"},
		"gap":          {damage(func(e *stream.SealedEntry) { e.Number++ }), "came after entry"},
		"hash":         {sealedAgain(func(e *stream.Entry) { e.Prev[0] ^= 1 }), "does not follow"},
		"epoch":        {sealedAgain(func(e *stream.Entry) { e.Epoch = "OTHER" }), "says that it is another one"},
		"installation": {sealedAgain(func(e *stream.Entry) { e.Instance = "other" }), "says that it is another one"},
		"schema":       {sealedAgain(func(e *stream.Entry) { e.Schema++ }), "has schema"},
		"format":       {sealedAgain(func(e *stream.Entry) { e.Format++ }), "newer program"},
		"old value":    {sealedAgain(func(e *stream.Entry) { e.Buckets[0].Rows[0].Old ^= 1 }), "replaces another value"},
		"local bucket": {sealedAgain(func(e *stream.Entry) { e.Buckets[0].Name = localBucket }), "changes the bucket"},
		"no bucket":    {sealedAgain(func(e *stream.Entry) { e.Buckets[0].Name = "none" }), "changes the bucket"},
		"position": {sealedAgain(func(e *stream.Entry) {
			e.Buckets[0].Name, e.Buckets[0].Rows[0].Key = "_meta", []byte("commit")
		}), "changes the position"},
		"forgotten": {func(s *nodes) { s.log.Forget(s.number()) }, "was removed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newNodes(t, 2, Options{Schema: loggedZoo()})
			mustCreate(t, s.dbs[0], "one")
			s.same()
			shut(t, s.dbs[1])
			mustCreate(t, s.dbs[0], "two")
			test.damage(s)

			options := s.options
			options.CommitLog = &CommitLogOptions{Log: s.log, Author: "node 1"}
			before := sharedRowsIn(t, filepath.Join(s.dirs[1], dataName))
			db, err := Open(s.dirs[1], options)
			if err == nil {
				shut(t, db)
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v does not say %q", err, test.says)
			}
			compareRows(t, sharedRowsIn(t, filepath.Join(s.dirs[1], dataName)), before)
			mustCreate(t, s.dbs[0], "three")
		})
	}
}

// sealedAgain returns a function that changes the last entry of the log, and encrypts it again.
func sealedAgain(change func(*stream.Entry)) func(s *nodes) {
	return func(s *nodes) {
		author := s.dbs[0].commits
		s.log.Change(func(sealed *stream.SealedEntry) {
			e, err := author.opener.Open(sealed.Sealed)
			noErr(s.t, err)
			change(e)
			text, err := e.Encode()
			noErr(s.t, err)
			sealed.Sealed, err = author.sealer.Seal(sealed.Number, text)
			noErr(s.t, err)
		})
	}
}

// TestCommitLog_ForgottenEntry lets the log forget an entry that a node has appended: that node stops to
// write as soon as it sees another entry in its place.
func TestCommitLog_ForgottenEntry(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: loggedZoo()})
	mustCreate(t, s.dbs[0], "one")
	s.same()
	s.log.Fault = func(stream.SealedEntry) streamtest.Fault {
		s.log.Fault = nil
		return streamtest.Forgotten
	}
	mustCreate(t, s.dbs[1], "forgotten")
	mustCreate(t, s.dbs[0], "two")
	eventually(t, "node 1 refuses the entry", func() bool {
		state, _ := s.dbs[1].CommitLog()
		return state.Refused != nil && strings.Contains(state.Refused.Error(), "needs a copy")
	})
	err := s.dbs[1].Update(System, func(tx *Tx) error { return keepers.Create(tx, &keeper{Name: "three"}) })
	disktest.Equal(t, "a write", refusalOf(t, err), refusal{errs.Busy, "node_needs_copy", ""})
	if !errors.Is(err, ErrOtherCopy) {
		t.Error(err)
	}
	mustCreate(t, s.dbs[0], "three")
}

// TestCommitLog_OtherCopy opens directories that the log doesn't continue.
func TestCommitLog_OtherCopy(t *testing.T) {
	options := Options{Schema: loggedZoo()}
	s := newNodes(t, 2, options)
	for range 3 {
		mustCreate(t, s.dbs[0], "keeper")
	}
	s.same()
	shut(t, s.dbs[0])
	shut(t, s.dbs[1])
	for i := range s.dirs {
		db, err := Open(s.dirs[i], options)
		if err == nil {
			shut(t, db)
		}
		if !errors.Is(err, errMember) {
			t.Errorf("opened without the log: %v", err)
		}
		if _, err := RotateKey(s.dirs[i], options); !errors.Is(err, errMember) {
			t.Errorf("rotation of the key: %v", err)
		}
	}
	options.LeaveCommitLog = true
	shut(t, open(t, s.dirs[1], options))
	options.LeaveCommitLog = false
	alone := open(t, s.dirs[1], options)
	mustCreate(t, alone, "written alone")
	shut(t, alone)

	options.CommitLog = &CommitLogOptions{Log: s.log}
	open := func(i int, says string) {
		t.Helper()
		db, err := Open(s.dirs[i], options)
		if err == nil {
			shut(t, db)
		}
		if says == "" && err != nil || says != "" && (!errors.Is(err, ErrOtherCopy) || !strings.Contains(err.Error(), says)) {
			t.Errorf("node %d: %v", i, err)
		}
	}
	open(0, "")
	if _, err := Open(s.dirs[1], options); !errors.Is(err, errNoMember) {
		t.Errorf("data that have left: %v", err)
	}
	options.CommitLog.Log = streamtest.New("OTHER")
	open(0, "the log is of the epoch OTHER")
	last, _ := s.log.Head(t.Context())
	options.CommitLog.Log = streamtest.New(last.Epoch)
	if _, err := Open(s.dirs[0], options); !errors.Is(err, stream.ErrSetBack) {
		t.Errorf("a log that was set back: %v", err)
	}
}

// pass is a record that can be lost.
type pass struct {
	Ident
	Timestamps
}

var passes = NewCollection[pass]("pass").Disposable()

// TestCommitLog_DamagedRecords damages a record, an entry of an index and a page at one node, whose collections are
// verified before the start or after it. The node needs a copy of the data, and what it has lost is deleted at no other.
func TestCommitLog_DamagedRecords(t *testing.T) {
	flip := func(dir string, bucket string) {
		file, err := bbolt.Open(filepath.Join(dir, dataName), 0o600, nil)
		noErr(t, err)
		noErr(t, file.Update(func(btx *bbolt.Tx) error {
			b := btx.Bucket([]byte(bucket))
			key, value := b.Cursor().First()
			value = bytes.Clone(value)
			value[len(value)-1] ^= 1
			return b.Put(bytes.Clone(key), value)
		}))
		noErr(t, file.Close())
	}
	for name, damage := range map[string]func(dir string){
		"a record":                  func(dir string) { flip(dir, beasts.Name()) },
		"a record that can be lost": func(dir string) { flip(dir, passes.Name()) },
		"an entry of an index":      func(dir string) { withoutEntry(t, dir, beastByName.x.bucket) },
		"a page": func(dir string) {
			path := filepath.Join(dir, dataName)
			text := disktest.ReadFile(t, path)
			for at := 2 * os.Getpagesize(); at < len(text); at += os.Getpagesize() {
				text[at+8] ^= 0xff // flags of the page
			}
			noErr(t, os.WriteFile(path, text, 0o600))
		},
	} {
		for _, from := range []uint64{1, 1000} {
			t.Run(fmt.Sprint(name, " ", from), func(t *testing.T) {
				s := newNodes(t, 2, Options{Schema: &Schema{Tables: append(zoo().Tables, passes), Caches: zoo().Caches}, checkFrom: from})
				for i := range 3 {
					update(t, s.dbs[0], createBeast(fmt.Sprint("beast ", i)))
					update(t, s.dbs[0], func(tx *Tx) error { return passes.Create(tx, &pass{}) })
				}
				s.same()
				shut(t, s.dbs[1])
				damage(s.dirs[1])
				options := s.options
				options.CommitLog = &CommitLogOptions{Log: s.log, Author: "node 1"}
				db, err := Open(s.dirs[1], options)
				if err == nil {
					checked(db)
					state, _ := db.CommitLog()
					err = state.Refused
					shut(t, db)
				}
				if !errors.Is(err, ErrOtherCopy) {
					t.Errorf("the node needs no copy: %v", err)
				}
				update(t, s.dbs[0], createBeast("another"))
				if n := len(allOf(t, s.dbs[0], beasts)) + len(allOf(t, s.dbs[0], passes)); n != 7 {
					t.Errorf("the other node has %d records", n)
				}
			})
		}
	}
}

// TestCommitLog_NoContact cuts a node off the log: writes fail, and change nothing, until the log can be
// reached again. Reading goes on.
func TestCommitLog_NoContact(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: loggedZoo()})
	mustCreate(t, s.dbs[0], "one")
	s.same()
	s.log.Cut(errors.New("no route to host"))
	create := func() error {
		return s.dbs[0].Update(System, func(tx *Tx) error { return keepers.Create(tx, &keeper{Name: "two"}) })
	}
	disktest.Equal(t, "the first write", refusalOf(t, create()), refusal{errs.Busy, "write_outcome_unknown", ""})
	disktest.Equal(t, "the second write", refusalOf(t, create()), refusal{errs.Busy, "out_of_contact", ""})
	eventually(t, "it is seen", func() bool {
		state, _ := s.dbs[1].CommitLog()
		return state.Contact != nil
	})
	view(t, s.dbs[0], func(tx *Tx) error {
		n, err := keepers.Count(tx)
		disktest.Equal(t, "keepers", n, 1)
		return err
	})
	shut(t, s.dbs[1])
	options := s.options
	options.CommitLog = &CommitLogOptions{Log: s.log}
	if db, err := Open(s.dirs[1], options); err == nil {
		shut(t, db)
		t.Error("a node was opened without the log")
	}
	s.log.Cut(nil)
	s.open(1)
	noErr(t, create())
	s.same()
	eventually(t, "contact", func() bool {
		state, _ := s.dbs[0].CommitLog()
		return state.Contact == nil
	})
}

// TestCommitLog_FullDisk lets the disk of a node become full. As a follower, it applies the entries when
// there is space again; as the author, it has lost nothing either: the log has the entry.
func TestCommitLog_FullDisk(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: loggedZoo()})
	mustCreate(t, s.dbs[0], "one")
	s.same()
	bolt := s.dbs[1].bolt.Bolt()
	fill := func(db *DB, name string) error {
		return db.Update(System, func(tx *Tx) error {
			return cages.Create(tx, &cage{Name: name + strings.Repeat("x", 20_000)})
		})
	}
	limit := func(full bool) {
		s.dbs[1].writing <- struct{}{}
		bolt.MaxSize = 0
		if full {
			bolt.MaxSize = 1
		}
		<-s.dbs[1].writing
	}
	limit(true)
	for i := range 150 { // more than are applied at once
		noErr(t, fill(s.dbs[0], fmt.Sprint("follower ", i)))
		if i > 0 {
			continue
		}
		eventually(t, "it is seen", func() bool {
			state, _ := s.dbs[1].CommitLog()
			return errs.Is(state.Contact, errs.Full)
		})
	}
	if err := fill(s.dbs[1], "behind"); !errs.Is(err, errs.Full) {
		t.Errorf("a write of the full node: %v", err)
	}
	limit(false)
	s.same()

	limit(true)
	err := error(nil)
	for i := 0; err == nil; i++ { // until the file would grow
		err = fill(s.dbs[1], fmt.Sprint("author ", i))
	}
	disktest.Equal(t, "a write", refusalOf(t, err), refusal{errs.Busy, "write_outcome_unknown", ""})
	s.wait(0, s.number())
	limit(false)
	s.same()
	mustCreate(t, s.dbs[1], "after")
	s.same()
}

// TestCommitLog_LargeEntries commits write functions whose rows don't fit in one entry one by one.
func TestCommitLog_LargeEntries(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: loggedZoo()})
	before, updates := s.number(), s.dbs[0].stats.updates.Load()
	var done []chan error
	s.dbs[0].writing <- struct{}{} // so that they are one batch
	for i := range 8 {
		c := make(chan error, 1)
		done = append(done, c)
		text := make([]byte, 150_000)
		rand.Read(text)
		go func() {
			c <- s.dbs[0].Update(System, func(tx *Tx) error {
				return cages.Create(tx, &cage{Name: fmt.Sprintf("%d %x", i, text)})
			})
		}()
	}
	eventually(t, "they wait", func() bool { return s.dbs[0].stats.updates.Load() >= updates+8 })
	<-s.dbs[0].writing
	for _, c := range done {
		noErr(t, <-c)
	}
	s.same()
	if n := s.number() - before; n < 7 { // the first one may have been a batch of its own
		t.Errorf("they were committed in %d entries", n)
	}
}

// TestCommitLog_Restore restores a moment from a copy of one node and the stream of another.
func TestCommitLog_Restore(t *testing.T) {
	identity := newIdentity(t)
	options := Options{
		Schema: loggedZoo(),
		Stream: &StreamOptions{Recipients: []age.Recipient{identity.Recipient()}},
	}
	s := newNodes(t, 2, options)
	mustCreate(t, s.dbs[0], "one")
	s.same()
	base := archiveOf(t, s.dbs[0])
	for i := range 10 {
		mustCreate(t, s.dbs[i%2], fmt.Sprint(i))
		s.same()
	}
	want := map[string]string{}
	noErr(t, s.dbs[0].bolt.View(func(btx *bbolt.Tx) error {
		want = sharedRows(t, btx)
		return nil
	}))
	number := s.number()
	mustCreate(t, s.dbs[0], "later")
	s.same()
	log, err := s.dbs[1].Stream()
	noErr(t, err)
	target := filepath.Join(t.TempDir(), "restored")
	_, err = RestoreMoment(target, base, nil, nil, entriesIn(log.Segments(), number, identity), s.options)
	noErr(t, err)
	compareRows(t, sharedRowsIn(t, filepath.Join(target, dataName)), want)
}

// TestCommitLog_NoKey: a node without the secret key of the others says what to do, and changes nothing.
func TestCommitLog_NoKey(t *testing.T) {
	for name, test := range map[string]struct {
		change func(path string) error
		says   string
	}{
		"missing": {os.Remove, "is missing: copy it from another node"},
		"wrong": {func(path string) error {
			return os.WriteFile(path, []byte(newSecretKey().text+"\n"), 0o600)
		}, "is not the key of this database: copy it from another node"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newNodes(t, 2, Options{Schema: loggedZoo()})
			mustCreate(t, s.dbs[0], "one")
			s.same()
			shut(t, s.dbs[1])
			before, number := sharedRowsIn(t, filepath.Join(s.dirs[1], dataName)), s.number()
			path := filepath.Join(s.dirs[1], keyName)
			right, err := os.ReadFile(path)
			noErr(t, err)
			noErr(t, test.change(path))

			options := s.options
			options.CommitLog = &CommitLogOptions{Log: s.log, Author: "node 1"}
			db, err := Open(s.dirs[1], options)
			if err == nil {
				shut(t, db)
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), path+" "+test.says) {
				t.Errorf("%v does not say %q", err, test.says)
			}
			compareRows(t, sharedRowsIn(t, filepath.Join(s.dirs[1], dataName)), before)
			if s.number() != number {
				t.Error("it has appended")
			}

			noErr(t, os.WriteFile(path, right, 0o600))
			db, err = Open(s.dirs[1], options)
			noErr(t, err)
			shut(t, db)
		})
	}
}
