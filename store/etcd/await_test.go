package etcd_test

import (
	"context"
	"testing"
	"time"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

// TestAwait_NoNodeServesWithout checks that Await returns only when no other node may serve without an
// entry: a node may for a second after it sent a Beat that was answered with its key.
func TestAwait_NoNodeServesWithout(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	author := begin(t, o).log
	mayServe := func(l *etcd.Log) time.Time {
		t.Helper()
		sent := time.Now()
		b, err := l.Beat(t.Context())
		must(t, err)
		if b.Node == nil {
			return time.Time{}
		}
		return sent.Add(time.Second)
	}
	enter := func() *etcd.Log {
		t.Helper()
		l := join(t, o).log
		_, err := l.Join(t.Context(), etcd.Node{Applied: 5})
		must(t, err)
		return l
	}
	_, err := author.Join(t.Context(), etcd.Node{})
	must(t, err)

	// The author knows which nodes there were a moment ago.
	mayServe(author)
	time.Sleep(1600 * time.Millisecond)

	// Nodes that have the entry, and then one that reports the next one and one that hangs.
	hanging, late := enter(), enter()
	begun := time.Now()
	must(t, author.Await(t.Context(), 5))
	quick := time.Since(begun)
	until := mayServe(hanging)
	done := make(chan error, 1)
	go func() { done <- author.Await(t.Context(), 6) }()
	must(t, late.Report(t.Context(), etcd.Node{Applied: 6}))
	must(t, <-done)
	if time.Now().Before(until) {
		t.Error("a node that hangs may serve without the entry")
	}

	// All have it.
	must(t, hanging.Report(t.Context(), etcd.Node{Applied: 6}))
	begun = time.Now()
	must(t, author.Await(t.Context(), 6))
	if took := time.Since(begun); took > time.Second || quick > time.Second {
		t.Errorf("it took %v and %v although no node lacked the entry", quick, took)
	}

	// A node whose key is gone before.
	left := enter()
	mayServe(author)
	until = mayServe(left)
	must(t, left.Leave(t.Context()))
	must(t, author.Await(t.Context(), 6))
	if time.Now().Before(until) {
		t.Error("a node that left may serve without the entry")
	}

	// A node whose key is gone before the author begins. All others have the entry.
	must(t, author.Report(t.Context(), etcd.Node{Applied: 6}))
	left = enter()
	until = mayServe(left)
	must(t, left.Leave(t.Context()))
	must(t, join(t, o).log.Await(t.Context(), 6))
	if time.Now().Before(until) {
		t.Error("a node that left before the author began may serve without the entry")
	}

	enter()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	wants(t, author.Await(short, 7), etcd.ErrTimeout)
}
