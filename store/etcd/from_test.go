package etcd_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

// following is a node whose From runs.
type following struct {
	*node
	mu     sync.Mutex
	steps  chan uint64 // number of the entry of each call of fn
	ended  chan error
	cancel context.CancelFunc
}

// start lets a node follow until the test ends.
func (n *node) start(t testing.TB) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &following{node: n, steps: make(chan uint64, 1<<16), ended: make(chan error, 1), cancel: cancel}
	go func() {
		f.ended <- n.log.From(ctx, n.head, func(e *etcd.Entry) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			if err := n.apply(e); err != nil {
				return err
			}
			f.steps <- n.head.Number
			return nil
		})
	}()
	t.Cleanup(f.stop)
	return f
}

// stop ends following.
func (f *following) stop() {
	f.cancel()
	err := <-f.ended
	f.ended <- err
}

// patience is how long tests wait for what must happen.
const patience = time.Minute

// await waits until a node has applied an entry.
func (f *following) await(t testing.TB, number uint64) {
	t.Helper()
	for timeout := time.After(patience); ; {
		select {
		case n := <-f.steps:
			if n >= number {
				return
			}
		case err := <-f.ended:
			t.Fatalf("following ended: %v", err)
		case <-timeout:
			t.Fatalf("entry %d does not come", number)
		}
	}
}

// fails waits until following ends with an error.
func (f *following) fails(t testing.TB, want error) {
	t.Helper()
	select {
	case err := <-f.ended:
		f.ended <- err
		wants(t, err, want)
	case <-time.After(patience):
		t.Fatalf("following does not end with: %v", want)
	}
}

func TestFrom_ExistingAndNew(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	author := begin(t, o)
	author.addMany(t, 50, 100)
	late := (&node{log: etcdtest.Open(t, o), head: etcd.Position{Epoch: epoch}}).start(t)
	late.await(t, 50)
	author.addMany(t, 50, 100)
	late.await(t, 100)
	author.addMany(t, 20, 1<<20)
	late.await(t, 120)
	late.stop()

	// From the middle on, and at the end.
	middle := &node{log: etcdtest.Open(t, o), head: late.head}
	author.addMany(t, 1, 1)
	must(t, middle.follow(t.Context(), 121))
	if middle.head != author.head {
		t.Errorf("the head is %+v, not %+v", middle.head, author.head)
	}

	fault := errors.New("fault")
	err := late.log.From(t.Context(), late.head, func(*etcd.Entry) error { return fault })
	wants(t, err, fault)
	check(t, o, author, late.node)
}

// TestFrom_HangingMember lets the member that a watch is connected to hang: another answer tells of the
// entries, and the watch goes on elsewhere long before the connection is given up.
func TestFrom_HangingMember(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	author := begin(t, o)
	proxies := []*etcdtest.Proxy{server.Proxy(t), server.Proxy(t)}
	follower := join(t, etcd.Options{Endpoints: []string{proxies[0].URL, proxies[1].URL}}).start(t)
	author.addMany(t, 1, 10)
	follower.await(t, 1)
	for round := range 4 { // the watch is at one or the other
		proxy := proxies[round%2]
		proxy.Set(etcdtest.HoldAll)
		for range 2 { // with a new watch at the second one
			author.addMany(t, 1, 10)
			for begun := time.Now(); ; {
				if b, err := follower.log.Beat(t.Context()); err == nil && b.Head == author.head {
					break
				}
				if time.Since(begun) > patience {
					t.Fatal("no answer")
				}
			}
			known := time.Now()
			follower.await(t, author.head.Number)
			if took := time.Since(known); took > 4*time.Second {
				t.Errorf("it took %v to find that the member hangs", took)
			}
		}
		proxy.Set(etcdtest.Pass)
	}
	check(t, o, author)
}

// TestBeat_HangingMember asks while one of two members hangs: the other one answers each time.
func TestBeat_HangingMember(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	begin(t, etcdtest.Options(server))
	proxy := server.Proxy(t)
	l := etcdtest.Open(t, etcd.Options{Endpoints: []string{proxy.URL, server.URL}})
	for seen := time.Now(); time.Since(seen) < 20*time.Millisecond; { // until it is connected to both
		_, err := l.Head(t.Context())
		must(t, err)
	}
	proxy.Set(etcdtest.HoldAll)
	slowest := time.Duration(0)
	for range 6 {
		begun := time.Now()
		_, err := l.Beat(t.Context())
		must(t, err)
		slowest = max(slowest, time.Since(begun))
	}
	if slowest < 300*time.Millisecond {
		t.Error("the member that hangs was not asked")
	}
}

// TestRequests_HangingMember does all else while one of two members does what it is asked, but does not
// answer.
func TestRequests_HangingMember(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	first := begin(t, etcdtest.Options(server))
	proxy := server.Proxy(t)
	n := join(t, etcd.Options{Endpoints: []string{proxy.URL, server.URL}})
	first.addMany(t, 20, 10)
	must(t, n.follow(t.Context(), 20))
	proxy.Set(etcdtest.HoldAnswers)
	_, err := n.log.Join(t.Context(), etcd.Node{Name: "a"})
	must(t, err)
	must(t, n.log.Renew(t.Context()))
	must(t, n.log.Report(t.Context(), etcd.Node{Name: "a", Applied: 20}))
	if holder, err := n.log.TakeDuty(t.Context()); err != nil || holder != n.log.Lease() {
		t.Errorf("%x has the duties, %v", holder, err)
	}
	must(t, n.log.SetTurn(t.Context(), 1))
	e := entry(10)
	e.EndTurn = true
	_, err = n.add(t.Context(), e)
	must(t, err)
	setBase(t, n, "copy", 10)
	setBase(t, n, "copy", 20)
	must(t, n.log.Trim(t.Context()))
	must(t, n.log.LeaveDuty(t.Context()))
	must(t, n.log.Leave(t.Context()))
}

// TestFrom_Compaction lets etcd forget the history under a follower that is cut off.
func TestFrom_Compaction(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	author := begin(t, o)
	proxy := server.Proxy(t)
	follower := join(t, etcd.Options{Endpoints: []string{proxy.URL}}).start(t)
	author.addMany(t, 10, 10)
	follower.await(t, 10)

	// It lacks nothing: the entries after its position are there, though their history is not.
	proxy.Set(etcdtest.HoldAll)
	proxy.Cut()
	author.addMany(t, 30, 10)
	setBase(t, author, "copy-1", 10)
	setBase(t, author, "copy-2", 20)
	must(t, author.log.Trim(t.Context()))
	author.addMany(t, 30, 10)
	proxy.Set(etcdtest.Pass)
	proxy.Cut()
	follower.await(t, 70)

	// It lacks entries that were deleted.
	proxy.Set(etcdtest.HoldAll)
	proxy.Cut()
	author.addMany(t, 30, 10)
	setBase(t, author, "copy-3", 80)
	setBase(t, author, "copy-4", 90)
	must(t, author.log.Trim(t.Context()))
	proxy.Set(etcdtest.Pass)
	proxy.Cut()
	follower.fails(t, etcd.ErrTrimmed)

	// Nor can it append: whether an entry with an unknown outcome was in the log is not known any more.
	r, err := follower.log.Append(t.Context(), follower.head, entry(10))
	if r.Outcome != etcd.Refused || !errors.Is(err, etcd.ErrTrimmed) {
		t.Errorf("%v, %v", r.Outcome, err)
	}
}

func setBase(t testing.TB, n *node, name string, number uint64) {
	t.Helper()
	must(t, n.log.SetBase(t.Context(), etcd.Base{Epoch: epoch, Name: name, Number: number}))
}

// TestFrom_NewEpoch begins a new epoch under a follower and an author.
func TestFrom_NewEpoch(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	author := begin(t, o)
	follower, idle := join(t, o).start(t), join(t, o)
	author.addMany(t, 10, 10)
	follower.await(t, 10)
	must(t, idle.follow(t.Context(), 10))

	to, base := etcd.Position{Epoch: "epoch-2", Number: 10, Hash: etcd.Hash{1}}, etcd.Base{Epoch: "epoch-2", Number: 10, Name: "copy-e2"}
	stale := author.head
	stale.Number--
	for _, from := range []etcd.Position{stale, {}} {
		wants(t, author.log.Begin(t.Context(), from, to, base), etcd.ErrEpoch)
	}
	must(t, author.log.Begin(t.Context(), author.head, to, base))
	must(t, author.log.Begin(t.Context(), author.head, to, base)) // as after a lost answer
	follower.fails(t, etcd.ErrEpoch)

	r, err := idle.log.Append(t.Context(), idle.head, entry(10))
	if r.Outcome != etcd.Refused || !errors.Is(err, etcd.ErrEpoch) {
		t.Errorf("%v, %v", r.Outcome, err)
	}
	_, err = idle.log.Beat(t.Context())
	wants(t, err, etcd.ErrEpoch)
	wants(t, idle.log.From(t.Context(), idle.head, nil), etcd.ErrEpoch)

	// Nodes that have the base copy go on.
	if r, err := author.log.Append(t.Context(), to, entry(10)); err != nil || r.Outcome != etcd.Won || r.Head.Number != 11 {
		t.Errorf("%+v, %v", r, err)
	}
	idle.log.Expect(to)
	b, h, err := idle.log.Base(t.Context())
	if err != nil || b != base || h.Number != 11 {
		t.Errorf("%+v, %+v, %v", b, h, err)
	}
}

// TestReplace_WhileOthersAppend replaces an epoch that goes on all the time, and no other.
func TestReplace_WhileOthersAppend(t *testing.T) {
	t.Parallel()
	o := etcdtest.Options(etcdtest.Start(t))
	author, restorer := begin(t, o), join(t, o)
	to, base := etcd.Position{Epoch: "epoch-2", Number: 3, Hash: etcd.Hash{1}}, etcd.Base{Epoch: "epoch-2", Number: 3, Name: "copy-e2"}
	author.addMany(t, 3, 10)
	for _, other := range []string{epoch[:len(epoch)-1], epoch + "1", "other"} {
		wants(t, restorer.log.Replace(t.Context(), other, to, base), etcd.ErrEpoch)
	}
	ended := make(chan error)
	go func() {
		for {
			if r, err := author.log.Append(t.Context(), author.head, entry(10)); err != nil || r.Outcome != etcd.Won {
				ended <- err
				return
			} else {
				author.head = r.Head
			}
		}
	}()
	must(t, restorer.log.Replace(t.Context(), epoch, to, base))
	wants(t, <-ended, etcd.ErrEpoch)
	must(t, restorer.log.Replace(t.Context(), epoch, to, base)) // as after a lost answer
	if _, head, err := restorer.log.Base(t.Context()); err != nil || head != to {
		t.Errorf("%+v, %v", head, err)
	}
}
