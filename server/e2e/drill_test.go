package e2e

import (
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// drill is a cluster of three nodes that is disturbed while clients work at all nodes.
type drill struct {
	*cluster
	names  []string
	token  string
	http   *http.Client
	random *rand.Rand
	begun  time.Time
	barred map[string]bool // nodes that the bucket refuses because of their clocks
	over   atomic.Bool     // the clients stop

	mu         sync.Mutex // guards what follows
	nodes      map[string]*process
	acked      []string        // names of departments whose creation was answered with success
	sent       map[string]bool // names that were sent
	unknown    int             // writes without an answer, or whose outcome was unknown
	refused    int             // writes that were refused with 503
	undone     int             // changes that were undone
	revoked    map[string]int  // requests with sessions, keys and roles that were taken away
	why        [3]string       // why the last creation at each node failed
	winners    map[string]int  // successful creations of a unique code
	files      []storedFile    // those whose upload was answered with success
	read       int             // files that were read
	bucketless int             // uploads and downloads that were refused because the bucket did not answer
	registers  []*register
	gap        time.Duration // longest time without a successful write
	last       time.Time     // last successful write
}

// fault is a disturbance, and how often it happens.
type fault struct {
	title string
	times int
	cause func()
}

// newDrill starts the nodes of a new cluster.
func newDrill(c *cluster) *drill {
	d := &drill{
		cluster: c,
		names:   []string{"a", "b", "c"},
		http:    &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		random:  random(c.t),
		begun:   time.Now(),
		nodes:   map[string]*process{},
		sent:    map[string]bool{},
		revoked: map[string]int{},
		winners: map[string]int{},
	}
	c.t.Cleanup(d.http.CloseIdleConnections)
	d.succeed("a", "cluster", "init")
	d.nodes["a"] = d.serve("a")
	for _, name := range d.names[1:] {
		d.giveKey("a", name)
		d.nodes[name] = d.serve(name)
	}
	d.token = signedIn(c.t, d.nodes["a"]).token
	for i := range d.names {
		d.at(i, d.token).has("/admin/info", "admin") // so that each has the session
	}
	return d
}

// at returns a client at a node.
func (d *drill) at(i int, token string) *client {
	return &client{t: d.t, base: "http://" + d.addresses[d.names[i%len(d.names)]], token: token, http: d.http, extra: map[string]string{}}
}

// latest returns a client at a node whose reads see all that was acknowledged before.
func (d *drill) latest(i int, token string) *client {
	c := d.at(i, token)
	c.extra["Reeve-Read"] = "latest"
	return c
}

// one returns the name of a node.
func (d *drill) one() string { return d.names[d.random.IntN(len(d.names))] }

// moment waits for a random time.
func (d *drill) moment(most time.Duration) {
	time.Sleep(time.Duration(d.random.Int64N(int64(most))))
}

func (d *drill) note(fn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn()
}

func (d *drill) node(name string) *process {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.nodes[name]
}

// restart starts nodes that have ended.
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

// run causes faults in a random order while clients work, and then checks what the nodes have.
func (d *drill) run(faults ...fault) {
	t := d.t
	t.Helper()
	stop := d.load()
	var order []int
	for i, f := range faults {
		order = append(order, slices.Repeat([]int{i}, f.times)...)
	}
	d.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	d.goesOn("nothing")
	for _, i := range order {
		faults[i].cause()
		if d.goesOn(faults[i].title); t.Failed() {
			break
		}
	}
	stop()
	d.check()
	t.Logf("%d faults in %s, %d writes acknowledged, %d files uploaded, %d read, %d refused without the bucket, %d writes without a known outcome, %d refused, %d codes, %d undone, requests with withdrawn rights: %v, at most %s without a write",
		len(order), time.Since(d.begun).Round(time.Second), len(d.acked), len(d.files), d.read, d.bucketless, d.unknown, d.refused, len(d.winners), d.undone, d.revoked, d.gap.Round(time.Millisecond))
}

// goesOn waits until clients write again.
func (d *drill) goesOn(after string) {
	d.t.Helper()
	before := d.progress()
	for since := time.Now(); d.progress() <= before+5 && !d.t.Failed(); time.Sleep(10 * time.Millisecond) {
		if time.Since(since) > patience {
			d.t.Errorf("clients do not write again after: %s; the last answers were %q", after, d.why)
			for _, name := range d.names {
				d.t.Logf("node %s: %.3000s", name, d.node(name).log.String())
			}
		}
	}
}

// progress returns the number of acknowledged writes.
func (d *drill) progress() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.acked)
}

// members returns the URLs of the members of etcd.
func (d *drill) members() (urls []string) {
	for _, member := range d.etcd {
		urls = append(urls, member.URL)
	}
	return urls
}

// part cuts the links between nodes and servers for a time.
func (d *drill) part(names []string, duration time.Duration, urls ...string) {
	set := func(cut bool) {
		for _, name := range names {
			for _, url := range urls {
				d.links[name+" "+url].set(cut)
			}
		}
	}
	set(true)
	time.Sleep(duration)
	set(false)
}

// killAll kills all nodes, and starts them.
func (d *drill) killAll() {
	for _, name := range d.names {
		d.node(name).kill()
	}
	d.restart(d.names...)
}

// freeze stops a node for a moment.
func (d *drill) freeze() {
	p := d.node(d.one())
	p.signal(syscall.SIGSTOP)
	d.moment(3 * time.Second)
	p.signal(syscall.SIGCONT)
}

// revocations returns the number of requests with withdrawn rights.
func (d *drill) revocations() (n int) {
	for _, one := range d.revoked {
		n += one
	}
	return n
}

// TestCluster_Drill disturbs a cluster while clients write at all nodes: nothing that was acknowledged is
// lost, nothing appears that no client wrote, registers are linearizable, codes are unique, what was undone is
// undone, no node accepts what was taken away, each file has its content at all nodes, and all nodes end with the same
// records. A thief of the disks of etcd and the bucket finds no name, hash or secret. Two of the nodes run another patch release, and store base copies often.
func TestCluster_Drill(t *testing.T) {
	c := newCluster(t, 3)
	c.links = map[string]*link{}
	patch, err := patched()
	noErr(t, err)
	c.prepare = func(name string, cmd *exec.Cmd) {
		if name != "c" {
			cmd.Path, cmd.Args[0] = patch, patch
		}
	}
	disk := newVolume(t, c.data("c"))
	d := newDrill(c)
	eventually(t, "two versions run side by side", func() bool {
		return strings.Count(d.succeed("a", "cluster", "status"), nextPatch) == 2
	})
	secrets := d.plant()
	bucket := c.s3.Options().Endpoint
	d.run(
		fault{"kill a node", size(2, 20, 170), func() {
			name := d.one()
			d.node(name).kill()
			d.moment(time.Second / 2)
			d.restart(name)
		}},
		fault{"freeze a node", size(1, 5, 50), d.freeze},
		fault{"kill all nodes", size(1, 2, 10), d.killAll},
		fault{"part a node from etcd", size(1, 3, 30), func() { d.part([]string{d.one()}, 2*time.Second, d.members()...) }},
		fault{"part a node from the bucket", size(1, 1, 10), func() { d.part([]string{d.one()}, 2*time.Second, bucket) }},
		fault{"part all nodes from the bucket", size(1, 1, 10), func() { d.part(d.names, 2*time.Second, bucket) }},
		fault{"a bucket that is down", size(1, 1, 20), d.withoutBucket},
		fault{"part a node from one member", size(1, 1, 10), func() { d.part([]string{d.one()}, 2*time.Second, d.members()[d.random.IntN(3)]) }},
		fault{"kill a member of etcd", size(1, 3, 20), func() {
			member := d.etcd[d.random.IntN(3)]
			member.Kill()
			d.moment(time.Second)
			member.Restart(t)
			member.Await(t)
		}},
		fault{"cut the power of a node", size(1, 2, 20), func() {
			disk.cut()
			d.node("c").kill()
			disk.mount()
			d.restart("c")
		}},
		fault{"slow syncs of a member of etcd", size(0, 1, 10), func() {
			takeBack := injectInto(t, d.etcd[d.random.IntN(3)].PID(), "fdatasync,fsync:delay_enter=400000")
			d.moment(4 * time.Second)
			takeBack()
		}},
		fault{"slow syncs of a majority of etcd", size(0, 1, 5), func() {
			one := d.random.IntN(3)
			first := injectInto(t, d.etcd[one].PID(), "fdatasync,fsync:delay_enter=400000")
			second := injectInto(t, d.etcd[(one+1)%3].PID(), "fdatasync,fsync:delay_enter=400000")
			d.moment(4 * time.Second)
			first()
			second()
		}},
		fault{"freeze a member of etcd", size(0, 1, 10), func() {
			member := d.etcd[d.random.IntN(3)]
			member.Freeze(t)
			d.moment(3 * time.Second)
			member.Thaw(t)
		}},
		fault{"kill all members of etcd", size(0, 1, 5), func() {
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
	)
	_, rows := sharedRows(t, filepath.Join(d.data("a"), "data.db"))
	secrets.grow(t, d.data("a"), rows)
	d.checkStolen(secrets)
	t.Logf("%d base copies were stored", d.baseCopies())
	if d.baseCopies() < 3 { // one is that of the beginning
		t.Error("these are too few")
	}
	if len(d.files) < size(5, 50, 500) || d.read < size(5, 50, 500) || d.bucketless < 3 {
		t.Errorf("only %d files were uploaded, %d read, %d refused without the bucket", len(d.files), d.read, d.bucketless)
	}
	if n := d.revocations(); n < size(10, 50, 1000) || len(d.revoked) < 3 {
		t.Errorf("only %d requests were made with withdrawn rights: %v", n, d.revoked)
	}
}
