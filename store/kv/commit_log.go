package kv

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"reeve/store/errs"
	"reeve/store/seal"
	"reeve/store/stream"
)

// Several processes can have the same records, each in a data directory of its own. A stream.CommitLog puts
// their commits in one order: a commit is appended to it before bbolt's commit, and every process
// applies the entries of the others.
//
//	DB.tryCommit     appends the entry of a commit, and gives the commit up if another one was first
//	commitLog.follow a goroutine: receives the entries from the log
//	DB.applyEntries   the writer goroutine: applies them in one bbolt transaction (commit_log_apply.go)
//	DB.catchUp       the writer goroutine: applies all entries that the log has by now

// The key of the entries: its purpose, see DerivedKey, and the name that they have for it.
const (
	CommitLogKey    = "cluster"
	CommitLogStanza = "reeve-cluster"
)

// ErrOtherCopy is wrapped by the error of Open for a data directory that the entries of the log don't
// continue.
var ErrOtherCopy = errors.New("the records are not those of the log of commits")

const (
	catchUpTimeout   = 10 * time.Second // time after which waiting writes fail
	overtakenTimeout = time.Minute      // time after which a batch is given up that loses again and again
	applyRetry       = time.Second      // interval of attempts to apply entries while the disk is full
	maxApply         = 128              // entries that are applied in one commit
	maxWaiting       = 64 << 20         // bytes of entries that are received before they are applied
	maxCommitEntry   = 1 << 20          // size from which write functions are committed one by one
)

// CommitLogOptions configure the log of commits of a database.
type CommitLogOptions struct {
	Log    stream.CommitLog
	Author string // name of this process in its entries
}

// commitLog is the log of commits of an open database.
type commitLog struct {
	CommitLogOptions
	incoming chan stream.SealedEntry // entries on their way to the writer
	room     *semaphore.Weighted     // bytes of entries on their way and waiting

	// Set by openCommitLog, before the first commit that uses the log.
	joined bool
	sealer *stream.Sealer
	opener *stream.Opener
	stop   context.CancelFunc // ends the goroutine
	done   sync.WaitGroup

	waiting   []stream.SealedEntry        // received, and not applied yet; for the writer only, as the next five
	retry     <-chan time.Time            // time at which waiting is tried again; nil for none
	urgent    bool                        // whether the last commit has taken rights away
	behind    bool                        // the log may have entries that are to be applied before the next commit
	lostTo    uint64                      // number of an entry that is to be applied before the next commit; 0 for none
	losing    bool                        // whether the last entry that was appended was lost
	taken     atomic.Uint64               // number of the last entry that has taken rights away, or may have before the start
	confirmed atomic.Uint64               // number up to which ConfirmTaken has waited
	ended     chan struct{}               // closed when refused is set
	refused   atomic.Pointer[errs.Error]  // why no entries are applied any more; nil while they are
	contact   atomic.Pointer[error]       // why no entries are received now; nil while they are
	at        atomic.Pointer[stream.Head] // last entry that was applied or appended, and that all reads see; nil before the first
	stats     commitLogStats

	confirming confirming
	awaited    *awaited
	heads      headQuestions
}

func newCommitLog(o *CommitLogOptions) *commitLog {
	if o == nil {
		return nil
	}
	return &commitLog{
		CommitLogOptions: *o,
		incoming:         make(chan stream.SealedEntry, maxApply),
		room:             semaphore.NewWeighted(maxWaiting),
		ended:            make(chan struct{}),
		awaited:          newAwaited(),
		stats:            commitLogStats{appends: NewHistogram(commitBounds...), applies: NewHistogram(commitBounds...)},
		heads:            headQuestions{turn: make(chan struct{}, 1)},
	}
}

// arrivals returns the channel of entries to apply, and that of the time at which the waiting ones are
// tried again. A nil channel never has anything.
func (s *commitLog) arrivals() (entries <-chan stream.SealedEntry, retry <-chan time.Time) {
	switch {
	case s == nil:
		return nil, nil
	case len(s.waiting) >= maxApply:
		return nil, s.retry
	}
	return s.incoming, s.retry
}

// inUse reports whether commits are appended to a log of commits.
func (s *commitLog) inUse() bool { return s != nil && s.joined }

type commitLogStats struct {
	won, lost, unknown, applied atomic.Uint64

	appends *Histogram // durations of appends, turns of other nodes included, in nanoseconds
	applies *Histogram // durations of commits of entries of others
}

// CommitLogState describes the work of a database with a log of commits.
type CommitLogState struct {
	At                          stream.Head  // last entry that was applied or appended
	Won, Lost, Unknown, Applied uint64       // commits that were appended, that lost and ran again, whose outcome was unknown; entries of others that were applied
	Appends, Applies            Distribution // durations of appends, turns of other nodes included, and of commits of entries of others, in nanoseconds
	Contact                     error        // why no entries are received now; nil while they are
	Refused                     error        // why no entries are applied any more; nil while they are
}

// CommitLog returns the state of the log of commits; ok is false without one.
func (db *DB) CommitLog() (state CommitLogState, ok bool) {
	s := db.commits
	if s == nil {
		return state, false
	}
	state = CommitLogState{
		Won:     s.stats.won.Load(),
		Lost:    s.stats.lost.Load(),
		Unknown: s.stats.unknown.Load(),
		Applied: s.stats.applied.Load(),
		Appends: s.stats.appends.Read(),
		Applies: s.stats.applies.Read(),
	}
	state.At = s.position()
	if err := s.contact.Load(); err != nil {
		state.Contact = *err
	}
	if err := s.refused.Load(); err != nil {
		state.Refused = err
	}
	return state, true
}

// openCommitLog begins to follow the log, and applies what it has. It runs when the caches have values,
// and before anything is written through Update.
func (db *DB) openCommitLog() error {
	s := db.commits
	if s == nil {
		return nil
	}
	if db.keys == nil {
		return keyMissing(db.dir)
	}
	key, err := db.DerivedKey(CommitLogKey)
	if errors.Is(err, errWrongKey) {
		return fmt.Errorf("%s is not the key of this database: copy it from another node", filepath.Join(db.dir, keyName))
	}
	if err != nil {
		return err
	}
	server, err := seal.NewKey(key, CommitLogStanza, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), catchUpTimeout)
	defer cancel()
	head := db.stream.head
	last, err := s.Log.Head(ctx)
	switch {
	case err != nil:
		return err
	case head.Epoch != last.Epoch:
		return fmt.Errorf("%w: the log is of the epoch %s, and they are of %s", ErrOtherCopy, last.Epoch, cmp.Or(head.Epoch, "none"))
	case head.Number > last.Number:
		return fmt.Errorf("%w: it ends with entry %d, and this node has entry %d", stream.ErrSetBack, last.Number, head.Number)
	case head.Number == last.Number && head.Hash != last.Hash && head.Number > 0:
		return fmt.Errorf("%w: entry %d is another one", ErrOtherCopy, head.Number)
	}
	s.sealer, s.opener = stream.NewSealer(db.instance, head.Epoch, server), stream.NewOpener(server)
	s.joined, s.behind = true, true
	s.taken.Store(head.Number)
	s.at.Store(&head)
	ctx, s.stop = context.WithCancel(context.Background())
	s.done.Go(func() { s.follow(ctx, head) })
	return db.Update(engine{}, func(*Tx) error { return nil }) // applies what the log has
}

// follow passes the entries of the log after a position to the writer, until ctx ends.
func (s *commitLog) follow(ctx context.Context, passed stream.Head) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, applyRetry) {
		err := s.Log.Follow(ctx, passed, func(e stream.SealedEntry) error {
			if e.Number != passed.Number+1 {
				return fmt.Errorf("%w: entry %d came after entry %d", stream.ErrNeedsCopy, e.Number, passed.Number)
			}
			if err := s.room.Acquire(ctx, takes(e)); err != nil {
				return err
			}
			select {
			case s.incoming <- e:
				passed, pause = stream.Head{Epoch: e.Epoch, Number: e.Number, Hash: e.Hash}, 10*time.Millisecond
				s.contact.Store(nil)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the log of commits ended the connection")
		}
		s.contact.Store(&err)
		if now := s.at.Load(); now.Number > passed.Number { // those are its own
			passed = *now
			continue
		}
		if errors.Is(err, stream.ErrNeedsCopy) || errors.Is(err, stream.ErrSetBack) {
			s.refuse(err)
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// takes returns what an entry takes of the room for those that wait.
func takes(e stream.SealedEntry) int64 { return min(int64(len(e.Sealed)), maxWaiting) }

// refuse ends the application of entries: they don't continue the records of this process.
func (s *commitLog) refuse(cause error) {
	err := errs.New(errs.Busy, "the records of this node no longer follow from the log of commits: it needs a copy from another node").
		Coded("node_needs_copy").Because(fmt.Errorf("%w: %w", ErrOtherCopy, cause))
	if errors.Is(cause, stream.ErrSetBack) {
		err = errs.New(errs.Busy, "the log of commits lacks entries that this node has, as after a restore of etcd: nothing is taken from it").
			Coded("log_set_back").Because(cause)
	}
	if s.refused.CompareAndSwap(nil, err) {
		close(s.ended)
	}
}

// appendCommit appends the entry of a commit of some write functions to the log of commits. The error is
// errOvertaken if they have to run again, and errManyRows if they have to run one by one.
func (db *DB) appendCommit(e *stream.SealedEntry, functions int) error {
	s := db.commits
	switch {
	case e == nil:
		return nil
	case len(e.Sealed) > maxCommitEntry && functions > 1:
		return errManyRows
	}
	if err := db.roomForCommit(); err != nil {
		return err
	}
	begun := time.Now()
	outcome, err := s.Log.Append(*e)
	s.stats.appends.Add(int64(time.Since(begun)))
	switch {
	case outcome == stream.Won:
		s.stats.won.Add(1)
		s.losing = false
		return nil
	case outcome == stream.Lost:
		s.stats.lost.Add(1)
		s.behind = s.losing // others are faster: it applies all that they have added, or it would always be late
		s.lostTo, s.losing = e.Number, true
		return errOvertaken
	case outcome == stream.Refused && !errors.Is(err, stream.ErrEntryTooLarge):
		return outOfContact(err)
	case errors.Is(err, stream.ErrEntryTooLarge):
		return errs.New(errs.Invalid, "this change is too large for several nodes; make it in smaller steps").Because(err)
	}
	s.stats.unknown.Add(1)
	s.behind = true
	return errs.New(errs.Busy,
		"there was no answer from the log of commits during this write: the change may or may not have been saved; check it before you repeat it").
		Coded("write_outcome_unknown").Because(err)
}

// gaveUp tells the log that the write functions whose entry was lost have ended without one.
func (s *commitLog) gaveUp() {
	if s != nil && s.losing {
		s.losing = false
		s.Log.GiveUp()
	}
}

var (
	errOvertaken = errors.New("another process has committed first")
	errManyRows  = errors.New("the entry of the commit is too large")
)

// newCommitEntry returns the entry of a commit for the log of commits.
func (s *commitLog) newCommitEntry(e *stream.Entry, text []byte, urgent bool) (*stream.SealedEntry, error) {
	sealed, err := s.sealer.Seal(e.Number, text)
	if err != nil {
		return nil, err
	}
	return &stream.SealedEntry{
		Epoch:  e.Epoch,
		Number: e.Number,
		Prev:   stream.Hash(e.Prev),
		Hash:   e.Head().Hash,
		Nonce:  e.Nonce,
		Sealed: sealed,
		Urgent: urgent,
	}, nil
}

// sign sets the fields of an entry that only entries of a log of commits have.
func (s *commitLog) sign(e *stream.Entry) {
	if !s.inUse() {
		return
	}
	e.Author, e.Nonce = s.Author, make([]byte, 16)
	rand.Read(e.Nonce) // never fails
}

// catchUp applies the entries up to one to which a commit was lost, and some of those that have come after
// it. If the log may have others, it applies all that it has by now.
func (db *DB) catchUp() error {
	s := db.commits
	if !s.inUse() {
		return nil
	}
	if err := s.refused.Load(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), catchUpTimeout)
	defer cancel()
	late, to := time.After(catchUpTimeout), s.lostTo
	if s.behind {
		last, err := s.Log.Head(ctx)
		if err != nil {
			return outOfContact(err)
		}
		to = last.Number
	}
	for db.stream.head.Number < to {
		var next *stream.SealedEntry
		if len(s.waiting) == 0 {
			select {
			case e := <-s.incoming:
				next = &e
			case <-s.ended:
				return s.refused.Load()
			case <-late:
				return outOfContact(fmt.Errorf("entry %d of the log of commits was not received in time", to))
			}
		}
		if err := db.applyEntries(next); err != nil {
			return outOfContact(err)
		}
		if !db.started { // no write waits, and there can be many
			late = time.After(catchUpTimeout)
		}
	}
	s.behind, s.lostTo = false, 0
	return nil
}

// outOfContact is the error of writes that can't be put in order with those of other processes.
func outOfContact(cause error) error {
	var e *errs.Error
	if errors.As(cause, &e) {
		return cause
	}
	if errors.Is(cause, stream.ErrNoSpace) {
		return errs.New(errs.Busy, "the log of commits is full, so nothing can be changed at any node until an operator makes space in etcd; nothing was changed").
			Coded("log_full").Because(cause)
	}
	return errs.New(errs.Busy, "this node can't reach the log of commits, so nothing can be changed here now; nothing was changed; try again, or at another node").
		Coded("out_of_contact").Because(cause)
}

// notStored is the error of writes whose entry the log has, but whose commit has failed here. The entry is
// applied as those of others are, when the disk has space, or after a restart.
func (db *DB) notStored(cause error) error {
	db.commits.behind = true
	stopped := db.failed.StopUnlessFull(dataName, cause)
	return errs.New(errs.Busy, "the disk of this node failed during this write: the other nodes have the change, this one will follow").
		Coded("write_outcome_unknown").Because(stopped)
}

// close ends the goroutine that follows the log. The writer must have ended.
func (s *commitLog) close() {
	if s.inUse() {
		s.stop()
		s.done.Wait()
	}
}
