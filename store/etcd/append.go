package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Outcome is the fate of an entry.
type Outcome int

// Outcomes of Append.
const (
	Unknown Outcome = iota // it may be in the log, or come into it later
	Won                    // it is in the log
	Lost                   // another one has its number
	Refused                // it is not in the log and never will be; the error says why
)

func (o Outcome) String() string { return [...]string{"unknown", "won", "lost", "refused"}[o] }

// Result is what came of an entry.
type Result struct {
	Outcome
	Head Position // position of the entry if it was won, and otherwise the last head seen; zero if none
	Next *Entry   // entry that has the number if it was lost, perhaps without Sealed
}

// Append adds an entry after a position of this node. Its Number and Previous are set. It
// works until it is decided whether the entry is in the log: an error comes with Refused, with Unknown
// when the context ends before, and with Lost if this node must not go on.
//
// After Unknown, the entry may still come into the log. A caller that follows the log finds out: the entry
// comes as that of another node would, or another one takes its number.
func (l *Log) Append(ctx context.Context, at Position, e *Entry) (Result, error) {
	e.Number, e.Previous = at.Number+1, at.Hash
	if len(e.Sealed) > MostSealed {
		return Result{Outcome: Refused}, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(e.Sealed))
	}
	if err := l.putParts(ctx, at.Epoch, e); err != nil {
		return Result{Outcome: Refused}, err
	}
	r, err := l.decide(ctx, at, e)
	if r.Outcome == Lost || r.Outcome == Refused {
		l.dropParts(ctx, at.Epoch, e)
	}
	return r, err
}

// decide sends the transaction that adds an entry until an answer shows whether the entry is in the
// log. That the same transaction is sent again is harmless: it changes the head that it compares, so
// only one copy can succeed, and the others are answered with the entry.
func (l *Log) decide(ctx context.Context, at Position, e *Entry) (Result, error) {
	// open is whether a copy may still take effect: while it is, that the entry is not in the log does not
	// mean that it never will be.
	open := false
	t, wait, last := l.adding(at, e), pause{}, error(nil)
	for attempt := 0; ctx.Err() == nil; attempt++ {
		timeout := attemptTimeout(attempt)
		a, mayCome, err := l.send(ctx, timeout, t)
		if err == nil {
			r, err, decided := l.judge(a, at, e)
			if decided {
				return unless(open, r), err
			}
			return unless(open, r), errors.New("etcd did not add the entry")
		}
		if errors.Is(err, ErrNoSpace) {
			// The entry may be in the log all the same, and sending it again will not tell.
			a, _, reading := l.send(ctx, timeout, transaction{then: t.other[:2]})
			if reading == nil {
				r, fault, decided := l.judge(a, at, e)
				if decided {
					return unless(open, r), fault
				}
			}
			mayCome = mayCome && reading != nil
		}

		open = open || mayCome
		if last = latest(ctx, last, err); !open && hopeless(err) {
			break
		}
		wait.sleep(ctx)
	}
	if last == nil {
		last = named(ctx.Err())
	}
	return unless(open, Result{}), last
}

// unless returns a result in which an unknown outcome is that the entry was refused, unless a copy of
// the transaction may still take effect.
func unless(open bool, r Result) Result {
	if r.Outcome == Unknown && !open {
		r.Outcome = Refused
	}
	return r
}

// adding is the transaction that adds an entry at a position. What its else branch reads is what judge
// expects.
func (l *Log) adding(at Position, e *Entry) transaction {
	key, head := l.entryKey(at.Epoch, e.Number), l.key("head")
	then := []clientv3.Op{
		clientv3.OpPut(key, e.encode()),
		clientv3.OpPut(head, e.Position(at.Epoch).String()),
	}
	other := []clientv3.Op{clientv3.OpGet(head), clientv3.OpGet(key)}
	if e.EndTurn {
		then = append(then, l.setTurn(0))
	}
	if e.AskTurn > 0 {
		other = append(other, l.setTurn(e.AskTurn))
	}
	return transaction{
		// Its revision would not do: an etcd that was restored from a snapshot counts these again.
		when:  []clientv3.Cmp{clientv3.Compare(clientv3.Value(head), "=", at.String())},
		then:  then,
		other: other,
	}
}

// judge decides from an answer whether an entry is in the log. It does not decide if the head is where
// it was: then the transaction was not applied, or this is an answer to a reading one.
func (l *Log) judge(a answer, at Position, e *Entry) (r Result, err error, decided bool) {
	if a.Succeeded && a.Responses[0].GetResponsePut() != nil {
		return l.won(r, at, e), nil, true
	}

	if kv := a.value(1); kv != nil {
		if r.Next, err = l.entry(at.Epoch, kv); err != nil {
			return Result{}, err, true
		}
		if r.Next.Nonce == e.Nonce {
			r.Next = nil
			return l.won(r, at, e), nil, true
		}
		r.Outcome = Lost
		if err = r.Next.follows(at); err == nil {
			r.Head, err = l.head(a.value(0), a.before)
		}
		return r, err, true
	}

	r.Head, err = l.head(a.value(0), a.before)
	switch {
	case err != nil:
		return r, err, true
	case r.Head == at:
		return r, nil, false
	case r.Head.Number <= at.Number:
		return r, fmt.Errorf("%w: its entry %d has another hash", ErrDiverged, r.Head.Number), true
	}
	return r, ErrTrimmed, true
}

func (l *Log) won(r Result, at Position, e *Entry) Result {
	r.Outcome, r.Head = Won, e.Position(at.Epoch)
	l.raise(r.Head)
	return r
}

// Begin begins an epoch: it writes the head and the base copy of a new one, and deletes the entries of
// the one before. from is the head at which that ended; zero for the first epoch of a cluster. If it
// was answered with an error, call it again with the same arguments.
func (l *Log) Begin(ctx context.Context, from, to Position, base Base) error {
	head := l.key("head")
	when := clientv3.Compare(clientv3.Value(head), "=", from.String())
	if from == (Position{}) {
		when = clientv3.Compare(clientv3.CreateRevision(head), "=", 0)
	}
	return l.begin(ctx, from.Epoch, to, base, when)
}

// Replace is Begin wherever the epoch before has come to by then: entries that are appended until the moment
// of the transaction are deleted with it.
func (l *Log) Replace(ctx context.Context, epoch string, to Position, base Base) error {
	head := l.key("head")
	return l.begin(ctx, epoch, to, base, // all positions of the epoch are between these texts
		clientv3.Compare(clientv3.Value(head), ">", epoch+" "), clientv3.Compare(clientv3.Value(head), "<", epoch+"!"))
}

func (l *Log) begin(ctx context.Context, from string, to Position, base Base, when ...clientv3.Cmp) error {
	if to.Epoch == "" || strings.ContainsAny(to.Epoch, "/ ") || to.Epoch == from || base.Epoch != to.Epoch || base.Number != to.Number {
		return errors.New("an epoch has a new name without slashes and spaces, and begins with a base copy")
	}
	head := l.key("head")
	a, err := l.write(ctx, transaction{
		when: when,
		then: []clientv3.Op{
			clientv3.OpPut(head, to.String()),
			clientv3.OpPut(l.key("base"), base.encode()),
			clientv3.OpDelete(l.key("log/"), clientv3.WithRange(l.afterLog())),
			clientv3.OpDelete(l.key("part/"), clientv3.WithRange(l.afterParts())),
			clientv3.OpDelete(l.turns(), clientv3.WithRange(l.afterTurns())),
		},
		other: []clientv3.Op{clientv3.OpGet(head)},
	})
	if err != nil {
		return err
	}
	if !a.Succeeded && (a.value(0) == nil || string(a.value(0).Value) != to.String()) {
		return fmt.Errorf("%w: another node has appended or begun one", ErrEpoch)
	}
	l.Expect(to)
	return nil
}
