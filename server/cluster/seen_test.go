package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/copies"
	"reeve/store/etcd"
)

// fresh returns the state of the cluster without what was asked before.
func (m *member) fresh() web.NodesState {
	m.t.Helper()
	m.seen.mu.Lock()
	m.seen.at = time.Time{}
	m.seen.mu.Unlock()
	s, err := m.State(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// state returns the state of a node.
func stateOf(s web.NodesState, name string) (found web.NodeState) {
	for _, n := range s.Nodes {
		if n.Name == name {
			found = n
		}
	}
	return found
}

// TestState tells what the nodes say about themselves, whose configuration differs, and who has lost contact.
func TestState(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	config := map[string]string{"server.public_url": "https://a.example.org", "webhooks.allow": "", "files.s3.secret_key": "hidden"}
	g.config = func() map[string]string { return config }
	a := g.start(first, "a")
	a.create("one")
	g.config = func() map[string]string {
		return map[string]string{"server.public_url": "https://b.example.org", "webhooks.allow": "", "files.s3.secret_key": "hidden"}
	}
	b := g.start(keyOnly(t, first), "b")
	g.same(1)

	var s web.NodesState
	until(t, "both nodes have reported what they have applied, and one has the duties", func() bool {
		s = a.fresh()
		return len(s.Nodes) == 2 && stateOf(s, "a").Behind == 0 && stateOf(s, "b").Behind == 0 &&
			stateOf(s, "a").Duties != stateOf(s, "b").Duties && stateOf(s, "b").ReportedAt != 0
	})
	own, other := stateOf(s, "a"), stateOf(s, "b")
	if !bool(s.Cluster) || s.Node != "a" || s.Epoch == "" || s.Number != a.at() || s.Base == 0 && s.Number == 0 || time.Since(s.BaseAt.Std()) > time.Minute {
		t.Errorf("%+v", s)
	}
	if !bool(own.Self) || bool(other.Self) || !bool(own.Contact) || !bool(other.Contact) || len(own.Differs) > 0 ||
		!slices.Equal(other.Differs, []string{"server.public_url"}) {
		t.Errorf("%+v\n%+v", own, other)
	}
	if got := stateOf(b.fresh(), "a").Differs; !slices.Equal(got, []string{"server.public_url"}) {
		t.Errorf("the other node sees that %v differ", got)
	}
	for _, n := range s.Nodes {
		if n.Version != "test" || n.Schema != a.db.SchemaVersion() || n.Data <= 0 || n.Free == 0 ||
			time.Since(n.ReportedAt.Std()) > time.Minute || time.Since(n.StartedAt.Std()) > time.Minute || n.ReportedAt.Std().Before(n.StartedAt.Std()) {
			t.Errorf("%+v", n)
		}
	}
	if len(s.Etcd) != 1 || !bool(s.Etcd[0].Leader) || s.Etcd[0].Version == "" || s.Etcd[0].Bytes <= 0 || s.Etcd[0].Error != "" {
		t.Errorf("%+v", s.Etcd)
	}

	// What was asked a moment ago is told again.
	before := a.seen.at
	if again, err := a.State(t.Context()); err != nil || !a.seen.at.Equal(before) || again.Number != s.Number {
		t.Errorf("etcd was asked again: %v", err)
	}
	if p := a.Health(); p.Name != "cluster" || !strings.Contains(p.Message.String(), "b (server.public_url)") {
		t.Errorf("%s: %s", p.State, p.Message)
	}
	out := &web.Samples{}
	a.WriteMetrics(out)
	for _, want := range []string{"reeve_cluster_nodes 2\n", "reeve_etcd_up{member=", "reeve_cluster_answer_seconds_count ", "reeve_cluster_behind 0\n"} {
		if !strings.Contains(out.Text.String(), want) {
			t.Errorf("no %q in the metrics:\n%s", want, &out.Text)
		}
	}

	b.stop()
	until(t, "the node that has stopped is without contact", func() bool { return !bool(stateOf(a.fresh(), "b").Contact) })
	s = a.fresh()
	if gone := stateOf(s, "b"); len(s.Nodes) != 2 || bool(gone.Duties) || gone.ReportedAt == 0 {
		t.Errorf("%+v", s.Nodes)
	}
	var text bytes.Buffer
	if err := a.Print(&text, s); err != nil || !strings.Contains(text.String(), "differs: server.public_url") || !strings.Contains(text.String(), " ago") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// TestSummary_Sealed: what nodes say about themselves is not readable in etcd, and not without their secret.key.
func TestSummary_Sealed(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	g.config = func() map[string]string { return map[string]string{"server.public_url": "https://a.example.org"} }
	a := g.start(first, "a")
	g.same(0)
	nodes, err := a.etcd.Nodes(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	sealed := nodes[0].Sealed
	if len(sealed) == 0 || bytes.Contains(sealed, []byte("public_url")) || bytes.Contains(sealed, []byte("schema")) {
		t.Errorf("%q", sealed)
	}
	keys, err := a.summaryKeys()
	if err != nil {
		t.Fatal(err)
	}
	said, err := openSummary(keys, sealed)
	if err != nil || len(said.Config["server.public_url"]) != 8 {
		t.Errorf("%+v, %v", said, err)
	}
	if _, err := openSummary([][]byte{make([]byte, 32)}, sealed); err == nil {
		t.Error("another key opens it")
	}
	if _, err := openSummary(keys, append(slices.Clone(sealed), 0)); err == nil {
		t.Error("changed bytes are opened")
	}
	if unread := nodeState(&etcd.Node{Name: "x", Applied: 3, Sealed: []byte("x")}, keys, nil); unread.ReportedAt != 0 || unread.Free != -1 || unread.Applied != 3 {
		t.Errorf("%+v", unread)
	}
}

// A node with a very large configuration still reports.
func TestSummary_AtMost4KiB(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	g.config = func() map[string]string {
		all := map[string]string{}
		for i := range 500 {
			all[strings.Repeat("k", 10)+string(rune('a'+i%26))+strings.Repeat("x", i)] = "v"
		}
		return all
	}
	a := g.start(first, "a")
	g.same(0)
	if own := stateOf(a.fresh(), "a"); own.ReportedAt == 0 || len(own.Differs) > 0 {
		t.Errorf("%+v", own)
	}
	if n := len(a.sealedSummary()); n == 0 || n > mostSummary {
		t.Errorf("%d bytes", n)
	}
}

// checks returns the checks of a node by name.
func checks(t *testing.T, n *Node) map[string]string {
	t.Helper()
	all := map[string]string{}
	n.Check(t.Context(), func(name, state, text, do string) {
		if (state == good) != (do == "") {
			t.Errorf("%s is %s: %s; advice %q", name, state, text, do)
		}
		all[name] += state + " " + text + "\n"
	})
	return all
}

// emptied is a bucket whose base copies were deleted.
type emptied struct{ copies.Target }

func (emptied) List(context.Context, string) ([]copies.Object, error) { return nil, nil }

// silent is a bucket that does not answer.
type silent struct{ copies.Target }

func (silent) List(context.Context, string) ([]copies.Object, error) {
	return nil, errors.New("connection refused")
}

func TestCheck(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	g.config = func() map[string]string { return map[string]string{"webhooks.allow": ""} }
	a := g.start(first, "a")
	a.create("one")
	g.same(1)
	until(t, "the node has reported", func() bool { return stateOf(a.fresh(), "a").Behind == 0 })

	command := func(dir string) *Node { // as that of another process
		n := g.node(dir, "command")
		t.Cleanup(func() { n.Close() })
		return n
	}
	for name, found := range checks(t, command(first)) {
		if !strings.HasPrefix(found, good) {
			t.Errorf("%s: %s", name, found)
		}
	}
	expect := func(n *Node, name, want string) {
		t.Helper()
		if got := checks(t, n)[name]; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	n := command(first)
	n.options.Bucket = emptied{n.options.Bucket}
	expect(n, "base copy", "failed the bucket lacks ")
	n.options.Bucket = silent{}
	expect(n, "base copy", "failed the bucket does not answer: connection refused")

	n = command(first)
	n.options.Config = func() map[string]string { return map[string]string{"webhooks.allow": "10.0.0.0/8"} }
	expect(n, "cluster configuration", "degraded values differ from those here: a (webhooks.allow)")

	empty := t.TempDir()
	expect(command(empty), "cluster key", "failed ")
	stranger := t.TempDir()
	for name, text := range map[string]string{"secret.key": strings.Repeat("A", 43) + "=\n", "instance": a.db.Instance() + "\n"} {
		if err := os.WriteFile(filepath.Join(stranger, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect(command(stranger), "cluster key", "failed ")

	report := a.self()
	report.Applied += 5
	found := []string{}
	for second, want := range map[*etcd.Node][]string{
		{Lease: report.Lease, Sealed: []byte("another report")}: {"cluster data", "cluster clocks", "cluster configuration"},
		&report:     {"cluster data", "cluster nodes", "cluster configuration"},
		{Lease: 99}: {"cluster data", "cluster nodes", "cluster configuration"},
	} {
		found = nil
		n.checkNodes([]*etcd.Node{&report}, time.Now().Add(time.Minute), etcd.Position{Number: a.at()}, func() ([]*etcd.Node, error) {
			return []*etcd.Node{second}, nil
		}, func(name, state, text, _ string) {
			if state != good {
				found = append(found, name)
			}
			if name == "cluster nodes" && state != good && !strings.Contains(text, " a since 20") {
				t.Errorf("%s: %s", name, text)
			}
		})
		if !slices.Equal(found, want) {
			t.Errorf("found %q, want %q", found, want)
		}
	}

	g.etcd.Endpoints = []string{httptest.NewUnstartedServer(nil).Listener.Addr().String()}
	g.etcd.Endpoints[0] = "http://" + g.etcd.Endpoints[0]
	expect(command(first), "etcd", "failed no member answers: ")
}

func TestCheckMembers(t *testing.T) {
	t.Parallel()
	member := func(change func(m *etcd.Member)) etcd.Member {
		m := etcd.Member{Endpoint: "http://e:2379", Version: "3.5.9", Size: 100 << 20, Used: 50 << 20, Quota: 1 << 30}
		change(&m)
		return m
	}
	for name, test := range map[string]struct {
		change func(m *etcd.Member)
		want   string
	}{
		"old":         {func(m *etcd.Member) { m.Version = "3.3.27" }, "etcd version failed"},
		"unreadable":  {func(m *etcd.Member) { m.Version = "not decided" }, "etcd version failed"},
		"no leader":   {func(m *etcd.Member) { m.Alone = true }, "etcd degraded"},
		"alarm":       {func(m *etcd.Member) { m.Faults = []string{"NOSPACE"} }, "etcd alarms failed"},
		"fragmented":  {func(m *etcd.Member) { m.Size = 900 << 20 }, "etcd space degraded defrag"},
		"full":        {func(m *etcd.Member) { m.Size, m.Used = 900<<20, 900<<20 }, "etcd space degraded quota-backend-bytes"},
		"newer":       {func(m *etcd.Member) { m.Version = "4.0.0" }, ""},
		"minimum":     {func(m *etcd.Member) { m.Version = "3.4.0" }, ""},
		"no quota":    {func(m *etcd.Member) { m.Quota, m.Size = 0, 9<<30 }, ""},
		"no problems": {func(*etcd.Member) {}, ""},
	} {
		got := ""
		members := []etcd.Member{member(test.change), member(func(*etcd.Member) {})}
		found := func(name, state, text, do string) {
			if state != good {
				word := ""
				for _, one := range []string{"defrag", "quota-backend-bytes"} {
					if name == "etcd space" && word == "" && strings.Contains(do, one) {
						word = " " + one
					}
				}
				got = strings.TrimSpace(name + " " + state + word)
			}
		}
		checkMembers(members, found)
		checkQuota(members, found)
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The text of a base copy in etcd is as before if its time is unknown.
func TestBase_WithoutTime(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(etcd.Base{Epoch: "e", Number: 1, Name: "n"})
	if err != nil || strings.Contains(string(text), "at") {
		t.Errorf("%s %v", text, err)
	}
}

// Reports of nodes don't fill an etcd in which nothing else is written.
func TestReports_AreForgotten(t *testing.T) {
	g := newGroup(t)
	g.base = time.Millisecond
	first := t.TempDir()
	g.init(first)
	a := g.start(first, "a")
	g.same(0)
	until(t, "the old reports are forgotten", func() bool { return compacted(t, g.etcd.Endpoints[0]) > 1 })
	before, at := compacted(t, g.etcd.Endpoints[0]), a.at()
	until(t, "newer ones are, too", func() bool { return compacted(t, g.etcd.Endpoints[0]) > before })
	if a.at() != at {
		t.Errorf("there were entries up to %d, and now up to %d", at, a.at())
	}
}

// compacted returns the revision up to which an etcd has forgotten old ones.
func compacted(t *testing.T, url string) float64 {
	t.Helper()
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\netcd_debugging_mvcc_compact_revision ")
	line, _, _ := strings.Cut(rest, "\n")
	revision, err := strconv.ParseFloat(line, 64)
	if !found || err != nil {
		t.Fatalf("etcd does not tell its revision: %v", err)
	}
	return revision
}

// TestRestart_OneNode: a node that was killed and runs again is one node at once, and may have the duties.
func TestRestart_OneNode(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	a, b := g.start(first, "a"), g.start(keyOnly(t, first), "b")
	g.same(0)
	lease := b.etcd.Lease()
	if err := b.etcd.Close(); err != nil { // as when it is killed: it can't give up its lease
		t.Fatal(err)
	}
	b.stop()
	g.all = []*member{a}
	b = g.start(b.options.Dir, "b")
	g.same(0)
	nodes, err := a.etcd.Nodes(t.Context())
	if err != nil || len(nodes) != 2 || b.etcd.Lease() == lease || b.etcd.Lease() == 0 {
		t.Errorf("%d nodes, %v; the lease was %x and is %x", len(nodes), err, lease, b.etcd.Lease())
	}
	if err := a.etcd.End(t.Context(), lease); err != nil {
		t.Error(err)
	}
	if known, err := remember(b.options.Dir); err != nil || known.Lease != uint64(b.etcd.Lease()) || known.Etcd == 0 {
		t.Errorf("%+v, %v", known, err)
	}
}

func TestWithoutReplaced(t *testing.T) {
	t.Parallel()
	node := func(name string, started, reported store.Time) web.NodeState {
		return web.NodeState{Name: name, StartedAt: started, ReportedAt: reported}
	}
	all := []web.NodeState{
		node("a", 1, 50), // killed
		node("a", 60, 100),
		node("b", 1, 101), // two that run
		node("b", 60, 100),
		node("c", 0, 0), // can't be read
		node("c", 60, 100),
	}
	want := []web.NodeState{all[1], all[2], all[3], all[4], all[5]}
	if got := withoutReplaced(slices.Clone(all)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestRenew_JoinsOnce: an answer to a question from before a node has joined says nothing about its key. A node whose
// key is gone joins again, as one node.
func TestRenew_JoinsOnce(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	m := g.open(first, "a")
	t.Cleanup(func() {
		if err := errors.Join(m.db.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	})
	renew := func() (etcd.Lease, int) {
		t.Helper()
		if err := m.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		nodes, err := m.etcd.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m.etcd.Lease(), len(nodes)
	}
	early := sinceBoot()
	lease, _ := renew()
	m.beats.add(beat{early, 0, false})
	if again, nodes := renew(); again != lease || nodes != 1 {
		t.Errorf("after an early answer it has the lease %x, not %x, and is %d nodes", again, lease, nodes)
	}
	m.beats.add(beat{sinceBoot(), 0, false})
	if again, nodes := renew(); again == lease || nodes != 1 {
		t.Errorf("after its key was removed it has the lease %x, and is %d nodes", again, nodes)
	}
}
