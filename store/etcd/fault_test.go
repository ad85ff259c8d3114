package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

// appending lets nodes append until it is stopped, and returns how to stop and what they won.
func appending(t testing.TB, nodes []*node) (stop func() [][]etcd.Nonce) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	won, errs := make([][]etcd.Nonce, len(nodes)), make([]error, len(nodes))
	for i, n := range nodes {
		running.Go(func() {
			for ctx.Err() == nil {
				e := entry(500)
				switch r, _, err := n.once(t.Context(), e, time.Minute); {
				case err != nil:
					errs[i] = fmt.Errorf("%v: %w", r.Outcome, err)
					return
				case r.Outcome == etcd.Won:
					won[i] = append(won[i], e.Nonce)
				}
			}
		})
	}
	stop = sync.OnceValue(func() [][]etcd.Nonce {
		cancel()
		running.Wait()
		must(t, errors.Join(errs...))
		return won
	})
	t.Cleanup(func() { stop() })
	return stop
}

// grow waits until the log has a number of entries more than when it is called.
func grow(t testing.TB, l *etcd.Log, by uint64) {
	t.Helper()
	first := uint64(0)
	for begun := time.Now(); time.Since(begun) < patience; {
		b, err := l.Beat(t.Context())
		switch {
		case err == nil && first == 0:
			first = b.Head.Number
		case err == nil && b.Head.Number >= first+by:
			return
		}
	}
	t.Fatal("the log does not grow")
}

// allThere checks that all that was won is in the log, once.
func allThere(t testing.TB, o etcd.Options, nodes []*node, won [][]etcd.Nonce) {
	t.Helper()
	n := check(t, o, nodes...)
	all := slices.Concat(won...)
	if len(all) != len(n.applied) {
		t.Errorf("%d entries won, %d in the log", len(all), len(n.applied))
	}
	in := map[etcd.Nonce]bool{}
	for _, nonce := range n.applied {
		in[nonce] = true
	}
	for _, nonce := range all {
		if !in[nonce] {
			t.Error("an entry that was won is not in the log")
		}
	}
	t.Logf("%d entries", len(all))
}

// TestEtcd_KilledAndFrozen kills the only member of an etcd, and freezes it, while nodes append and follow.
func TestEtcd_KilledAndFrozen(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	nodes := several(t, 2, o)
	follower := join(t, o).start(t)
	observer := etcdtest.Open(t, o)
	stop := appending(t, nodes)
	for range count(2, 5, 50) {
		grow(t, observer, 20)
		server.Kill()
		server.Restart(t)
		server.Await(t)
		grow(t, observer, 20)
		server.Freeze(t)
		for err := error(nil); !errors.Is(err, etcd.ErrTimeout); _, err = observer.Beat(t.Context()) {
			must(t, err) // it may answer what it has begun to
		}
		server.Thaw(t)
	}
	grow(t, observer, 20)
	won := stop()
	follower.await(t, max(nodes[0].head.Number, nodes[1].head.Number))
	allThere(t, o, nodes, won)
}

// TestEtcd_LeaderLost kills the leader of three members, and then freezes it. How soon a node appends
// again is compared with how soon the other members have a leader.
func TestEtcd_LeaderLost(t *testing.T) {
	t.Parallel()
	servers := etcdtest.StartCluster(t, 3)
	o := etcdtest.Options(servers...)
	nodes := several(t, 2, o)
	follower := join(t, o).start(t)
	observer := etcdtest.Open(t, o)
	stop := appending(t, nodes)
	for round := range count(2, 4, 20) {
		grow(t, observer, 20)
		old, others := leader(t, observer, servers)
		begun := time.Now()
		if round%2 == 0 {
			old.Kill()
		} else {
			old.Freeze(t)
		}
		elected := make(chan time.Duration, 1)
		go func() {
			elected <- serves(t, others, begun)
		}()
		grow(t, etcdtest.Open(t, etcdtest.Options(others...)), 1)
		took, raft := time.Since(begun), <-elected
		t.Logf("appends went on after %v, etcd after %v", took, raft)
		if took > raft+3*time.Second {
			t.Errorf("appends went on after %v, etcd after %v", took, raft)
		}
		if round%2 == 0 {
			old.Restart(t)
		} else {
			old.Thaw(t)
		}
		old.Await(t)
	}
	won := stop()
	follower.await(t, max(nodes[0].head.Number, nodes[1].head.Number))
	allThere(t, o, nodes, won)
}

// leader returns the leader and the other members.
func leader(t testing.TB, l *etcd.Log, servers []*etcdtest.Server) (leader *etcdtest.Server, others []*etcdtest.Server) {
	t.Helper()
	for begun := time.Now(); leader == nil; {
		others = nil
		for i, m := range l.Members(t.Context()) {
			if m.Leader && m.Err == nil {
				leader = servers[i]
			} else {
				others = append(others, servers[i])
			}
		}
		if time.Since(begun) > patience {
			t.Fatal("there is no leader")
		}
	}
	return leader, others
}

// serves returns how long after a time one of the members has accepted a write of another client.
func serves(t testing.TB, servers []*etcdtest.Server, since time.Time) time.Duration {
	raw, err := clientv3.New(clientv3.Config{Endpoints: etcdtest.Options(servers...).Endpoints, Logger: zap.NewNop()})
	if err != nil {
		t.Error(err)
		return 0
	}
	defer raw.Close()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := raw.Put(ctx, "another", "value")
		cancel()
		if err == nil || t.Context().Err() != nil {
			return time.Since(since)
		}
	}
}

// TestEtcd_QuotaExceeded fills etcd until it accepts no more, and makes space.
func TestEtcd_QuotaExceeded(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t, "--quota-backend-bytes=16777216")
	o := etcdtest.Options(server)
	nodes := several(t, 4, o)
	n, follower := nodes[0], join(t, o).start(t)
	won := make([][]etcd.Nonce, len(nodes))
	together(t, nodes, func(i int, n *node) error {
		for refused := 0; refused < 3; {
			e := entry(1 << 19)
			switch r, _, err := n.once(t.Context(), e, time.Minute); {
			case r.Outcome == etcd.Refused && errors.Is(err, etcd.ErrNoSpace):
				refused++
			case err != nil:
				return fmt.Errorf("%v: %w", r.Outcome, err)
			case r.Outcome == etcd.Won:
				won[i] = append(won[i], e.Nonce)
			}
		}
		return nil
	})
	allThere(t, o, nodes, won)
	head, err := n.log.Head(t.Context())
	must(t, err)
	must(t, n.follow(t.Context(), head.Number))
	if b, err := n.log.Beat(t.Context()); err != nil || b.Head.Number != n.head.Number {
		t.Errorf("reading: %+v, %v", b.Head, err)
	}
	follower.await(t, n.head.Number)
	member := n.log.Members(t.Context())[0]
	if len(member.Faults) == 0 || member.Quota != 16<<20 || member.Size < 10<<20 {
		t.Errorf("the member has %+v", member)
	}

	// Deleting is allowed, a new base copy is not: that in etcd may be older.
	wants(t, n.log.SetBase(t.Context(), etcd.Base{Epoch: epoch, Name: "copy-1", Number: n.head.Number}), etcd.ErrNoSpace)
	must(t, n.log.Trim(t.Context()))

	// The operator raises the quota and ends the alarm.
	server.Kill()
	server.Restart(t, "--quota-backend-bytes=67108864")
	server.Await(t)
	raw := client(t, clientv3.Config{Endpoints: o.Endpoints})
	_, err = raw.AlarmDisarm(t.Context(), &clientv3.AlarmMember{})
	must(t, err)
	n.addMany(t, 3, 1<<19)
	follower.await(t, n.head.Number)

	// Base copies make space, which defragmentation gives back.
	setBase(t, n, "copy-2", n.head.Number-1)
	setBase(t, n, "copy-3", n.head.Number)
	must(t, n.log.Trim(t.Context()))
	before := n.log.Members(t.Context())[0]
	_, err = raw.Defragment(t.Context(), server.URL)
	must(t, err)
	after := n.log.Members(t.Context())[0]
	t.Logf("size %d, used %d; after defragmentation %d, %d", before.Size, before.Used, after.Size, after.Used)
	if after.Size > before.Size/2 {
		t.Errorf("the database has %d bytes, before %d", after.Size, before.Size)
	}
	n.addMany(t, 3, 1<<19)
	follower.await(t, n.head.Number)
}

// revision returns the revision at which the head was written.
func revision(t testing.TB, s *etcdtest.Server) int64 {
	t.Helper()
	head, err := client(t, clientv3.Config{Endpoints: []string{s.URL}}).Get(t.Context(), "reeve/head")
	must(t, err)
	return head.Kvs[0].ModRevision
}

// TestEtcd_Restored puts an old copy of its files under an etcd, and lets others go on from there.
func TestEtcd_Restored(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	n := begin(t, o)
	n.addMany(t, 10, 100)
	server.Kill()
	copied := t.TempDir()
	must(t, os.CopyFS(copied, os.DirFS(server.Dir)))
	server.Restart(t)
	server.Await(t)
	n.addMany(t, 10, 100)
	ahead := join(t, o).start(t)
	cluster, before := n.log.Cluster(), revision(t, server)

	server.Kill()
	must(t, os.RemoveAll(server.Dir))
	must(t, os.CopyFS(server.Dir, os.DirFS(copied)))
	server.Restart(t)
	server.Await(t)
	ahead.fails(t, etcd.ErrBehind)
	_, err := n.log.Head(t.Context())
	wants(t, err, etcd.ErrBehind)
	r, err := n.log.Append(t.Context(), n.head, entry(10))
	if r.Outcome != etcd.Refused && r.Outcome != etcd.Unknown || !errors.Is(err, etcd.ErrBehind) {
		t.Errorf("%v, %v", r.Outcome, err)
	}
	// A node that starts knows its position.
	started := etcdtest.Open(t, etcd.Options{Endpoints: o.Endpoints, Cluster: cluster, At: n.head})
	_, err = started.Beat(t.Context())
	wants(t, err, etcd.ErrBehind)

	// A node that is not ahead goes on. When the log is as long as the one that was lost, its head has the
	// same revision; then it grows beyond.
	other := join(t, o)
	other.addMany(t, 10, 100)
	if now := revision(t, server); now != before {
		t.Errorf("the head has revision %d, it had %d", now, before)
	}
	r, err = n.log.Append(t.Context(), n.head, entry(10))
	if r.Outcome != etcd.Refused || !errors.Is(err, etcd.ErrDiverged) {
		t.Errorf("%v, %v", r.Outcome, err)
	}
	_, err = n.log.Beat(t.Context())
	wants(t, err, etcd.ErrDiverged)
	r, err = etcdtest.Open(t, o).Append(t.Context(), n.head, entry(10)) // which does not know of the position before
	if r.Outcome != etcd.Refused || !errors.Is(err, etcd.ErrDiverged) {
		t.Errorf("%v, %v", r.Outcome, err)
	}
	other.addMany(t, 5, 100)
	if _, err := n.log.Append(t.Context(), n.head, entry(10)); !errors.Is(err, etcd.ErrDiverged) && !errors.Is(err, etcd.ErrTrimmed) {
		t.Errorf("after others went on: %v", err)
	}
	wants(t, n.log.From(t.Context(), n.head, nil), etcd.ErrDiverged)
}

// TestEtcd_AnotherCluster puts an empty etcd in the place of one.
func TestEtcd_AnotherCluster(t *testing.T) {
	t.Parallel()
	server, other := etcdtest.Start(t), etcdtest.Start(t)
	n, m := begin(t, etcdtest.Options(server)), begin(t, etcdtest.Options(other))
	n.addMany(t, 3, 10)
	m.addMany(t, 5, 10)

	for name, o := range map[string]etcd.Options{
		"another log": {Endpoints: []string{other.URL}, Cluster: n.log.Cluster(), At: n.head},
		"no log":      {Endpoints: []string{other.URL}, Cluster: n.log.Cluster(), At: n.head, Prefix: "empty"},
	} {
		l := etcdtest.Open(t, o)
		_, err := l.Head(t.Context())
		wants(t, err, etcd.ErrCluster)
		r, err := l.Append(t.Context(), n.head, entry(10))
		if r.Outcome != etcd.Refused || !errors.Is(err, etcd.ErrCluster) {
			t.Errorf("%s: %v, %v", name, r.Outcome, err)
		}
		wants(t, l.From(t.Context(), n.head, nil), etcd.ErrCluster)
		wants(t, l.Members(t.Context())[0].Err, etcd.ErrCluster)
	}
	_, err := etcdtest.Open(t, etcd.Options{Endpoints: []string{other.URL}, Prefix: "empty"}).Head(t.Context())
	wants(t, err, etcd.ErrNoHead)
	_, err = etcdtest.Open(t, etcd.Options{Endpoints: []string{other.URL}, Prefix: "empty", At: n.head}).Head(t.Context())
	wants(t, err, etcd.ErrBehind)
}
