package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

// together runs a function for each node at the same time.
func together(t testing.TB, nodes []*node, run func(i int, n *node) error) {
	t.Helper()
	errs := make([]error, len(nodes))
	var running sync.WaitGroup
	for i, n := range nodes {
		running.Go(func() { errs[i] = run(i, n) })
	}
	running.Wait()
	must(t, errors.Join(errs...))
}

// several opens a log for several nodes, each with connections of its own.
func several(t testing.TB, count int, o etcd.Options) []*node {
	t.Helper()
	all := []*node{begin(t, o)}
	for range count - 1 {
		all = append(all, join(t, o))
	}
	return all
}

func TestAppend_ManyWriters(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	each := count(40, 100, 1000)
	nodes := several(t, 6, o)
	lost := make([]int, len(nodes))
	mine := make([][]etcd.Nonce, len(nodes))
	together(t, nodes, func(i int, n *node) error {
		for range each {
			e := entry(rand.IntN(2000))
			more, err := n.add(t.Context(), e)
			if err != nil {
				return err
			}
			lost[i], mine[i] = lost[i]+more, append(mine[i], e.Nonce)
		}
		return nil
	})

	n := check(t, o, nodes...)
	if len(n.applied) != len(nodes)*each {
		t.Errorf("the log has %d entries", len(n.applied))
	}
	for i, all := range mine {
		for _, nonce := range all {
			if !slices.Contains(n.applied, nonce) {
				t.Errorf("an entry that node %d won is not in the log", i)
			}
		}
	}
	t.Logf("entries lost and appended again, by node: %v", lost)
	if slices.Max(lost) == 0 {
		t.Error("no node lost: they did not append at the same time")
	}
}

// TestAppend_CutConnections disturbs the connections of nodes while they append, in ways that hide
// whether etcd has an entry.
func TestAppend_CutConnections(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	nodes := several(t, 3, o)
	proxies := make([]*etcdtest.Proxy, len(nodes))
	for i, n := range nodes {
		proxies[i] = server.Proxy(t)
		n.log = etcdtest.Open(t, etcd.Options{Endpoints: []string{proxies[i].URL}})
	}

	each := count(25, 80, 600)
	outcomes := make([]map[string]int, len(nodes))
	won, not := make([][]etcd.Nonce, len(nodes)), make([][]etcd.Nonce, len(nodes))
	together(t, nodes, func(i int, n *node) error {
		outcomes[i] = map[string]int{}
		for range each {
			e := entry(rand.IntN(100_000))
			disturbed := disturb(proxies[i])
			r, unknown, err := n.once(t.Context(), e, 100*time.Millisecond)
			disturbed.Wait()
			outcomes[i][fmt.Sprintf("%s, unknown before: %t", r.Outcome, unknown > 0)]++
			switch {
			case r.Outcome == etcd.Refused: // the connection could not be made
				not[i] = append(not[i], e.Nonce)
			case err != nil:
				return fmt.Errorf("%v: %w", r.Outcome, err)
			case r.Outcome == etcd.Won:
				won[i] = append(won[i], e.Nonce)
			default:
				not[i] = append(not[i], e.Nonce)
			}
		}
		return nil
	})

	n := check(t, o, nodes...)
	total, resolved := 0, 0
	for i := range nodes {
		t.Logf("node %d: %v", i, outcomes[i])
		total += len(won[i])
		for _, nonce := range won[i] {
			if !slices.Contains(n.applied, nonce) {
				t.Errorf("an entry that node %d won is not in the log", i)
			}
		}
		for _, nonce := range not[i] {
			if slices.Contains(n.applied, nonce) {
				t.Errorf("an entry that node %d did not win is in the log", i)
			}
		}
		resolved += outcomes[i]["won, unknown before: true"]
	}
	if resolved == 0 {
		t.Error("no node won an entry whose outcome was unknown before")
	}
	if total != len(n.applied) {
		t.Errorf("%d entries won, %d in the log", total, len(n.applied))
	}
}

// disturb disturbs a connection for a while, in one of several ways, half of the time.
func disturb(p *etcdtest.Proxy) *sync.WaitGroup {
	var running sync.WaitGroup
	way, long := rand.IntN(8), time.Duration(rand.IntN(150))*time.Millisecond
	if way > 3 {
		return &running
	}
	mode := etcdtest.HoldAnswers
	if way%2 == 0 {
		mode = etcdtest.HoldAll
	}
	p.Set(mode)
	running.Go(func() {
		time.Sleep(long)
		if way < 2 {
			p.Cut()
		}
		p.Set(etcdtest.Pass)
	})
	return &running
}

// TestAppend_SentTwice holds a transaction until another node has its number, and until it was sent
// again itself.
func TestAppend_SentTwice(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	first := begin(t, o)
	proxy := server.Proxy(t)
	second := join(t, etcd.Options{Endpoints: []string{proxy.URL}})

	// etcd gets all copies at once.
	proxy.Set(etcdtest.HoldAll)
	e, at := entry(10), second.head
	short, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	r, err := second.log.Append(short, at, e)
	if r.Outcome != etcd.Unknown || !errors.Is(err, etcd.ErrTimeout) {
		t.Fatalf("%v, %v", r.Outcome, err)
	}
	proxy.Set(etcdtest.Pass)
	r, err = second.log.Append(t.Context(), at, e)
	if err != nil || r.Outcome != etcd.Won || r.Head.Number != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	must(t, second.apply(e))

	// It has the answer of a copy that came after the one that added the entry.
	proxy.Set(etcdtest.HoldAnswers)
	e, at = entry(10), second.head
	short, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if r, err = second.log.Append(short, at, e); r.Outcome != etcd.Unknown {
		t.Fatalf("%v, %v", r.Outcome, err)
	}
	must(t, first.follow(t.Context(), 2)) // it has come in
	_, err = first.add(t.Context(), entry(10))
	must(t, err)
	proxy.Cut()
	proxy.Set(etcdtest.Pass)
	if r, err = second.log.Append(t.Context(), at, e); err != nil || r.Outcome != etcd.Won || r.Head.Number != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Head != (etcd.Position{Epoch: epoch, Number: 2, Hash: e.Hash}) {
		t.Errorf("the head is %+v", r.Head)
	}
	must(t, second.apply(e))
	must(t, second.follow(t.Context(), 3))

	// Another node has the number before etcd gets it.
	proxy.Set(etcdtest.HoldAll)
	e, at = entry(10), second.head
	short, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if r, err = second.log.Append(short, at, e); r.Outcome != etcd.Unknown {
		t.Fatalf("%v, %v", r.Outcome, err)
	}
	_, err = first.add(t.Context(), entry(10))
	must(t, err)
	proxy.Set(etcdtest.Pass)
	if r, err = second.log.Append(t.Context(), at, e); err != nil || r.Outcome != etcd.Lost || r.Next.Nonce != first.applied[3] {
		t.Fatalf("%+v, %v", r, err)
	}
	must(t, second.follow(t.Context(), 4))

	// The other copies certainly do not come to etcd: the first one has.
	proxy.Set(etcdtest.HoldAnswers)
	e, at = entry(10), second.head
	short, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	go func() {
		first.follow(t.Context(), 5)
		proxy.Set(etcdtest.Refuse)
	}()
	if r, err = second.log.Append(short, at, e); r.Outcome != etcd.Unknown || !errors.Is(err, etcd.ErrUnreachable) {
		t.Fatalf("%v, %v", r.Outcome, err)
	}
	proxy.Set(etcdtest.Pass)
	if r, err = second.log.Append(t.Context(), at, e); err != nil || r.Outcome != etcd.Won || r.Head.Number != 5 {
		t.Fatalf("%+v, %v", r, err)
	}
	must(t, second.apply(e))
	check(t, o, first, second)
}

// TestAppend_Refused checks what certainly is not in the log.
func TestAppend_Refused(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t, "--max-request-bytes=300000")
	n := begin(t, etcdtest.Options(server))
	for _, size := range []int{etcd.MostSealed + 1, etcd.MostSealed, 400_000} {
		r, err := n.log.Append(t.Context(), n.head, entry(size))
		if r.Outcome != etcd.Refused || !errors.Is(err, etcd.ErrTooLarge) {
			t.Errorf("%d bytes: %v, %v", size, r.Outcome, err)
		}
	}

	server.Kill()
	short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	// The end of the connection may be noticed only when a request is sent.
	e := entry(10)
	r, err := n.log.Append(short, n.head, e)
	if r.Outcome == etcd.Won || r.Outcome == etcd.Lost || !errors.Is(err, etcd.ErrUnreachable) {
		t.Errorf("%v, %v", r.Outcome, err)
	}
	short, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if r, err := n.log.Append(short, n.head, entry(10)); r.Outcome != etcd.Refused || !errors.Is(err, etcd.ErrUnreachable) {
		t.Errorf("%v, %v", r.Outcome, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := n.log.Append(ended, n.head, entry(10)); r.Outcome != etcd.Refused || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r.Outcome, err)
	}
}
