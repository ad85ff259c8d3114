package server_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reeve/server/limit"
	"reeve/server/rights"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// step is a request, the status of its response, and a text in it.
type step struct {
	method, url, body string
	code              int
	has               string
}

// workday are writes, and reads of what they have written.
var workday = []step{
	{"POST", "/system/dict", `{"code":"level","name":"Level"}`, 200, `"code":"level"`},
	{"GET", "/system/dict/1", "", 200, `"name":"Level"`},
	{"PUT", "/system/dict/1", `{"name":"Grade"}`, 200, ""},
	{"GET", "/system/dict/1", "", 200, `"name":"Grade"`},
	{"POST", "/system/dict/1/item", `{"label":"High","value":"high"}`, 200, ""},
	{"GET", "/admin/dict", "", 200, `"label":"High"`},
	{"PUT", "/system/setting", `{"values":{"site.title":"Mine"}}`, 200, ""},
	{"GET", "/system/setting-value", "", 200, `"Mine"`},
	{"POST", "/admin/dept", `{"name":"Sales"}`, 200, ""},
	{"GET", "/admin/dept/1", "", 200, `"Sales"`},
	{"POST", "/admin/role", `{"name":"Clerk"}`, 200, ""},
	{"GET", "/admin/role/2", "", 200, `"Clerk"`},
	{"POST", "/admin/list", `{"username":"ann","password":"long enough it is","role_ids":[2]}`, 200, ""},
	{"POST", "/admin/login", `{"username":"ann","password":"wrong"}`, 401, ""},
	{"GET", "/system/loginlog?keywordSearch=ann", "", 200, `"total":1`},
	{"POST", "/admin/login", `{"username":"ann","password":"long enough it is"}`, 200, `"token":"rv_`},
	{"PUT", "/admin/list/2/status", `{"status":0}`, 200, ""},
	{"POST", "/admin/login", `{"username":"ann","password":"long enough it is"}`, 401, ""},
	{"DELETE", "/system/dict/1/item/1", "", 200, ""},
	{"DELETE", "/system/dict/1", "", 200, ""},
	{"GET", "/system/dict/1", "", 404, ""},
	{"POST", "/admin/logout", "", 200, ""},
	{"GET", "/admin/info", "", 401, ""},
}

// travel signs a client in and sends it through the workday.
func travel(t *testing.T, c *servertest.Traveller, cookies bool) {
	t.Helper()
	c.Cookies = map[string]string{}
	var grant struct{ Token string }
	c.OK("POST", "/admin/login", `{"username":"admin","password":"`+servertest.OwnerPassword+`"}`).Data(&grant)
	if cookies {
		c.Cookies[servertest.SessionCookie(false, false)] = grant.Token
	} else {
		c.Cookies, c.Token = nil, grant.Token
	}
	for _, s := range workday {
		a := c.Call(s.method, s.url, s.body)
		if a.Code != s.code || !strings.Contains(a.Body, s.has) {
			t.Errorf("%s at node %d: %d %s", a.Sent, (c.At-1)%len(c.All), a.Code, a.Body)
		}
		wrote := s.method != "GET"
		if got := a.Header.Get("Reeve-Commit"); wrote != (got != "") && a.Code == s.code {
			t.Errorf("%s: Reeve-Commit %q", a.Sent, got)
		}
	}
}

func TestNodes_ReadOwnWrites(t *testing.T) {
	t.Parallel()
	t.Run("by header", func(t *testing.T) {
		t.Parallel()
		s := servertest.StartNodes(t, 3)
		s.Log.Delay = 5 * time.Millisecond
		travel(t, &servertest.Traveller{Nodes: s}, false)
	})
	t.Run("by cookie", func(t *testing.T) {
		t.Parallel()
		s := servertest.StartNodes(t, 3)
		s.Log.Delay = 5 * time.Millisecond
		travel(t, &servertest.Traveller{Nodes: s, Silent: true}, true)
	})
	t.Run("without", func(t *testing.T) { // so that the others show something
		t.Parallel()
		s := servertest.StartNodes(t, 2)
		s.Log.Delay = 50 * time.Millisecond
		c := &servertest.Traveller{Nodes: s, Silent: true, Token: s.All[0].Tokens["owner"]}
		old := 0
		for i := range 5 {
			c.OK("POST", "/system/dict", fmt.Sprintf(`{"code":"c%d","name":"N"}`, i))
			if a := c.Call("GET", "/system/dict?keywordSearch=c"+strconv.Itoa(i), ""); strings.Contains(a.Body, `"total":0`) {
				old++
			}
		}
		if old == 0 {
			t.Error("each node had every write at once: the delay has no effect")
		}
	})
}

// TestNodes_KeyOfAnotherNode creates a program's key at one node, uses it at the others, replaces and
// deletes it.
func TestNodes_KeyOfAnotherNode(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 3)
	s.Log.Delay = 5 * time.Millisecond
	c := &servertest.Traveller{Nodes: s, Token: s.All[0].Tokens["owner"]}
	for round := range 5 {
		var role struct{ ID uint64 }
		c.OK("POST", "/admin/role", fmt.Sprintf(`{"name":"Programs %d","data_scope":"all"}`, round)).Data(&role)
		c.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", role.ID), fmt.Sprintf(`{"rule_ids":[%d]}`, s.All[0].Permission("system.dict.query")))
		var key rights.KeyWithToken
		c.OK("POST", "/admin/key", fmt.Sprintf(`{"name":"shop %d","role_ids":[%d]}`, round, role.ID)).Data(&key)
		program := &servertest.Traveller{Nodes: s, Token: key.Token, Position: c.Position, At: c.At}
		program.OK("GET", "/system/dict", "")
		program.OK("GET", "/system/dict", "")
		c.OK("DELETE", fmt.Sprintf("/admin/key/%d", key.ID), "")
		program.Position, program.At = c.Position, c.At
		if a := program.Call("GET", "/system/dict", ""); a.Code != 401 {
			t.Errorf("a deleted key at another node: %d %s", a.Code, a.Body)
		}
	}
}

// TestNodes_NewTokenWithoutPosition uses tokens at another node right after they were issued, as a client does that
// knows nothing of positions.
func TestNodes_NewTokenWithoutPosition(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	s.Log.Delay = 50 * time.Millisecond
	signIn := func(c *servertest.Traveller) {
		t.Helper()
		var grant struct{ Token string }
		c.OK("POST", "/admin/login", `{"username":"admin","password":"`+servertest.OwnerPassword+`"}`).Data(&grant)
		c.Token = grant.Token
	}
	c := &servertest.Traveller{Nodes: s, Silent: true}
	signIn(c)
	c.OK("GET", "/admin/info", "")
	var role struct{ ID uint64 }
	c.OK("POST", "/admin/role", `{"name":"Programs"}`).Data(&role)
	c.At = 0 // which has the role
	var key rights.KeyWithToken
	c.OK("POST", "/admin/key", fmt.Sprintf(`{"name":"shop","role_ids":[%d]}`, role.ID)).Data(&key)
	program := &servertest.Traveller{Nodes: s, Silent: true, Token: key.Token, At: c.At}
	program.Call("GET", "/admin/dept", "").Brief(403, "admin.dept.query")

	s.Log.Cut(errors.New("no contact"))
	program.Token = strings.Replace(key.Token, key.Token[10:12], "xx", 1) // its checksum is wrong: the log is not asked
	program.Call("GET", "/admin/dept", "").Brief(401, "token_unknown")
}

// TestNodes_PositionOfEveryWrite sends a request of every route: the response names the position if there
// was a commit, and not without.
func TestNodes_PositionOfEveryWrite(t *testing.T) {
	t.Parallel()
	s := servertest.NodesOf(everyone(t), 1)
	in := s.All[0]
	written := 0
	servertest.EachRoute(t, in, nil, func(in *servertest.Instance, rt *web.Route) {
		epoch, before, _ := in.DB.CommitPosition()
		a := in.Call(rt.Method, servertest.URLOf(rt), "", holder(rt))
		_, after, _ := in.DB.CommitPosition()
		want := ""
		if after > before {
			written++
			want = web.EventID(epoch, after)
		}
		got := a.Header.Get("Reeve-Commit")
		if got == "" && want != "" || got != "" && got != web.EventID(epoch, after) {
			in.T.Errorf("from %d to %d: Reeve-Commit %q", before, after, got)
		}
	})
	if written < 2 {
		t.Errorf("only %d requests have written", written)
	}
	alone := servertest.Start(t)
	a := alone.OK("POST", "/system/dict", `{"code":"c","name":"N"}`, "owner")
	if at := a.Header.Get("Reeve-Commit"); at != "" || len(a.Cookies) > 0 {
		t.Errorf("a server that is the only one answers with Reeve-Commit %q, %v", at, a.Cookies)
	}
	if a := alone.Call("GET", "/system/dict", "", "owner"); a.Code != 200 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// withHeader returns a request of the owner with a header.
func withHeader(in *servertest.Instance, name, value string) *http.Request {
	r := in.Request("GET", "/system/dict", "", "owner")
	r.Header.Set(name, value)
	return r
}

// TestNodes_WaitingIsBounded fills the places of requests that wait: no more wait, others go on, and what
// is no position of this log is ignored.
func TestNodes_WaitingIsBounded(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 1)
	in := s.All[0]
	places := in.Server.Limits.Waiting
	epoch, number, _ := in.DB.CommitPosition()
	never := web.EventID(epoch, math.MaxUint64)
	from := limit.Share{Client: "other", Most: places.Total}
	servertest.Must(t, places.Acquire(places.Total, from))
	servertest.EachRoute(t, in, nil, func(in *servertest.Instance, rt *web.Route) {
		r := in.Request(rt.Method, servertest.URLOf(rt), "", "nobody")
		r.Header.Set("Reeve-Commit", never)
		a := in.Send(r)
		behind := a.Code == rt.StatusOf(errs.Busy) && a.Header.Get("Retry-After") == "1" && (!conventional(rt) || rt.Page || strings.Contains(a.Body, `"errorCode":"behind"`))
		if always := slices.Contains(alwaysServed, rt.Name()); behind == always {
			in.T.Errorf("%d %s", a.Code, a.Body)
		}
	})
	for _, ignored := range []string{"", "-", "5", "other-5", epoch, epoch + "-", epoch + "-x", epoch + "--5", epoch + "-+5",
		epoch + "-18446744073709551616", "-" + never, web.EventID(epoch, number), web.EventID("other", math.MaxUint64),
		strings.Repeat("9", 4000)} {
		if a := in.Send(withHeader(in, "Reeve-Commit", ignored)); a.Code != 200 {
			t.Errorf("%q: %d %s", ignored, a.Code, a.Body)
		}
	}
	r := in.Request("GET", "/system/dict", "", "owner")
	r.AddCookie(&http.Cookie{Name: servertest.Marked.CommitCookie(false), Value: never})
	in.Send(r).Brief(503, `"errorCode":"behind"`)
	in.Send(withHeader(in, "Reeve-Read", "latest")).Brief(503, `"errorCode":"behind"`)
	places.Release(places.Total, from)

	mine := limit.Share{Client: "192.0.2.1", Most: web.MaxWaitingPerAddress}
	servertest.Must(t, places.Acquire(mine.Most, mine))
	in.Send(withHeader(in, "Reeve-Commit", never)).Brief(503, `"errorCode":"behind"`)
	r = withHeader(in, "Reeve-Commit", web.EventID(epoch, number+1))
	r.RemoteAddr = "198.51.100.7:1234"
	answered := make(chan int, 1)
	go func() { answered <- in.Send(r).Code }()
	servertest.Until(t, "a request of another address waits", func() bool { return places.Now() > mine.Most })
	in.OK("POST", "/system/dict", `{"code":"c","name":"N"}`, "owner")
	if code := <-answered; code != 200 {
		t.Errorf("after the commit: %d", code)
	}
	places.Release(mine.Most, mine)
	if n := places.Now(); n != 0 {
		t.Errorf("%d places are left", n)
	}
}

// TestNodes_WaitEnds covers requests whose position never comes: by time, and by their client.
func TestNodes_WaitEnds(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 1)
	in := s.All[0]
	places := in.Server.Limits.Waiting
	epoch, _, _ := in.DB.CommitPosition()
	never := web.EventID(epoch, math.MaxUint64)
	a := in.Send(withHeader(in, "Reeve-Commit", never))
	a.Brief(503, `"errorCode":"behind"`)
	if a.Header.Get("Retry-After") != "1" || places.Now() != 0 {
		t.Errorf("Retry-After %q, %d places are left", a.Header.Get("Retry-After"), places.Now())
	}

	ctx, cancel := context.WithCancel(t.Context())
	url := in.Live()
	r, err := http.NewRequestWithContext(ctx, "GET", url+"/system/dict", nil)
	servertest.Must(t, err)
	r.Header.Set("Reeve-Commit", never)
	gone := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(r)
		gone <- err
	}()
	servertest.Until(t, "it waits", func() bool { return places.Now() == 1 })
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the client gets %v", err)
	}
	servertest.Until(t, "its place is free", func() bool { return places.Now() == 0 })
}

func TestNodes_ReadLatest(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	s.Log.Delay = 10 * time.Millisecond
	for i := range 10 {
		writer, reader := s.All[i%2], s.All[1-i%2]
		writer.OK("POST", "/system/dict", fmt.Sprintf(`{"code":"c%d","name":"N"}`, i), "owner")
		r := withHeader(reader, "Reeve-Read", "latest")
		r.URL.RawQuery = "keywordSearch=c" + strconv.Itoa(i)
		reader.Send(r).Brief(200, `"total":1`)
	}
	in := s.All[1]
	in.Send(withHeader(in, "Reeve-Read", "newest")).Names(400, "Reeve-Read")
	s.Log.Cut(errors.New("no contact"))
	defer s.Log.Cut(nil)
	a := in.Send(withHeader(in, "Reeve-Read", "latest"))
	a.Brief(503, `"errorCode":"out_of_contact"`)
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	in.OK("GET", "/system/dict", "", "owner") // without it
}

// TestNodes_BehindWait covers requests to a node that has not applied what another has written: they wait for it.
func TestNodes_BehindWait(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	s.Log.Delay = 50 * time.Millisecond
	behind := func() error {
		return errs.New(errs.Busy, "this node has not applied the latest changes yet").Coded("node_behind")
	}
	var stuck atomic.Bool
	s.Clusters[1].NotServing = func() error {
		_, has, _ := s.All[1].DB.CommitPosition()
		if _, head, _ := s.All[0].DB.CommitPosition(); stuck.Load() || has < head {
			return behind()
		}
		return nil
	}
	for i := range 10 {
		s.All[0].OK("POST", "/system/dict", fmt.Sprintf(`{"code":"c%d","name":"N"}`, i), "owner")
		s.All[1].Call("GET", fmt.Sprint("/system/dict?keywordSearch=c", i), "", "owner").Brief(200, `"total":1`)
	}

	stuck.Store(true)
	a := s.All[1].Call("GET", "/system/dict", "", "owner")
	a.Brief(503, `"errorCode":"node_behind"`)
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	stuck.Store(false)
	s.Log.Cut(errors.New("no contact"))
	defer s.Log.Cut(nil)
	s.All[1].OK("GET", "/system/dict", "", "owner")
	stuck.Store(true)
	s.All[1].Call("GET", "/system/dict", "", "owner").Brief(503, `"errorCode":"out_of_contact"`)
}

// alwaysServed are the routes that a node answers that must not serve.
var alwaysServed = []string{"GET /health", "GET /health/live", "GET /health/ready", "GET /metrics"}

// TestServing_Ends lets a node stop serving: every route says so, except those that tell the state, and
// event streams end.
func TestServing_Ends(t *testing.T) {
	t.Parallel()
	var stopped atomic.Bool
	shared := errs.New(errs.Busy, "the server is shutting down").Coded("node_alone")
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.Cluster = &servertest.Node{NotServing: func() error {
			if stopped.Load() {
				return shared
			}
			return nil
		}}
	})
	in.Server.Streams.Beat = time.Hour // only the node itself can end a stream
	url := in.Live()
	l := in.Listen(url+"/system/event", "owner")
	for _, name := range alwaysServed {
		path := strings.TrimPrefix(name, "GET ")
		in.OK("GET", path, "", "metrics")
	}

	stopped.Store(true)
	if kind, _ := l.Next(); kind != "" {
		t.Errorf("event %s", kind)
	}
	servertest.EachRoute(t, in, nil, func(in *servertest.Instance, rt *web.Route) {
		a := in.Call(rt.Method, servertest.URLOf(rt), "", holderOrMetrics(rt))
		if rt.Path == "/metrics" || rt.Path == "/health/live" {
			a.Brief(200)
			return
		}
		if a.Code != rt.StatusOf(errs.Busy) || a.Header.Get("Retry-After") != "1" ||
			conventional(rt) && !rt.Page && !strings.Contains(a.Body, `"errorCode":"node_alone"`) {
			in.T.Errorf("%d %s", a.Code, a.Body)
		}
	})
	if shared.RetryAfter != 0 {
		t.Error("the error of all requests was changed")
	}
	stopped.Store(false)
	in.OK("GET", "/health/ready", "", "nobody")
	in.OK("GET", "/admin/info", "", "owner")
	servertest.Until(t, "streams begin again", func() bool {
		select {
		case <-in.Server.Streams.Halted():
			return false
		default:
			return true
		}
	})
	l = in.Listen(url+"/system/event", "owner")
	in.Create("/system/dict", `{"code":"c","name":"N"}`)
	l.Gets("dict.changed")
}

// holderOrMetrics is holder for a server without app users.
func holderOrMetrics(rt *web.Route) string {
	if rt.Access == web.MetricsToken {
		return "metrics"
	}
	return "owner"
}

// TestNodes_SettingRefresh: the cache of settings is rebuilt at all nodes, and the response names those that have
// applied that commit, and the others.
func TestNodes_SettingRefresh(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	asked := uint64(0)
	s.Clusters[0].Applies = func(number uint64) (has, lacks []string) {
		asked = number
		return []string{"node-0", "node-1"}, []string{"gone"}
	}
	generation := func(in *servertest.Instance) (n uint64) {
		in.View(func(tx *store.Tx) error { n = store.SettingCache.Generation(tx); return nil })
		return n
	}
	before := generation(s.All[1])
	a := s.All[0].OK("POST", "/system/setting/refresh", "", "owner")
	a.Brief(200, `"nodes":["node-0","node-1"],"waiting":["gone"]`)
	if epoch, _, _ := s.All[0].DB.CommitPosition(); a.Header.Get("Reeve-Commit") != web.EventID(epoch, asked) {
		t.Errorf("asked who has entry %d, but it is %s", asked, a.Header.Get("Reeve-Commit"))
	}
	latest := s.All[1].Request("GET", "/admin/info", "", "owner")
	latest.Header.Set("Reeve-Read", "latest")
	s.All[1].Send(latest).Brief(200)
	if generation(s.All[1]) != before+1 {
		t.Errorf("the other node has built it %d times, not once", generation(s.All[1])-before)
	}
	// An entry that has rows, too: that of the repeated request.
	once := s.All[0].Request("POST", "/system/setting/refresh", "", "owner")
	once.Header.Set("Idempotency-Key", "once")
	s.All[0].Send(once).Brief(200, `"node-1"`)
	s.All[1].Send(latest).Brief(200)
	if generation(s.All[1]) != before+2 {
		t.Error("the other node has not built it for an entry that has rows")
	}
	servertest.Start(t).OK("POST", "/system/setting/refresh", "", "owner").Brief(200, `"nodes":[],"waiting":[]`)
}

// TestNodes_RepeatIsConfirmed: a request that is repeated at another node, while the first one waits until no node acts on
// the rights that it takes away, waits for that, too.
func TestNodes_RepeatIsConfirmed(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	waits, goOn := make(chan struct{}, 10), make(chan struct{})
	s.Log.Confirmed = func(uint64) {
		waits <- struct{}{}
		<-goOn
	}
	answered := make(chan int, 2)
	send := func(in *servertest.Instance) {
		r := in.Request("POST", "/system/setting/refresh", "", "owner")
		r.Header.Set("Idempotency-Key", "twice")
		r.Header.Set("Reeve-Read", "latest")
		go func() { answered <- in.Send(r).Code }()
		select {
		case <-waits:
		case code := <-answered:
			t.Fatalf("%d before all nodes knew", code)
		}
	}
	send(s.All[0])
	send(s.All[1])
	close(goOn)
	for range 2 {
		if code := <-answered; code != 200 {
			t.Errorf("%d", code)
		}
	}
}
