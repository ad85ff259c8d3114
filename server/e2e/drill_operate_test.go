package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCluster_DrainUnderLoad stops one node after the other while clients send requests to the nodes that say
// that they are ready: no request fails.
func TestCluster_DrainUnderLoad(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	c.prepare = func(_ string, cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "REEVE_SERVER__DRAIN=3s") }
	d := newDrill(c)
	var ready [3]atomic.Bool
	var all sync.WaitGroup
	var answered atomic.Int64
	for i := range 3 {
		all.Go(func() {
			for !d.over.Load() {
				a, err := d.at(i, "").do("GET", "/health/ready", "")
				ready[i].Store(err == nil && a.status == 200)
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	strict := &strictly{t: t}
	all.Go(func() { strict.watch(c.etcd[0], &d.over) })
	for i := range 6 {
		all.Go(func() {
			for n := i; !d.over.Load(); n++ {
				if !ready[n%3].Load() {
					time.Sleep(time.Millisecond)
					continue
				}
				a, err := d.at(n, d.token).do("POST", "/admin/dept", object("name", fmt.Sprintf("drain %d %d", i, n), "status", 1))
				if strict.accepts("a request to a node that was ready", a, err); err == nil && a.status == 200 {
					answered.Add(1)
				}
				rest(true)
			}
		})
	}
	for i, name := range d.names {
		eventually(t, "all nodes are ready", func() bool { return ready[0].Load() && ready[1].Load() && ready[2].Load() })
		before := answered.Load()
		d.node(name).stop()
		ready[i].Store(false)
		d.restart(name)
		if answered.Load() == before {
			t.Error("nothing was answered while a node stopped")
		}
	}
	d.over.Store(true)
	all.Wait()
	strict.check()
	agree(t, int(answered.Load())+d.at(0, d.token).others("drain"), d.at(0, d.token), d.at(1, d.token), d.at(2, d.token))
	d.ends(d.nodes)
}

// others returns how many departments have another beginning of the name.
func (c *client) others(beginning string) (n int) {
	c.t.Helper()
	for _, dept := range into[struct{ Data []struct{ Name string } }](c.t, c.want(200, "GET", "/admin/dept", "")).Data {
		if !strings.HasPrefix(dept.Name, beginning) {
			n++
		}
	}
	return n
}

// inEpochs creates departments at a node, and notes the epoch of each that was acknowledged. After a restore,
// it signs in again.
func (d *drill) inEpochs(node int, epochs map[string]string) {
	token := d.token
	for n := 0; !d.over.Load(); n++ {
		name := fmt.Sprintf("epochs %d %d", node, n)
		a, err := d.at(node, token).do("POST", "/admin/dept", object("name", name, "status", 1))
		if err == nil && a.status == 401 {
			token, _ = d.signsIn(node, "admin")
		}
		done, perhaps := outcome(a, err)
		d.note(func() {
			if d.wrote(done, perhaps); done {
				epochs[name], _, _ = strings.Cut(a.header.Get("Reeve-Commit"), "-")
			}
		})
		rest(done)
	}
}

// TestCluster_EpochsUnderLoad restores a backup and upgrades while clients write at the nodes: what was
// acknowledged in an epoch is in all later ones, except that the restore replaces all that came before it.
func TestCluster_EpochsUnderLoad(t *testing.T) {
	t.Parallel()
	d := newDrill(newCluster(t, 1))
	_, err := newer() // not while clients write
	noErr(t, err)
	backup := filepath.Join(d.dir, "backup.tar")
	d.write(backup, string(d.at(0, d.token).want(200, "GET", "/system/backup", "").raw))
	epochs := map[string]string{}
	var clients sync.WaitGroup
	for i := range 3 {
		clients.Go(func() { d.inEpochs(i, epochs) })
	}
	// in waits until clients write in the nth epoch, at all nodes.
	in := func(n int) {
		t.Helper()
		eventually(t, fmt.Sprintf("all nodes write in epoch %d", n), func() bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			at := map[string]map[string]bool{}
			for name, epoch := range epochs {
				if at[epoch] == nil {
					at[epoch] = map[string]bool{}
				}
				at[epoch][strings.Fields(name)[1]] = true
			}
			whole := 0
			for _, nodes := range at {
				if len(nodes) == 3 {
					whole++
				}
			}
			return whole == n
		})
	}
	d.note(func() { d.last = time.Now() })
	// longest returns the longest time without a write since it was last called.
	longest := func() (gap time.Duration) {
		d.note(func() { gap, d.gap = d.gap, 0 })
		return gap.Round(time.Millisecond)
	}
	in(1)
	longest()
	first := ""
	d.note(func() {
		for _, first = range epochs {
			break
		}
	})
	d.node("a").stop()
	d.succeed("a", "cluster", "restore", backup)
	d.restart("a")
	in(2)
	restored := longest()
	for _, name := range d.names {
		d.node(name).stop()
	}
	d.update()
	d.succeed("a", "cluster", "upgrade")
	d.restart(d.names...)
	in(3)
	d.over.Store(true)
	clients.Wait()

	token, _ := d.signsIn(0, "admin")
	for i, node := range d.names {
		has := map[string]bool{}
		for _, dept := range into[struct{ Data []struct{ Name string } }](t, d.latest(i, token).want(200, "GET", "/admin/dept", "")).Data {
			has[dept.Name] = true
		}
		for name, epoch := range epochs {
			if has[name] != (epoch != first) {
				t.Errorf("node %s has %q, acknowledged in epoch %s: %t; the one before the restore was %s", node, name, epoch, has[name], first)
			}
		}
	}
	t.Logf("%d writes acknowledged; at most %s without one around the restore, %s around the upgrade", len(epochs), restored, longest())
	d.ends(d.nodes)
}
