package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// drill is a cluster of three nodes and three members of etcd that is disturbed while clients work at all
// nodes.
type drill struct {
	*cluster
	names []string
	token string
	http  *http.Client
	over  atomic.Bool // the clients stop

	mu      sync.Mutex // guards what follows
	nodes   map[string]*process
	acked   []string        // names of departments whose creation was answered with success
	sent    map[string]bool // names that were sent
	unknown int             // writes without an answer, or whose outcome was unknown
	refused int             // writes that were refused with 503
	revoked int             // requests with a session that has ended
	reads   int             // reads of registers
	why     [3]string       // why the last creation at each node failed
	winners map[string]int  // successful creations of a unique code
	gap     time.Duration   // longest time without a successful write
	last    time.Time       // last successful write
}

func newDrill(t *testing.T) *drill {
	d := &drill{
		cluster: newCluster(t, 3),
		names:   []string{"a", "b", "c"},
		http:    &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		nodes:   map[string]*process{},
		sent:    map[string]bool{},
		winners: map[string]int{},
	}
	t.Cleanup(d.http.CloseIdleConnections)
	d.links = map[string]*link{}
	d.succeed("a", "cluster", "init")
	d.nodes["a"] = d.serve("a")
	for _, name := range d.names[1:] {
		d.giveKey("a", name)
		d.nodes[name] = d.serve(name)
	}
	d.token = signedIn(t, d.nodes["a"]).token
	d.last = time.Now()
	return d
}

// at returns a client at a node.
func (d *drill) at(i int, token string) *client {
	return &client{t: d.t, base: "http://" + d.addresses[d.names[i%len(d.names)]], token: token, http: d.http, extra: map[string]string{}}
}

// outcome says what is known of a write: whether it was done, and whether it may have been.
func outcome(a *answer, err error) (done, perhaps bool) {
	switch {
	case err != nil || a.status >= 500 && a.status != 503 || a.ErrorCode == "write_outcome_unknown":
		return false, true
	case a.status == 200:
		return true, true
	}
	return false, false
}

func (d *drill) note(fn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn()
}

// wrote counts a write.
func (d *drill) wrote(done, perhaps bool) {
	switch {
	case done:
		now := time.Now()
		d.gap, d.last = max(d.gap, now.Sub(d.last)), now
	case perhaps:
		d.unknown++
	default:
		d.refused++
	}
}

// rest lets a client wait, after a refusal longer.
func rest(done bool) {
	if done {
		time.Sleep(5 * time.Millisecond)
	} else {
		time.Sleep(30 * time.Millisecond)
	}
}

// creates creates departments at one node.
func (d *drill) creates(client, node int) {
	for n := 0; !d.over.Load(); n++ {
		name := fmt.Sprintf("drill %d %d", client, n)
		d.note(func() { d.sent[name] = true })
		a, err := d.at(node, d.token).do("POST", "/admin/dept", object("name", name, "status", 1))
		done, perhaps := outcome(a, err)
		d.note(func() {
			if d.wrote(done, perhaps); done {
				d.acked = append(d.acked, name)
			} else if d.why[node] = fmt.Sprint(err); err == nil {
				d.why[node] = string(a.raw)
			}
		})
		rest(done)
	}
}

// competes creates dictionaries with the codes that clients at other nodes create, too.
func (d *drill) competes(node int) {
	for n := 0; !d.over.Load(); n++ {
		code := fmt.Sprintf("unique-%d", n)
		a, err := d.at(node, d.token).do("POST", "/system/dict", object("code", code, "name", "N"))
		done, perhaps := outcome(a, err)
		if err == nil && a.status == 422 {
			perhaps = false
		}
		d.note(func() {
			if done {
				d.winners[code]++
			}
		})
		rest(done || perhaps)
	}
}

// register is a record with one writer, whose values grow.
type register struct {
	url            string
	begun, certain atomic.Int64 // highest value that was sent, and that was acknowledged
	highest        atomic.Int64 // highest value that a read that has ended has seen
}

func (d *drill) register(i int) *register {
	made := d.at(0, d.token).want(200, "POST", "/admin/dept", object("name", fmt.Sprintf("register %d = 0", i), "status", 1))
	return &register{url: fmt.Sprint("/admin/dept/", into[struct{ ID int }](d.t, made).ID)}
}

// writes writes growing values to a register, each at another node.
func (d *drill) writes(i int, r *register) {
	for n := int64(1); !d.over.Load(); n++ {
		r.begun.Store(n)
		a, err := d.at(int(n), d.token).do("PUT", r.url, object("name", fmt.Sprintf("register %d = %d", i, n)))
		done, _ := outcome(a, err)
		if done {
			r.certain.Store(n)
		}
		rest(done)
	}
}

// watches reads a register at all nodes: a read that asks for the latest state sees what was acknowledged
// or seen before it began, and nothing that was not written.
func (d *drill) watches(i int, r *register) {
	for n := i; !d.over.Load(); n++ {
		least := max(r.certain.Load(), r.highest.Load())
		c := d.at(n, d.token)
		c.extra["Reeve-Read"] = "latest"
		a, err := c.do("GET", r.url, "")
		if err != nil || a.status != 200 {
			rest(false)
			continue
		}
		var value int64
		var which int
		if _, err := fmt.Sscanf(into[struct{ Name string }](d.t, a).Name, "register %d = %d", &which, &value); err != nil {
			d.t.Errorf("a register has %s", a.raw)
			return
		}
		if most := r.begun.Load(); value < least || value > most || which != i {
			d.t.Errorf("node %s has %d of register %d, not one of %d to %d", d.names[n%3], value, which, least, most)
			return
		}
		for old := r.highest.Load(); old < value && !r.highest.CompareAndSwap(old, value); old = r.highest.Load() {
		}
		d.note(func() { d.reads++ })
	}
}

// revokes signs in at one node and out at another: after the answer, no node accepts the session.
func (d *drill) revokes(username string) {
	for n := 0; !d.over.Load(); n++ {
		a, err := d.at(n, "").do("POST", "/admin/login", object("username", username, "password", password))
		if err != nil || a.status != 200 {
			rest(false)
			continue
		}
		token := into[grant](d.t, a).Token
		c := d.at(n+1, token)
		c.extra["Reeve-Commit"] = a.header.Get("Reeve-Commit")
		a, err = c.do("POST", "/admin/logout", "")
		if done, _ := outcome(a, err); !done {
			rest(false)
			continue
		}
		for i := range 3 {
			if a, err := d.at(i, token).do("GET", "/admin/info", ""); err == nil && a.status == 200 {
				d.t.Errorf("node %s accepts a session that has ended", d.names[i])
			}
			d.note(func() { d.revoked++ })
		}
	}
}

// restart starts nodes that were killed.
func (d *drill) restart(names ...string) {
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			p := d.serve(name)
			d.note(func() { d.nodes[name] = p })
		})
	}
	all.Wait()
}

func (d *drill) node(name string) *process {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.nodes[name]
}

// TestCluster_Drill disturbs a cluster while clients write at all nodes: nothing that was acknowledged is
// lost, nothing appears that nobody wrote, registers are linearizable, codes are unique, no node accepts a
// session that has ended, and all nodes end with the same records.
func TestCluster_Drill(t *testing.T) {
	r := random(t)
	d := newDrill(t)
	var clients sync.WaitGroup
	for i := range 3 {
		register := d.register(i)
		clients.Go(func() { d.creates(i, i) })
		clients.Go(func() { d.creates(i+3, i) })
		clients.Go(func() { d.competes(i) })
		clients.Go(func() { d.writes(i, register) })
		clients.Go(func() { d.watches(i, register) })
	}
	for i := range 3 {
		username := fmt.Sprint("drill-", i) // of others, since a user has a limited number of sessions
		d.at(0, d.token).want(200, "POST", "/admin/list", object("username", username, "password", password))
		clients.Go(func() { d.revokes(username) })
	}

	one := func() string { return d.names[r.IntN(3)] }
	moment := func(most time.Duration) { time.Sleep(time.Duration(r.Int64N(int64(most)))) }
	faults := []struct {
		title string
		times int
		fault func()
	}{
		{"kill a node", size(2, 20, 170), func() {
			name := one()
			d.node(name).kill()
			moment(time.Second / 2)
			d.restart(name)
		}},
		{"freeze a node", size(1, 5, 50), func() {
			p := d.node(one())
			p.signal(syscall.SIGSTOP)
			moment(3 * time.Second)
			p.signal(syscall.SIGCONT)
		}},
		{"kill all nodes", size(1, 2, 10), func() {
			for _, name := range d.names {
				d.node(name).kill()
			}
			d.restart(d.names...)
		}},
		{"part a node from etcd", size(1, 3, 30), func() { d.part(one(), 2*time.Second, d.members()...) }},
		{"part a node from the bucket", size(1, 1, 10), func() { d.part(one(), 2*time.Second, d.s3.Options().Endpoint) }},
		{"part a node from one member", size(1, 1, 10), func() { d.part(one(), 2*time.Second, d.members()[r.IntN(3)]) }},
		{"kill a member of etcd", size(1, 3, 20), func() {
			member := d.etcd[r.IntN(3)]
			member.Kill()
			moment(time.Second)
			member.Restart(t)
			member.Await(t)
		}},
		{"kill all members of etcd", size(0, 1, 5), func() {
			for _, member := range d.etcd {
				member.Kill()
			}
			for _, member := range d.etcd {
				member.Restart(t)
			}
			for _, member := range d.etcd {
				member.Await(t)
			}
		}},
	}
	var order []int
	for i, f := range faults {
		order = append(order, slices.Repeat([]int{i}, f.times)...)
	}
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, i := range order {
		before := d.progress()
		faults[i].fault()
		for since := time.Now(); d.progress() <= before+5 && !t.Failed(); time.Sleep(10 * time.Millisecond) {
			if time.Since(since) > patience {
				t.Errorf("clients do not write again after: %s; the last answers were %q", faults[i].title, d.why)
				for _, name := range d.names {
					t.Logf("node %s: %.3000s", name, d.node(name).log.String())
				}
			}
		}
		if t.Failed() {
			break
		}
	}
	d.over.Store(true)
	clients.Wait()
	d.check()
	t.Logf("%d faults, %d writes acknowledged, %d without a known outcome, %d refused, %d reads of registers, %d requests with ended sessions, %d codes, at most %s without a write",
		len(order), len(d.acked), d.unknown, d.refused, d.reads, d.revoked, len(d.winners), d.gap.Round(time.Millisecond))
}

func (d *drill) members() (urls []string) {
	for _, member := range d.etcd {
		urls = append(urls, member.URL)
	}
	return urls
}

// part cuts the links between a node and servers for a time.
func (d *drill) part(name string, duration time.Duration, urls ...string) {
	for _, url := range urls {
		d.links[name+" "+url].set(true)
	}
	time.Sleep(duration)
	for _, url := range urls {
		d.links[name+" "+url].set(false)
	}
}

// progress returns the number of acknowledged writes.
func (d *drill) progress() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.acked)
}

// check compares what the nodes have with what was answered.
func (d *drill) check() {
	t := d.t
	t.Helper()
	var first map[string]int
	for i, name := range d.names {
		c := d.at(i, d.token)
		c.extra["Reeve-Read"] = "latest"
		all := map[string]int{}
		for _, dept := range into[struct{ Data []struct{ Name string } }](t, c.want(200, "GET", "/admin/dept", "")).Data {
			all[dept.Name]++
		}
		if first == nil {
			first = all
		}
		for name, n := range all {
			if n != 1 || first[name] != 1 || strings.HasPrefix(name, "drill") && !d.sent[name] {
				t.Errorf("node %s has %d departments %q, the first one has %d", d.names[i], n, name, first[name])
			}
		}
		if len(all) != len(first) {
			t.Errorf("node %s has %d departments, the first one %d", name, len(all), len(first))
		}
	}
	for _, name := range d.acked {
		if first[name] != 1 {
			t.Errorf("the department %q was acknowledged and is lost", name)
		}
	}
	for code, n := range d.winners {
		if n > 1 {
			t.Errorf("the code %s was created %d times", code, n)
		}
	}
	for _, name := range d.names {
		d.node(name).stop()
	}
	for _, name := range d.names {
		if r := finish(t, program(t, "verify", "--data", d.data(name))); r.code != 0 {
			t.Errorf("node %s: %s%s", name, r.out, r.err)
		}
		if r := finish(t, program(t, "audit", "verify", "--data", d.data(name))); r.code != 0 {
			t.Errorf("node %s: %s%s", name, r.out, r.err)
		}
	}
}
