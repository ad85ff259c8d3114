package server_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// nodesTold is the state of a healthy cluster of two nodes and two members of etcd.
func nodesTold(now time.Time) web.NodesState {
	at := kv.TimeOf(now)
	member := func(endpoint string, leader bool) web.EtcdMember {
		return web.EtcdMember{
			Endpoint: endpoint, Version: "3.6.1", Leader: store.Flag(leader), LatencyMS: 2,
			Bytes: 64 << 20, Used: 40 << 20, Quota: 2 << 30, Alarms: []string{},
		}
	}
	node := func(name string, self bool) web.NodeState {
		return web.NodeState{
			Name: name, Version: "0.1.0", Schema: 7, Applied: 100, Contact: true, Duties: store.Flag(!self),
			Self: store.Flag(self), ReportedAt: at, StartedAt: at, Free: 1 << 30, Data: 8 << 20, Differs: []string{},
		}
	}
	return web.NodesState{
		Epoch: "e1", Number: 100, Base: 90, BaseAt: at,
		Nodes: []web.NodeState{node("a", true), node("b", false)},
		Etcd:  []web.EtcdMember{member("http://etcd-1:2379", true), member("http://etcd-2:2379", false)},
	}
}

// startNode starts a server that is one of several.
func startNode(t *testing.T) (*servertest.Instance, *servertest.Node) {
	t.Helper()
	n := &servertest.Node{Told: nodesTold(time.Now()), Figures: web.NodeFigures{Live: 2, Answered: time.Second / 4}}
	return servertest.Start(t, func(su *servertest.Setup) { su.Config.Cluster = n }), n
}

func TestNodeRoute_SeveralNodes(t *testing.T) {
	t.Parallel()
	in, n := startNode(t)
	n.Told.Nodes[1].Differs = []string{"server.public_url"}
	in.Clerk("reader", "system.node.query")
	in.Clerk("other", "system.info")
	in.Call("GET", "/system/node", "", "other").Brief(403)
	a := in.OK("GET", "/system/node", "", "reader")
	for _, want := range []string{
		`"cluster":1,"node":"a","error":""`, `"number":100,"base":90`, `"name":"b"`, `"duties":1`,
		`"differs":["server.public_url"]`, `"endpoint":"http://etcd-1:2379"`, `"leader":1`, `"quota_bytes":2147483648`,
	} {
		if !strings.Contains(a.Body, want) {
			t.Errorf("no %s in %s", want, a.Body)
		}
	}
	n.Untold = errors.New("no quorum")
	if a := in.OK("GET", "/system/node", "", "reader"); !strings.Contains(a.Body, `"error":"no quorum"`) || !strings.Contains(a.Body, "etcd-2") {
		t.Errorf("without etcd: %s", a.Body)
	}
}

func TestNodeRoute_OneServer(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	a := in.OK("GET", "/system/node", "", "owner")
	if !strings.Contains(a.Body, `"cluster":0,"node":"",`) || !strings.Contains(a.Body, `"nodes":[],"etcd":[]`) {
		t.Errorf("%s", a.Body)
	}
	if _, has := a.Header["Reeve-Node"]; has {
		t.Errorf("the response names a node: %v", a.Header)
	}
	if _, parts := in.HealthParts(); parts["cluster"].Name != "" {
		t.Errorf("health has a cluster: %+v", parts["cluster"])
	}
	if strings.Contains(in.OK("GET", "/metrics", "", "metrics").Body, "reeve_cluster") {
		t.Error("there are metrics of a cluster")
	}
}

// The page is in the menus of a server that is one of several nodes.
func TestNodeMenu_OnlyWithSeveralNodes(t *testing.T) {
	t.Parallel()
	has := func(in *servertest.Instance) bool {
		return strings.Contains(in.OK("GET", "/admin/info", "", "owner").Body, `"path":"/system/node"`)
	}
	if in, _ := startNode(t); !has(in) {
		t.Error("one of several nodes does not show the page")
	}
	if has(servertest.Start(t)) {
		t.Error("a server that is the only one shows the page")
	}
}

// Each response names the node that answers, and what is recorded per node does in its data, too.
func TestNodeName_InResponses(t *testing.T) {
	t.Parallel()
	in, n := startNode(t)
	hook := in.Create("/system/webhook", `{"url":"https://example.org/","types":["*"]}`)
	lists := []string{
		"/system/monitor/request", "/system/monitor/auth", "/system/monitor/query", "/system/monitor/cache", "/system/monitor/redis",
		"/system/monitor/stats", "/system/monitor/trace", "/system/webhook/" + strconv.FormatUint(hook, 10) + "/delivery",
	}
	for _, path := range lists {
		if a := in.OK("GET", path, "", "owner"); !strings.Contains(a.Body, `"node":"a"`) {
			t.Errorf("%s does not name the node: %s", path, a.Body)
		}
	}
	for _, path := range []string{"/health", "/system/node", "/no/such", "/console/"} {
		if a := in.Call("GET", path, "", "owner"); a.Header.Get("Reeve-Node") != "a" {
			t.Errorf("%s: %v", path, a.Header)
		}
	}
	n.NotServing = func() error {
		return errs.New(errs.Busy, "this node has no contact with the other nodes").Coded("node_alone")
	}
	if a := in.Call("GET", "/system/node", "", "owner"); a.Code != http.StatusServiceUnavailable || a.Header.Get("Reeve-Node") != "a" {
		t.Errorf("%d %v", a.Code, a.Header)
	}
}

func TestNodesHealth_States(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		change         func(s *web.NodesState)
		refused, asked error
		state          string
		texts          []string // in English and Chinese
	}{
		"healthy":     {state: web.Healthy, texts: []string{"2 nodes are in contact", "2 个节点保持联系"}},
		"no contact":  {refused: errs.New(errs.Busy, "this node has no contact with the other nodes"), state: web.Failed, texts: []string{"this node has no contact", "失去联系"}},
		"silent etcd": {asked: errors.New("context deadline exceeded"), state: web.Failed, texts: []string{"etcd does not answer: context deadline exceeded", "etcd 没有响应"}},
		"silent member": {change: func(s *web.NodesState) { s.Etcd[1].Error, s.Etcd[1].Version = "refused", "" }, state: web.Degraded,
			texts: []string{"members of etcd do not answer: http://etcd-2:2379", "以下 etcd 成员没有响应"}},
		"member without a leader": {change: func(s *web.NodesState) { s.Etcd[1].Error, s.Etcd[1].Version = "no leader", "3.5.9" }, state: web.Degraded,
			texts: []string{"members of etcd find no leader, which needs a majority of all members in contact: http://etcd-2:2379", "找不到主节点"}},
		"no majority": {change: func(s *web.NodesState) {
			s.Etcd[0].Error, s.Etcd[0].Version = "no leader", "3.5.9"
			s.Etcd[1].Error, s.Etcd[1].Version = "refused", ""
		}, asked: errors.New("context deadline exceeded"), state: web.Failed,
			texts: []string{"in contact: http://etcd-1:2379; members of etcd do not answer: http://etcd-2:2379", "找不到主节点"}},
		"alarm": {change: func(s *web.NodesState) { s.Etcd[1].Alarms = []string{"alarm:CORRUPT"} }, state: web.Failed,
			texts: []string{"etcd has raised an alarm: alarm:CORRUPT", "etcd 已发出警报"}},
		"quota": {change: func(s *web.NodesState) { s.Etcd[0].Bytes = s.Etcd[0].Quota * 81 / 100 }, state: web.Degraded,
			texts: []string{"has 80 % of its quota", "已占配额的 80%"}},
		"almost quota": {change: func(s *web.NodesState) { s.Etcd[0].Bytes = s.Etcd[0].Quota * 79 / 100 }, state: web.Healthy, texts: []string{"2 nodes"}},
		"lost node":    {change: func(s *web.NodesState) { s.Nodes[0].Contact = false }, state: web.Degraded, texts: []string{"nodes have lost contact within the last hour, with the time of the last report: a (2027-01-02T03:04:0", "失去联系"}},
		"behind": {change: func(s *web.NodesState) { s.Nodes[0].Behind = 1000 }, state: web.Degraded,
			texts: []string{"nodes are more than 1000 entries behind: a", "落后超过 1000 条"}},
		"versions": {change: func(s *web.NodesState) { s.Nodes[0].Version = "0.2.0" }, state: web.Degraded,
			texts: []string{"the nodes run several versions: 0.2.0, 0.1.0", "版本不同"}},
		"configuration": {change: func(s *web.NodesState) { s.Nodes[1].Differs = []string{"webhooks.allow"} }, state: web.Degraded,
			texts: []string{"differs from that of this one: b (webhooks.allow)", "配置与本节点不同"}},
		"no duties": {change: func(s *web.NodesState) { s.Nodes[1].Duties = false }, state: web.Degraded, texts: []string{"no node has the duties", "独占任务"}},
		"old base copy": {change: func(s *web.NodesState) { s.BaseAt = kv.TimeOf(now.Add(-time.Hour)) }, state: web.Degraded,
			texts: []string{"there is no new base copy since 2027-01-02T02:04:05Z", "没有新的基础副本"}},
		"unknown base copy": {change: func(s *web.NodesState) { s.BaseAt = 0 }, state: web.Healthy, texts: []string{"2 nodes"}},
		"no new entries":    {change: func(s *web.NodesState) { s.BaseAt, s.Base = kv.TimeOf(now.Add(-time.Hour)), s.Number }, state: web.Healthy, texts: []string{"2 nodes"}},
		"two faults": {change: func(s *web.NodesState) { s.Etcd[1].Error, s.Etcd[1].Version, s.Nodes[1].Duties = "refused", "", false }, state: web.Degraded,
			texts: []string{"members of etcd do not answer: http://etcd-2:2379; no node has the duties", "；没有节点"}},
	} {
		s := nodesTold(now)
		if test.change != nil {
			test.change(&s)
		}
		p := web.NodesHealth(&s, test.refused, test.asked, now)
		if p.Name != "cluster" || p.State != test.state {
			t.Errorf("%s: %s %s: %s", name, p.Name, p.State, p.Message.In(errs.English))
		}
		for i, text := range test.texts {
			if said := p.Message.In([]errs.Language{errs.English, errs.Chinese}[i]); !strings.Contains(said, text) {
				t.Errorf("%s: %q lacks %q", name, said, text)
			}
		}
		if p.Figures["etcd_quota_bytes"] != 2<<30 || p.Figures["entries"] != 100 {
			t.Errorf("%s: %v", name, p.Figures)
		}
	}
}

func TestNodesHealth_IsAComponent(t *testing.T) {
	t.Parallel()
	in, n := startNode(t)
	n.Told.Nodes[1].Duties = false
	_, parts := in.HealthParts()
	if p := parts["cluster"]; p.State != web.Degraded || p.Reason.Code != "duties_none" || p.Figures["nodes"] != 2 {
		t.Errorf("%+v", p)
	}
}

func TestMetrics_OfANode(t *testing.T) {
	t.Parallel()
	in, n := startNode(t)
	n.Figures = web.NodeFigures{
		Log: kv.CommitLogState{
			Won: 5, Lost: 2, Unknown: 1, Applied: 40,
			Appends: kv.Distribution{Bounds: []int64{1e6}, Counts: []uint64{2, 1}, Sum: 3e6},
			Applies: kv.Distribution{Bounds: []int64{1e6}, Counts: []uint64{0, 1}, Sum: 2e6},
		},
		Answers:  kv.Distribution{Bounds: []int64{1e6}, Counts: []uint64{3, 1}, Sum: 7e6},
		Answered: time.Second / 4, Live: 2, Duties: true,
	}
	n.Figures.Log.At.Number = 97
	n.Told.Etcd[1] = web.EtcdMember{Endpoint: "http://etcd-2:2379", Error: "refused"}
	all := scrape(in)
	for name, want := range map[string]float64{
		`reeve_cluster_entries_total{outcome="won"}`:          5,
		`reeve_cluster_entries_total{outcome="lost"}`:         2,
		`reeve_cluster_entries_total{outcome="unknown"}`:      1,
		"reeve_cluster_applied_total":                         40,
		"reeve_cluster_entry":                                 97,
		"reeve_cluster_behind":                                3,
		"reeve_cluster_answer_age_seconds":                    0.25,
		"reeve_cluster_append_seconds_count":                  3,
		"reeve_cluster_apply_seconds_sum":                     0.002,
		"reeve_cluster_answer_seconds_count":                  4,
		`reeve_cluster_answer_seconds_bucket{le="0.001"}`:     3,
		"reeve_cluster_nodes":                                 2,
		"reeve_cluster_duties":                                1,
		"reeve_cluster_base_entry":                            90,
		`reeve_etcd_bytes{member="http://etcd-1:2379"}`:       64 << 20,
		`reeve_etcd_used_bytes{member="http://etcd-1:2379"}`:  40 << 20,
		`reeve_etcd_quota_bytes{member="http://etcd-1:2379"}`: 2 << 30,
		`reeve_etcd_up{member="http://etcd-1:2379"}`:          1,
		`reeve_etcd_up{member="http://etcd-2:2379"}`:          0,
	} {
		if got, has := all[name]; !has || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, has, want)
		}
	}
	if _, has := all[`reeve_etcd_bytes{member="http://etcd-2:2379"}`]; has {
		t.Error("a member that does not answer has a size")
	}
	if age := all["reeve_cluster_base_age_seconds"]; age < 0 || age > 3600 {
		t.Errorf("the base copy is %v s old", age)
	}
	n.Figures.Answered = -1
	if _, has := scrape(in)["reeve_cluster_answer_age_seconds"]; has {
		t.Error("there is an age before the first answer")
	}
}

// A node that does not serve still tells its metrics.
func TestMetrics_OfANodeThatDoesNotServe(t *testing.T) {
	t.Parallel()
	in, n := startNode(t)
	n.NotServing = func() error { return errs.New(errs.Busy, "this node has no contact with the other nodes") }
	n.Untold, n.Told = errors.New("no answer"), web.NodesState{}
	names := slices.Collect(func(yield func(string) bool) {
		for name := range scrape(in) {
			if strings.HasPrefix(name, "reeve_cluster_") && !yield(name) {
				return
			}
		}
	})
	if !slices.Contains(names, "reeve_cluster_nodes") {
		t.Errorf("%q", names)
	}
}
