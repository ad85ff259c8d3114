package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	reeve "reeve/embed/sdk/go"
)

// balanced starts three nodes, one of which learns late of changes, and returns a load balancer in front of them
// that sends each request to the next one.
func balanced(t *testing.T) *process {
	t.Helper()
	c := newCluster(t, 1)
	c.links = map[string]*link{}
	d := newDrill(c)
	for _, url := range d.members() {
		d.links["c "+url].hold(40 * time.Millisecond)
	}
	var nodes []*httputil.ReverseProxy
	for _, name := range d.names {
		to, err := url.Parse("http://" + d.addresses[name])
		noErr(t, err)
		nodes = append(nodes, &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		}})
	}
	var next atomic.Uint64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nodes[next.Add(1)%uint64(len(nodes))].ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return &process{t: t, url: proxy.URL}
}

// TestConsoleSeveralNodes works in the console through such a load balancer: pages show what was saved, and what
// others save.
func TestConsoleSeveralNodes(t *testing.T) {
	onlyInCI(t, noBrowser)
	t.Parallel()
	server := balanced(t)
	owner := signedIn(t, server)
	owner.staff()
	liveOwn(t, server, owner) // before there are other streams, which it counts at one node

	p := console(t, server)
	p.open("/")
	p.fill("Username", "admin")
	p.fill("Password", password)
	p.click("button", "Sign in")
	p.find("link", "Users")
	for n := range 5 {
		p.open("/admin/list")
		p.click("button", "New user")
		name := fmt.Sprintf("person%d", n)
		p.dialog().fill("Username", name)
		p.dialog().click("button", "Create")
		p.noted(name)
		p.row(name)
		p.click("button", "Edit "+name)
		p.dialog().fill("Display name", fmt.Sprintf("Person %d", n))
		p.dialog().click("button", "Save")
		p.row(fmt.Sprintf("Person %d", n))
	}

	path := filepath.Join(t.TempDir(), "notes.txt")
	noErr(t, os.WriteFile(path, []byte("kept by every node"), 0o600))
	p.open("/file/list")
	p.upload(path)
	p.row("notes.txt")
	name, content := p.download(func() { p.menu("notes.txt", "Download") })
	if name != "notes.txt" || string(content) != "kept by every node" {
		t.Errorf("the download %s has %q", name, content)
	}

	// Each change of another user is on the page after its event, without a second one.
	depts, closeDepts := p.tab(owner.token, "/admin/dept")
	defer closeDepts()
	depts.see("Head office")
	for n := range 10 {
		owner.create("/admin/dept", "name", fmt.Sprintf("Branch %d", n))
		depts.see(fmt.Sprintf("Branch %d", n))
	}
}

// TestCluster_EventsThroughBalancer lets programs read what an event tells of, at another node than that of the
// stream. A change of a record is answered when all nodes have it; a creation is not.
func TestCluster_EventsThroughBalancer(t *testing.T) {
	t.Parallel()
	server := balanced(t)
	key := signedIn(t, server).programKey("shop", "system.dict.query", "system.dict.create")
	c := goClient(t, reeve.Options{URL: server.url, Key: key})
	for n := range 3 { // each stream is at another node
		watcher := goClient(t, reeve.Options{URL: server.url, Key: key})
		created := 0
		for event, err := range watcher.Events(t.Context(), "dict.*") {
			noErr(t, err)
			if event.Type != reeve.EventOpen {
				var change reeve.EventData
				noErr(t, json.Unmarshal(event.Data, &change))
				if err := watcher.Call(t.Context(), "GET", fmt.Sprintf("/system/dict/%d", change.Record), nil, nil); err != nil {
					t.Errorf("after the event %s: %v", event.Data, err)
				}
				created++
			}
			if created == 9 {
				break
			}
			code := fmt.Sprintf("n%d_%d", n, created)
			noErr(t, c.Call(t.Context(), "POST", "/system/dict", map[string]string{"code": code, "name": "New"}, nil))
		}
	}
	runScript(t, "nodes_events.mjs", "SERVER="+server.url, "KEY="+key)
}
