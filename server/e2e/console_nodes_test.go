package e2e

import (
	"io/fs"
	"net/http/httptest"
	"testing"
	"time"

	"reeve/embed"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store/kv"
)

// seenNodes is a cluster with something to see: a node that is far behind, one without contact, and a member
// of etcd that does not answer.
func seenNodes() web.NodesState {
	now := time.Now()
	at := func(before time.Duration) (t web.NodeState) {
		t.ReportedAt, t.StartedAt = kv.TimeOf(now.Add(-before)), kv.TimeOf(now.Add(-30*time.Hour))
		t.Version, t.Schema, t.Contact, t.Free, t.Data, t.Differs = "0.18.0", 41, true, 48<<30, 310<<20, []string{}
		return t
	}
	a, b, c := at(0), at(time.Second), at(10*time.Minute)
	a.Name, a.Self, a.Applied = "berlin-1", true, 128_443
	b.Name, b.Duties, b.Applied, b.Behind = "berlin-2", true, 126_143, 2300
	b.Differs = []string{"server.public_url", "backup.recipients"}
	c.Name, c.Contact, c.Applied, c.Behind, c.Free = "frankfurt-1-with-a-name-that-is-long", false, 120_000, 8443, -1
	return web.NodesState{
		Epoch: "k3v9q2", Number: 128_443, Base: 120_000, BaseAt: kv.TimeOf(now.Add(-7 * time.Minute)),
		Nodes: []web.NodeState{a, b, c},
		Etcd: []web.EtcdMember{
			{Endpoint: "https://etcd-1.example.org:2379", Version: "3.6.1", Leader: true, LatencyMS: 2, Bytes: 1900 << 20, Used: 400 << 20, Quota: 2 << 30, Alarms: []string{}},
			{Endpoint: "https://etcd-2.example.org:2379", Version: "3.6.1", LatencyMS: 3, Bytes: 900 << 20, Used: 400 << 20, Quota: 2 << 30, Alarms: []string{"alarm:NOSPACE"}},
			{Endpoint: "https://etcd-3.example.org:2379", Error: "context deadline exceeded", Alarms: []string{}},
		},
	}
}

// servedNode serves a node in this process, with the built console.
func servedNode(t *testing.T, told web.NodesState) (*process, *client, *servertest.Instance) {
	t.Helper()
	files, err := fs.Sub(embed.Console, "dist")
	noErr(t, err)
	manual, err := fs.Sub(embed.Manual, "manual")
	noErr(t, err)
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.Console, su.Config.Manual = files, manual
		su.Config.Cluster = &servertest.Node{Label: "berlin-1", Told: told}
	})
	s := httptest.NewServer(in.Server.Handler())
	t.Cleanup(s.Close)
	server := &process{t: t, url: s.URL}
	c := newClient(t, server)
	c.token = in.Tokens["owner"]
	return server, c, in
}

// TestConsoleNodes shows the nodes and the members of etcd, and which node has recorded a list.
func TestConsoleNodes(t *testing.T) {
	t.Parallel()
	server, c, _ := servedNode(t, seenNodes())
	p := signedInAt(t, server, c, "/")
	p.click("link", "Nodes")
	p.at("/system/node")
	for _, text := range []string{
		"berlin-1", "this node", "duties", "no contact", "2,300 behind", "server.public_url", "backup.recipients", "differs", "0.18.0, schema 41",
		"up to change 120,000", "https://etcd-1.example.org:2379", "leader", "does not answer", "context deadline exceeded", "alarm:NOSPACE", "93% reached",
	} {
		p.see(text)
	}
	p.looksGood("nodes")
	p.audit()

	p = signedInAt(t, server, c, "/system/node", inChinese)
	for _, text := range []string{"独占任务", "失去联系", "落后 2,300", "不一致", "没有响应", "已达 93%"} {
		p.see(text)
	}
	p.looksGood("zh-nodes")

	p = signedInAt(t, server, c, "/system/monitor/request")
	p.see("On node berlin-1")
	p.looksGood("nodes-monitor")
	p.open("/system/monitor/trace")
	p.see("On node berlin-1")
	p.audit()
}

// TestConsoleNodes_One says that a server is the only one, and leads to the manual. The page is not in its menu.
func TestConsoleNodes_One(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/node")
	p.see("This server is the only one.")
	p.in("nav").missing("link", "Nodes")
	p.looksGood("nodes-one")
	p.audit()
	p.click("link", "When several nodes are worth it, and how to begin")
	p.at("/help/several-nodes")
	p = signedInAt(t, server, c, "/system/node", inChinese)
	p.see("此服务器是唯一的节点。")
	p.open("/system/monitor/request")
	p.gone("来自节点")
}
