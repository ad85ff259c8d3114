package etcd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

func TestNode_KeyAndLease(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	a, b := begin(t, o).log, join(t, o).log
	if beat, err := a.Beat(t.Context()); err != nil || beat.Node != nil || a.Lease() != 0 {
		t.Errorf("before joining: %+v, %v", beat, err)
	}
	wants(t, a.Report(t.Context(), etcd.Node{Name: "a"}), etcd.ErrLease)
	wants(t, a.Renew(t.Context()), etcd.ErrLease)
	must(t, a.Leave(t.Context()))

	first, second := etcd.Node{Name: "a", Version: "1.2.3", Applied: 7, Sealed: []byte{0, 255}}, etcd.Node{Name: "b"}
	var err error
	first.Lease, err = a.Join(t.Context(), first)
	must(t, err)
	second.Lease, err = b.Join(t.Context(), second)
	must(t, err)
	first.Applied, first.Sealed = 8, make([]byte, 4<<10)
	must(t, a.Report(t.Context(), first))
	all, err := b.Nodes(t.Context())
	must(t, err)
	if diff := cmp.Diff([]*etcd.Node{&first, &second}, all); diff != "" {
		t.Error(diff)
	}
	beat, err := a.Beat(t.Context())
	must(t, err)
	if diff := cmp.Diff(&first, beat.Node); diff != "" {
		t.Error(diff)
	}
	first.Sealed = make([]byte, 4<<10+1)
	if err := a.Report(t.Context(), first); err == nil || !strings.Contains(err.Error(), "4 KiB") {
		t.Errorf("a larger summary: %v", err)
	}

	// A node whose key was removed does not come back by reporting.
	if len(beat.Nodes) != 2 {
		t.Errorf("the nodes are %x", beat.Nodes)
	}
	removeKey(t, server, first.Lease)
	if beat, err := a.Beat(t.Context()); err != nil || beat.Node != nil {
		t.Errorf("after its key was removed: %+v, %v", beat.Node, err)
	}
	wants(t, a.Report(t.Context(), etcd.Node{Name: "a"}), etcd.ErrLease)
	again, err := a.Join(t.Context(), etcd.Node{Name: "a"})
	must(t, err)
	if again == first.Lease {
		t.Error("it has the lease that it had")
	}
	must(t, a.Renew(t.Context()))
	must(t, a.Leave(t.Context()))
	if all, err := b.Nodes(t.Context()); err != nil || len(all) != 1 || all[0].Name != "b" {
		t.Errorf("after one left: %+v, %v", all, err)
	}
}

// removeKey removes the key of a node, as an operator could.
func removeKey(t testing.TB, s *etcdtest.Server, lease etcd.Lease) {
	t.Helper()
	_, err := client(t, clientv3.Config{Endpoints: []string{s.URL}}).Delete(t.Context(), fmt.Sprintf("reeve/node/%x", lease))
	must(t, err)
}

func TestDuty_OneHolder(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	a, b := begin(t, o).log, join(t, o).log
	_, err := a.TakeDuty(t.Context())
	wants(t, err, etcd.ErrLease)
	first, err := a.Join(t.Context(), etcd.Node{Name: "a"})
	must(t, err)
	second, err := b.Join(t.Context(), etcd.Node{Name: "b"})
	must(t, err)

	holds := func(want etcd.Lease) {
		t.Helper()
		for _, l := range []*etcd.Log{a, b} {
			beat, err := l.Beat(t.Context())
			if err != nil || beat.Duty != want {
				t.Errorf("%x has the duties, want %x: %v", beat.Duty, want, err)
			}
		}
	}
	take := func(l *etcd.Log, want etcd.Lease) {
		t.Helper()
		if got, err := l.TakeDuty(t.Context()); err != nil || got != want {
			t.Errorf("%x has the duties, want %x: %v", got, want, err)
		}
		holds(want)
	}
	holds(0)
	take(a, first)
	take(b, first)
	take(a, first)
	must(t, b.LeaveDuty(t.Context())) // it has none
	holds(first)
	must(t, a.LeaveDuty(t.Context()))
	holds(0)
	take(b, second)
	must(t, b.Leave(t.Context())) // as when its lease ends
	holds(0)
	take(a, first)

	// A node without a key has lost contact: it gets no duties.
	must(t, a.LeaveDuty(t.Context()))
	removeKey(t, server, first)
	_, err = a.TakeDuty(t.Context())
	wants(t, err, etcd.ErrLease)
}

// TestTurn_IsTold asks for turns with an entry that is lost and without one, and ends them. Those that follow learn
// of each, and of the end not before the entry.
func TestTurn_IsTold(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	a, b := begin(t, o), join(t, o)
	for _, n := range []*node{a, b} {
		_, err := n.log.Join(t.Context(), etcd.Node{Name: "node"})
		must(t, err)
	}
	turns := make(chan etcd.Turn, 100)
	var watcher *node
	o.Turn = func(turn etcd.Turn) {
		if turn.Seconds == 0 && watcher.head.Number != 2 {
			t.Errorf("the turn is over at entry %d", watcher.head.Number)
		}
		turns <- turn
	}
	watcher = join(t, o)
	others := watcher.start(t)
	last := int64(0)
	told := func(n *node, seconds int64) {
		t.Helper()
		select {
		case turn := <-turns:
			if turn.Lease != n.log.Lease() || turn.Seconds != seconds || turn.Revision <= last {
				t.Errorf("%+v, not %d seconds", turn, seconds)
			}
			last = turn.Revision
		case <-time.After(patience):
			t.Fatal("nothing is told")
		}
	}
	append := func(n *node, ask int64, end bool, want etcd.Outcome) {
		t.Helper()
		e := entry(10)
		e.AskTurn, e.EndTurn = ask, end
		if r, _, err := n.once(t.Context(), e, time.Minute); err != nil || r.Outcome != want {
			t.Fatalf("%+v, %v", r, err)
		}
	}

	append(a, 7, false, etcd.Won) // does not need it
	others.await(t, 1)            // turns from before it reads the log are not told
	append(b, 2, true, etcd.Lost)
	told(b, 2)
	must(t, a.log.SetTurn(t.Context(), 1))
	told(a, 1)
	append(b, 4, true, etcd.Won)
	told(b, 0)
	must(t, a.log.SetTurn(t.Context(), 0))
	told(a, 0)

	// They are deleted with old entries, and no node takes their keys for entries.
	setBase(t, b, "copy", 1)
	setBase(t, b, "copy", 2)
	must(t, b.log.Trim(t.Context()))
	left, err := client(t, clientv3.Config{Endpoints: []string{server.URL}}).Get(t.Context(), "reeve/hold/", clientv3.WithPrefix())
	if err != nil || left.Count > 0 {
		t.Errorf("%d turns are left, %v", left.Count, err)
	}
	append(b, 0, false, etcd.Won)
	others.await(t, 3)
}

func TestBase_OnlyNewer(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	n, other := begin(t, o), join(t, o)
	n.addMany(t, 30, 10)
	base := func(number uint64) etcd.Base { return etcd.Base{Epoch: epoch, Name: "copy", Number: number} }
	must(t, n.log.SetBase(t.Context(), base(10)))
	must(t, n.log.SetBase(t.Context(), base(10))) // as after a lost answer
	wants(t, other.log.SetBase(t.Context(), etcd.Base{Epoch: epoch, Name: "another", Number: 10}), etcd.ErrOldBase)
	wants(t, other.log.SetBase(t.Context(), base(9)), etcd.ErrOldBase)
	wants(t, other.log.SetBase(t.Context(), base(31)), etcd.ErrBehind)
	wants(t, other.log.SetBase(t.Context(), etcd.Base{Epoch: "epoch-0", Name: "copy", Number: 20}), etcd.ErrEpoch)
	must(t, other.log.SetBase(t.Context(), base(20)))

	b, head, err := n.log.Base(t.Context())
	if want := (etcd.Base{Epoch: epoch, Name: "copy", Number: 20, Before: 10}); err != nil || b != want || head != n.head {
		t.Errorf("%+v, %+v, %v", b, head, err)
	}
	must(t, n.log.Trim(t.Context()))
	must(t, other.log.Trim(t.Context()))
	// Entries from the base copy before the last one on are there.
	for number := range uint64(30) {
		err := n.log.From(t.Context(), n.positions[number], func(*etcd.Entry) error { return errEnough })
		if number < 10 {
			wants(t, err, etcd.ErrTrimmed)
		} else {
			wants(t, err, errEnough)
		}
	}
}

// TestTrim_ManyEntries trims more entries than one transaction deletes, while a node appends and another
// follows.
func TestTrim_ManyEntries(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	n := begin(t, o)
	n.addMany(t, 4500, 1)
	setBase(t, n, "copy-1", 4400)
	setBase(t, n, "copy-2", 4450)
	follower := join(t, o).start(t)
	trimmer := etcdtest.Open(t, o)
	stop := appending(t, []*node{n})
	must(t, trimmer.Trim(t.Context()))
	grow(t, trimmer, 20)
	stop()
	follower.await(t, n.head.Number)
	wants(t, trimmer.From(t.Context(), n.positions[4399], nil), etcd.ErrTrimmed)
	wants(t, trimmer.From(t.Context(), n.positions[4400], func(*etcd.Entry) error { return errEnough }), errEnough)
}
