package etcd_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

// TestParts appends entries of all sizes to an etcd with its usual limit, while another node follows. Parts
// are deleted with their entries, and when an entry is lost.
func TestParts(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	n, late := begin(t, o), join(t, o)
	follower := join(t, o).start(t)
	parts := func() int {
		t.Helper()
		answer, err := client(t, clientv3.Config{Endpoints: []string{server.URL}}).
			Get(t.Context(), "reeve/part/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		must(t, err)
		return int(answer.Count)
	}

	const inline = 1<<20 + 64<<10
	for _, size := range []int{0, inline, inline + 1, 2 << 20, 2<<20 + 1, etcd.MostSealed} {
		n.addMany(t, 1, size)
	}
	want := 2 + 2 + 3 + 16
	if got := parts(); got != want {
		t.Errorf("%d parts, want %d", got, want)
	}
	if r, _, err := late.once(t.Context(), entry(inline+1), time.Minute); err != nil || r.Outcome != etcd.Lost {
		t.Errorf("%+v, %v", r, err)
	}
	if got := parts(); got != want {
		t.Errorf("%d parts after an entry was lost, want %d", got, want)
	}
	follower.await(t, 6)
	check(t, o, n, late, follower.node)

	n.addMany(t, 1, inline+1)
	setBase(t, n, "copy-1", 6)
	setBase(t, n, "copy-2", 7)
	must(t, n.log.Trim(t.Context()))
	if got := parts(); got != 2 {
		t.Errorf("%d parts after trimming, want 2", got)
	}
	wants(t, n.log.From(t.Context(), n.positions[5], nil), etcd.ErrTrimmed)
	follower.await(t, 7)
}

// TestParts_Missing: a node that lacks a part takes a copy.
func TestParts_Missing(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	n, late := begin(t, o), join(t, o)
	n.addMany(t, 1, 3<<20)
	raw := client(t, clientv3.Config{Endpoints: []string{server.URL}})
	all, err := raw.Get(t.Context(), "reeve/part/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	must(t, err)
	if len(all.Kvs) != 3 {
		t.Fatalf("%d parts", len(all.Kvs))
	}
	_, err = raw.Delete(t.Context(), string(all.Kvs[1].Key))
	must(t, err)
	wants(t, late.log.From(t.Context(), late.head, nil), etcd.ErrTrimmed)
}

// TestFrom_SlowFunction: while fn works, the watch ends, and what it missed is read afterwards.
func TestFrom_SlowFunction(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	o := etcdtest.Options(server)
	n, slow := begin(t, o), join(t, o)
	n.addMany(t, 1, 10)
	held, free := make(chan bool), make(chan bool)
	ended := make(chan error, 1)
	go func() {
		ended <- slow.log.From(t.Context(), slow.head, func(e *etcd.Entry) error {
			if e.Number == 2 {
				held <- true
				<-free
			}
			if err := slow.apply(e); err != nil || e.Number < 100 {
				return err
			}
			return errEnough
		})
	}()
	watches := func(want string) {
		t.Helper()
		for since := time.Now(); !strings.Contains(metrics(t, server), "\netcd_debugging_mvcc_watcher_total "+want+"\n"); time.Sleep(20 * time.Millisecond) {
			if time.Since(since) > patience {
				t.Fatal("the number of watches is not " + want)
			}
		}
	}
	watches("1")
	n.addMany(t, 1, 10)
	<-held
	watches("0")
	n.addMany(t, 98, 10)
	close(free)
	wants(t, <-ended, errEnough)
	check(t, o, n, slow)
}

// metrics returns the metrics of a member.
func metrics(t testing.TB, s *etcdtest.Server) string {
	t.Helper()
	resp, err := http.Get(s.URL + "/metrics")
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return string(text)
}
