package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"reeve/store/etcd/etcdtest"
	"reeve/store/s3/s3test"
)

// namespaces are network namespaces that are connected by a bridge in the one of the test. The bridge has two
// addresses: that of the clients, and that of the bucket.
type namespaces struct {
	t     *testing.T
	id    string
	hosts map[string]string // addresses by name
}

// newNamespaces makes a namespace for each name.
func newNamespaces(t *testing.T, names ...string) *namespaces {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil || os.Geteuid() != 0 {
		unless(t, "network namespaces need the program ip (Debian package iproute2) and the rights of root")
	}
	n := &namespaces{t: t, id: fmt.Sprintf("rv%05x", rand.IntN(1<<20)), hosts: map[string]string{}}
	subnet := fmt.Sprintf("10.%d.%d.", 64+rand.IntN(128), rand.IntN(256))
	n.hosts["bucket"] = subnet + "2"
	t.Cleanup(func() { n.ip("link", "del", n.id) })
	n.must("link", "add", n.id, "type", "bridge")
	n.must("addr", "add", subnet+"1/24", "dev", n.id)
	n.must("addr", "add", subnet+"2/24", "dev", n.id)
	n.must("link", "set", n.id, "up")
	for i, name := range names {
		space, port := n.space(name), fmt.Sprint(n.id, "p", i)
		n.hosts[name] = fmt.Sprint(subnet, 10+i)
		n.must("netns", "add", space)
		t.Cleanup(func() { n.ip("netns", "del", space) })
		n.must("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
		n.must("link", "set", port, "master", n.id, "up")
		n.must("-n", space, "addr", "add", n.hosts[name]+"/24", "dev", "eth0")
		n.must("-n", space, "link", "set", "eth0", "up")
		n.must("-n", space, "link", "set", "lo", "up")
		// The rules of cut come before the one for local addresses.
		n.must("-n", space, "rule", "add", "pref", "100", "lookup", "local")
		n.must("-n", space, "rule", "del", "pref", "0")
	}
	return n
}

func (n *namespaces) space(name string) string { return n.id + "-" + name }

// within is the beginning of a command that runs in the namespace of a name.
func (n *namespaces) within(name string) []string {
	return []string{"ip", "netns", "exec", n.space(name)}
}

func (n *namespaces) ip(words ...string) error {
	if out, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(words, " "), err, out)
	}
	return nil
}

func (n *namespaces) must(words ...string) {
	n.t.Helper()
	if err := n.ip(words...); err != nil {
		unless(n.t, err.Error())
	}
}

// way is a direction in which nothing comes through.
type way struct{ from, to string }

// both are the ways between names.
func both(one string, others ...string) (all []way) {
	for _, other := range others {
		all = append(all, way{one, other}, way{other, one})
	}
	return all
}

// cut loses what is sent along ways, for a time.
func (n *namespaces) cut(duration time.Duration, ways ...way) {
	n.t.Helper()
	each := func(do string) {
		for _, w := range ways {
			if w.to == "bucket" { // which has no namespace of its own
				n.must("-n", n.space(w.from), "rule", do, "pref", "50", "to", n.hosts[w.to], "blackhole")
			} else {
				n.must("-n", n.space(w.to), "rule", do, "pref", "50", "from", n.hosts[w.from], "blackhole")
			}
		}
	}
	each("add")
	time.Sleep(duration)
	each("del")
}

// TestCluster_Partitions cuts networks in two while clients work, in one direction and in both: between nodes
// and etcd, between members of etcd that all clients still reach, and between nodes and the bucket.
func TestCluster_Partitions(t *testing.T) {
	members := []string{"e1", "e2", "e3"}
	n := newNamespaces(t, "a", "b", "c", "e1", "e2", "e3")
	var places []etcdtest.Place
	for _, name := range members {
		places = append(places, etcdtest.Place{Host: n.hosts[name], Command: n.within(name)})
	}
	c := newClusterOn(t, etcdtest.StartAt(t, places), s3test.StartAt(t, n.hosts["bucket"]))
	for _, name := range []string{"a", "b", "c"} {
		c.addresses[name] = net.JoinHostPort(n.hosts[name], "8080")
	}
	c.prepare = func(name string, cmd *exec.Cmd) {
		cmd.Args = append(n.within(name), cmd.Args...)
		path, err := exec.LookPath(cmd.Args[0])
		noErr(t, err)
		cmd.Path = path
	}
	d := newDrill(c)
	others := func(one int) (all []string) {
		for i, name := range members {
			if i != one {
				all = append(all, name)
			}
		}
		return all
	}
	leader := func() int {
		for i, member := range d.etcd {
			if member.Leads(t) {
				return i
			}
		}
		return 0
	}
	length := func() time.Duration { // within the first attempts of a request, and beyond them
		return []time.Duration{time.Second, 4 * time.Second}[d.random.IntN(2)]
	}
	d.run(
		fault{"nothing comes from a node to etcd", size(0, 1, 10), func() {
			name := d.one()
			n.cut(length(), way{name, "e1"}, way{name, "e2"}, way{name, "e3"})
		}},
		fault{"nothing comes from etcd to a node", size(0, 1, 10), func() {
			name := d.one()
			n.cut(length(), way{"e1", name}, way{"e2", name}, way{"e3", name})
		}},
		fault{"a node without etcd", size(0, 0, 5), func() { n.cut(length(), both(d.one(), members...)...) }},
		fault{"a member of etcd without the others", size(0, 1, 10), func() {
			i := d.random.IntN(3)
			n.cut(length(), both(members[i], others(i)...)...)
		}},
		fault{"the leader of etcd without the others", size(1, 1, 10), func() {
			i := leader()
			n.cut(length(), both(members[i], others(i)...)...)
		}},
		fault{"nothing comes from the leader of etcd to the others", size(0, 0, 5), func() {
			i := leader()
			var ways []way
			for _, other := range others(i) {
				ways = append(ways, way{members[i], other})
			}
			n.cut(length(), ways...)
		}},
		fault{"a node without the bucket", size(0, 0, 5), func() { n.cut(length(), both(d.one(), "bucket")...) }},
	)
	if d.gap < time.Second/2 {
		t.Errorf("writes went on after %s without a leader of etcd", d.gap)
	}
}
