package servertest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/server/web"
	"reeve/store/kv"
	"reeve/store/stream/streamtest"
)

// Nodes are instances with the same records and one log of commits.
type Nodes struct {
	T   testing.TB
	Log *streamtest.Log
	All []*Instance

	Clusters []*Node // what each of them is told of the others: the first one has the duties
}

// WithCommitLog opens the instance with a log of commits, which its data must belong to.
func WithCommitLog(log *kv.CommitLogOptions) func(*Setup) {
	return func(su *Setup) { su.commits = log }
}

// nodes returns the number of nodes for packages that do not know the cluster; nil for a server that is
// the only one.
func (su *Setup) nodes() func() int {
	switch {
	case su.Config.Cluster != nil:
		return su.Config.Cluster.Live
	case su.commits != nil:
		return func() int { return 1 }
	}
	return nil
}

// StartNodes starts an instance, and returns copies of it with one log of commits. A user is signed in at
// all of them, "owner".
func StartNodes(t testing.TB, n int, options ...func(*Setup)) *Nodes {
	t.Helper()
	return NodesOf(Start(t, options...), n, options...)
}

// NodesOf returns nodes with the records and tokens of an instance, which is closed.
func NodesOf(first *Instance, n int, options ...func(*Setup)) *Nodes {
	t := first.T
	t.Helper()
	head, err := first.DB.BeginCommitLog()
	Must(t, err)
	first.Close()
	s := &Nodes{T: t, Log: streamtest.New(head.Epoch)}
	board := &sync.Map{}
	for i := range n {
		dir := filepath.Join(t.TempDir(), "data")
		Must(t, os.CopyFS(dir, os.DirFS(first.Dir)))
		log := WithCommitLog(&kv.CommitLogOptions{Log: s.Log, Author: fmt.Sprint("node ", i)})
		told := &Node{Label: fmt.Sprint("node-", i), Board: board}
		told.Off.Store(i > 0)
		told.Others.Store(int64(n - 1))
		s.Clusters = append(s.Clusters, told)
		in := Open(t, dir, append(slices.Clip(options), log, func(su *Setup) { su.Config.Cluster = told })...)
		maps.Copy(in.Tokens, first.Tokens)
		in.Last.Store(first.Last.Load())
		s.All = append(s.All, in)
	}
	return s
}

// Node is what a server is told of its cluster in a test.
type Node struct {
	Label      string       // name of this node; "" for a
	NotServing func() error // nil for a node that serves
	Off        atomic.Bool  // whether another node has the duties
	Others     atomic.Int64 // nodes in contact besides this one
	Told       web.NodesState
	Untold     error // why etcd does not tell the state; nil if it does
	Figures    web.NodeFigures
	Board      *sync.Map // notes by name; nil for none
	Applies    func(number uint64) (has, lacks []string)
}

func (n *Node) Name() string { return cmp.Or(n.Label, "a") }

func (n *Node) Serving() error {
	if n.NotServing == nil {
		return nil
	}
	return n.NotServing()
}

func (n *Node) OnDuty() bool { return !n.Off.Load() }

func (n *Node) Live() int { return 1 + int(n.Others.Load()) }

func (n *Node) State(context.Context) (web.NodesState, error) { return n.Told, n.Untold }

func (n *Node) Applied(_ context.Context, number uint64) (has, lacks []string) {
	if n.Applies == nil {
		return []string{n.Name()}, nil
	}
	return n.Applies(number)
}

func (n *Node) SetNote(_ context.Context, name string, text []byte) error {
	n.Board.Store(name, text)
	return nil
}

func (n *Node) Notes(_ context.Context, prefix string) (map[string][]byte, error) {
	all := map[string][]byte{}
	if n.Board != nil {
		n.Board.Range(func(name, text any) bool {
			if strings.HasPrefix(name.(string), prefix) {
				all[name.(string)] = text.([]byte)
			}
			return true
		})
	}
	return all, nil
}

func (n *Node) Health() web.Part {
	return web.NodesHealth(&n.Told, n.Serving(), n.Untold, time.Now())
}

func (n *Node) WriteMetrics(out *web.Samples) { web.WriteNodeMetrics(out, &n.Figures, &n.Told) }

// GiveDuties gives the duties to a node.
func (s *Nodes) GiveDuties(to int) {
	for i, told := range s.Clusters {
		told.Off.Store(i != to)
	}
}

// Traveller is a client behind a load balancer that sends each of its requests to the next node.
type Traveller struct {
	*Nodes
	Token    string // sent in the header Authorization; "" for none
	Position string // last Reeve-Commit; sent unless Silent
	Silent   bool   // whether it sends no header with a position
	Cookies  map[string]string
	At       int // node of the next request
}

// Call sends a request to the next node. The client keeps cookies if it has a map for them. headers are
// names and values.
func (c *Traveller) Call(method, url, body string, headers ...string) *Reply {
	c.T.Helper()
	in := c.All[c.At%len(c.All)]
	c.At++
	r := in.Request(method, url, body, "nobody")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if c.Position != "" && !c.Silent {
		r.Header.Set("Reeve-Commit", c.Position)
	}
	for name, value := range c.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	a := in.Send(r)
	if at := a.Header.Get("Reeve-Commit"); at != "" {
		c.Position = at
	}
	for _, cookie := range a.Cookies {
		if c.Cookies != nil {
			c.Cookies[cookie.Name] = cookie.Value
		}
	}
	return a
}

// OK is like Call, but the request must succeed.
func (c *Traveller) OK(method, url, body string, headers ...string) *Reply {
	c.T.Helper()
	a := c.Call(method, url, body, headers...)
	if a.Code != http.StatusOK {
		c.T.Fatalf("%s at node %d: %d %s", a.Sent, (c.At-1)%len(c.All), a.Code, a.Body)
	}
	return a
}

// AtOnce calls fn for all nodes at the same time, and returns for how many it has returned true.
func (s *Nodes) AtOnce(fn func(in *Instance) bool) (n int64) {
	var all sync.WaitGroup
	var count atomic.Int64
	for _, in := range s.All {
		all.Go(func() {
			if fn(in) {
				count.Add(1)
			}
		})
	}
	all.Wait()
	return count.Load()
}

// takePosition checks the cookie with the position of a write, and takes it away from the header, so that
// the other cookies can be compared.
func (a *Reply) takePosition() {
	a.T.Helper()
	a.Cookies = (&http.Response{Header: a.Header}).Cookies()
	position := a.Header.Get("Reeve-Commit")
	lines := a.Header["Set-Cookie"]
	i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, web.CommitName) })
	if i < 0 {
		return
	}
	want := Marked.CommitCookie(false) + "=" + position + "; Path=/; Max-Age=600; HttpOnly; SameSite=Lax"
	if position == "" || lines[i] != want {
		a.T.Errorf("%s: the cookie of the position %q is %q", a.Sent, position, lines[i])
	}
	if lines = slices.Delete(slices.Clone(lines), i, i+1); len(lines) == 0 {
		delete(a.Header, "Set-Cookie")
	} else {
		a.Header["Set-Cookie"] = lines
	}
}
