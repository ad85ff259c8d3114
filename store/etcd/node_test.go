package etcd_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

const epoch = "epoch-1"

// count returns the number of repetitions of the size of the tests.
func count(small, medium, long int) int {
	switch {
	case os.Getenv("REEVE_TEST_LONG") != "":
		return long
	case os.Getenv("CI") == "true":
		return medium
	}
	return small
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v, want: %v", err, want)
	}
}

// node is a node that appends and follows.
type node struct {
	log       *etcd.Log
	head      etcd.Position
	applied   []etcd.Nonce    // of the entries, from the first on
	positions []etcd.Position // before each entry
}

// begin opens a log with a first epoch.
func begin(t testing.TB, o etcd.Options) *node {
	t.Helper()
	l := etcdtest.Open(t, o)
	first := etcd.Position{Epoch: epoch}
	must(t, l.Begin(t.Context(), etcd.Position{}, first, etcd.Base{Epoch: epoch, Name: "copy-0"}))
	return &node{log: l, head: first}
}

// join opens a log that another node has begun, at its beginning.
func join(t testing.TB, o etcd.Options) *node {
	t.Helper()
	n := &node{log: etcdtest.Open(t, o), head: etcd.Position{Epoch: epoch}}
	head, err := n.log.Head(t.Context())
	must(t, err)
	must(t, n.follow(t.Context(), head.Number))
	return n
}

func entry(size int) *etcd.Entry {
	e := &etcd.Entry{Sealed: make([]byte, size)}
	rand.Read(e.Nonce[:])
	rand.Read(e.Sealed)
	e.Hash = sha256.Sum256(e.Sealed)
	return e
}

func (n *node) apply(e *etcd.Entry) error {
	if e.Number != n.head.Number+1 || e.Previous != n.head.Hash || sha256.Sum256(e.Sealed) != e.Hash {
		return fmt.Errorf("entry %d does not follow %d, or is another one", e.Number, n.head.Number)
	}
	n.positions = append(n.positions, n.head)
	n.head, n.applied = e.Position(epoch), append(n.applied, e.Nonce)
	return nil
}

var errEnough = errors.New("enough")

// follow applies entries until it has a number.
func (n *node) follow(ctx context.Context, to uint64) error {
	if n.head.Number >= to {
		return nil
	}
	err := n.log.From(ctx, n.head, func(e *etcd.Entry) error {
		if err := n.apply(e); err != nil {
			return err
		}
		if n.head.Number >= to {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// once appends an entry once, with a time limit for Append, after which it goes on with the same entry: a copy that
// was sent before may still come, so that it is not refused before the end of ctx.
func (n *node) once(ctx context.Context, e *etcd.Entry, limit time.Duration) (r etcd.Result, unknown int, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	at := n.head
	r, err = n.log.Append(limited, at, e)
	for r.Outcome == etcd.Unknown && ctx.Err() == nil {
		unknown++
		again, cancel := context.WithTimeout(ctx, limit)
		if r, err = n.log.Append(again, at, e); r.Outcome == etcd.Refused {
			r.Outcome = etcd.Unknown
		}
		cancel()
	}
	switch r.Outcome {
	case etcd.Won:
		if err == nil {
			err = n.apply(e)
		}
		if err == nil && n.head != r.Head {
			err = fmt.Errorf("the head is %v, not %v", n.head, r.Head)
		}
	case etcd.Lost:
		if err == nil && (r.Next.Nonce == e.Nonce || r.Next.Number != e.Number) {
			err = fmt.Errorf("lost to %d", r.Next.Number)
		}
		if err == nil {
			err = n.follow(ctx, r.Head.Number)
		}
	}
	return r, unknown, err
}

// add appends an entry, again if it is lost. It returns how often it was.
func (n *node) add(ctx context.Context, e *etcd.Entry) (lost int, err error) {
	for {
		r, _, err := n.once(ctx, e, time.Minute)
		if err != nil || r.Outcome == etcd.Won {
			return lost, err
		}
		lost++
	}
}

// addMany appends entries.
func (n *node) addMany(t testing.TB, count, size int) {
	t.Helper()
	for range count {
		_, err := n.add(t.Context(), entry(size))
		must(t, err)
	}
}

// check reads the log from its beginning, and compares it with what nodes have applied.
func check(t testing.TB, o etcd.Options, nodes ...*node) *node {
	t.Helper()
	n := join(t, o)
	for i, other := range nodes {
		if len(other.applied) > len(n.applied) {
			t.Fatalf("node %d has applied %d entries, the log has %d", i, len(other.applied), len(n.applied))
		}
		for k, nonce := range other.applied {
			if n.applied[k] != nonce {
				t.Fatalf("node %d has another entry %d", i, k+1)
			}
		}
	}
	return n
}
