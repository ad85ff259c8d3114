package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	pageEntries = 16                     // entries of one answer, each of about 1 MiB at most
	beginTime   = time.Second            // after which a watch is given up that has not begun
	stallTime   = 500 * time.Millisecond // after which a watch is given up that lacks a known entry
	quietTime   = 5 * time.Second        // after which a watch that sends nothing is begun again
	slowTime    = time.Second            // after which a watch is ended while fn works: the client holds what it sends in memory
)

var (
	errAgain = errors.New("the watch has to begin again")
	errQuiet = errors.New("the watch has sent nothing")
)

// From calls fn with each entry after a position, in order and without a gap, first with those that
// exist and then with those that are added, until the context ends, or fn returns an error, or following
// cannot go on (ErrTrimmed, ErrGap, ErrDiverged, ErrEpoch, ErrBehind, ErrCluster, ErrNoHead,
// ErrPermission, ErrSignIn). It outlasts everything else: members that end or hang, compaction, and
// times without a leader. The entries of this node are among them.
func (l *Log) From(ctx context.Context, at Position, fn func(*Entry) error) error {
	f := &follower{l, at, fn}
	for wait := (pause{}); ; {
		before := f.at.Number
		revision, err := f.catchUp(ctx)
		if err == nil {
			err = f.watch(ctx, revision+1)
		}
		var own *fnError
		switch {
		case errors.As(err, &own):
			return own.error
		case fatal(err):
			return err
		case err == errQuiet:
			wait = pause{}
			continue
		case f.at.Number > before:
			wait = pause{}
		}
		if !wait.sleep(ctx) {
			return ctx.Err()
		}
	}
}

// fnError is an error of a caller's function.
type fnError struct{ error }

// follower follows a log.
type follower struct {
	*Log
	at Position // position of the last entry that fn got
	fn func(*Entry) error
}

// give checks entries and calls fn with each.
func (f *follower) give(ctx context.Context, all []*Entry) error {
	for _, e := range all {
		if err := e.follows(f.at); err != nil {
			return err
		}
		if err := f.getParts(ctx, f.at.Epoch, e); err != nil {
			return err
		}
		if err := f.fn(e); err != nil {
			return &fnError{err}
		}
		f.at = e.Position(f.at.Epoch)
		f.raise(f.at)
	}
	return nil
}

// catchUp reads the entries that exist. It returns the revision of etcd at which there was no other.
func (f *follower) catchUp(ctx context.Context) (int64, error) {
	for {
		a, err := f.read(ctx,
			clientv3.OpGet(f.key("head")),
			clientv3.OpGet(f.entryKey(f.at.Epoch, f.at.Number+1),
				clientv3.WithRange(clientv3.GetPrefixRangeEnd(f.logOf(f.at.Epoch))), clientv3.WithLimit(pageEntries)))
		if err != nil {
			return 0, err
		}
		before := a.before
		if before.Epoch == f.at.Epoch && before.Number < f.at.Number || before.Epoch == "" {
			before = f.at
		}
		head, err := f.head(a.value(0), before)
		switch {
		case err != nil:
			return 0, err
		case head.Epoch != f.at.Epoch:
			return 0, fmt.Errorf("%w: %s, not %s", ErrEpoch, head.Epoch, f.at.Epoch)
		}
		all, err := f.entries(a.values(1))
		if err == nil && head.Number > f.at.Number && (len(all) == 0 || all[0].Number > f.at.Number+1) {
			err = fmt.Errorf("%w: those after %d", ErrTrimmed, f.at.Number)
		}
		if err == nil {
			err = f.give(ctx, all)
		}
		switch {
		case err != nil:
			return 0, err
		case f.at == head:
			return a.Header.Revision, nil
		case f.at.Number >= head.Number:
			return 0, fmt.Errorf("%w: the head is %s, the last entry %s", ErrDiverged, head, f.at)
		}
	}
}

func (f *follower) entries(kvs []*mvccpb.KeyValue) (all []*Entry, err error) {
	for _, kv := range kvs {
		e, err := f.entry(f.at.Epoch, kv)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// watch waits for entries that are added from a revision of etcd on. It watches the head as well, which
// tells of a new epoch.
func (f *follower) watch(ctx context.Context, from int64) error {
	watching, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	beginning := time.AfterFunc(beginTime, cancel) // the client waits for the member that it has chosen
	responses := f.client.Watch(watching, f.key("head"), clientv3.WithRange(f.afterLog()), clientv3.WithRev(from),
		clientv3.WithFilterDelete(), clientv3.WithFragment())
	if !beginning.Stop() {
		return errAgain
	}
	ticker := time.NewTicker(stallTime)
	defer ticker.Stop()
	quiet := time.Now().Add(quietTime)
	for seen := f.at.Number; ; {
		select {
		case r, open := <-responses:
			if !open || r.Err() != nil {
				return errAgain // compaction, no leader, or another fault, which reading will show
			}
			if err := f.sameCluster(r.Header); err != nil {
				return err
			}
			slow := time.AfterFunc(slowTime, cancel)
			err := f.apply(ctx, r.Events)
			if slow.Stop(); err != nil {
				return err
			}
			quiet = time.Now().Add(quietTime)
		case now := <-ticker.C:
			// Another answer told of an entry that the member of this watch has not sent, or the client has
			// resumed the watch at an etcd that was restored, and waits for revisions that come much later.
			if known := f.position(); seen == f.at.Number && known.Number > seen {
				return errAgain
			}
			if now.After(quiet) {
				return errQuiet
			}
			seen = f.at.Number
		}
	}
}

// apply gives the entries of events to fn, and checks the head that each transaction wrote after them. Then it tells
// of turns.
func (f *follower) apply(ctx context.Context, events []*clientv3.Event) error {
	var all []*Entry
	var turns []Turn
	at := f.at
	for _, event := range events {
		if t, ok := f.turn(event.Kv); ok {
			turns = append(turns, t)
			continue
		}
		if string(event.Kv.Key) != f.key("head") {
			e, err := f.entry(at.Epoch, event.Kv)
			if err != nil {
				return f.last(ctx, all, err)
			}
			all, at = append(all, e), e.Position(at.Epoch)
			continue
		}
		head, err := parsePosition(event.Kv.Value)
		switch {
		case err != nil:
			return f.last(ctx, all, fmt.Errorf("%w: head: %w", ErrGap, err))
		case head.Epoch != at.Epoch:
			return f.last(ctx, all, fmt.Errorf("%w: %s, not %s", ErrEpoch, head.Epoch, at.Epoch))
		case head != at:
			return f.last(ctx, all, fmt.Errorf("%w: the head is %s, the last entry %s", ErrGap, head, at))
		}
	}
	err := f.give(ctx, all)
	for _, t := range turns {
		if f.told != nil {
			f.told(t)
		}
	}
	return err
}

// last gives the entries before a fault to fn.
func (f *follower) last(ctx context.Context, all []*Entry, fault error) error {
	if err := f.give(ctx, all); err != nil {
		return err
	}
	return fault
}
