package e2e

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"
)

// outcome says what is known of a write: whether it was done, and whether it may have been.
func outcome(a *answer, err error) (done, perhaps bool) {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return false, false
	case err != nil || a.status >= 500 && a.status != 503 || a.ErrorCode == "write_outcome_unknown":
		return false, true
	case a.status == 200:
		return true, true
	}
	return false, false
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

// load starts clients at all nodes. stop ends them, and waits for them.
func (d *drill) load() (stop func()) {
	var clients sync.WaitGroup
	d.last = time.Now()
	d.over.Store(false)
	role := d.role()
	for slot := range 2 {
		users := &slotOf{d: d, slot: slot}
		for i := range 3 {
			clients.Go(func() { users.uses(i) })
		}
	}
	for i := range 3 {
		clients.Go(func() { d.creates(i, i) })
		clients.Go(func() { d.creates(i+3, i) })
		clients.Go(func() { d.competes(i) })
		clients.Go(func() { d.undoes(i) })
		clients.Go(func() { d.uploads(i) })
		username := fmt.Sprint("drill-", i) // one for each client, since a user has a limited number of sessions
		d.user(username)
		holder := fmt.Sprint("holder-", i)
		user := d.user(holder)
		clients.Go(func() { d.revokesSessions(username) })
		clients.Go(func() { d.revokesKeys(i, role) })
		clients.Go(func() { d.revokesRoles(role, holder, user) })
	}
	return func() {
		d.over.Store(true)
		clients.Wait()
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
		done, _ := outcome(a, err)
		d.note(func() {
			if done {
				d.winners[code]++
			}
		})
		rest(done || err == nil && a.status != 503)
	}
}

// undoes changes a department and undoes the change, each at another node: after the answer, a read at a
// third one sees the state before.
func (d *drill) undoes(client int) {
	url, before := "", ""
	for n := client; !d.over.Load(); n++ {
		if url == "" { // also after an unknown outcome, which may come about later
			before = fmt.Sprintf("undo %d %d", client, n)
			a, err := d.at(n, d.token).do("POST", "/admin/dept", object("name", before, "status", 1))
			if done, _ := outcome(a, err); !done {
				rest(false)
				continue
			}
			url = fmt.Sprint("/admin/dept/", into[struct{ ID int }](d.t, a).ID)
		}
		c := d.latest(n+1, d.token)
		a, err := c.do("PUT", url, object("name", before+" changed"))
		if done, _ := outcome(a, err); !done {
			url = ""
			rest(false)
			continue
		}
		_, seq, _ := strings.Cut(a.header.Get("Reeve-Entry"), "-")
		c = d.latest(n+2, d.token)
		c.extra["Reeve-Commit"] = a.header.Get("Reeve-Commit")
		a, err = c.do("POST", "/system/audit/"+seq+"/undo", "")
		done, perhaps := outcome(a, err)
		if !done {
			if !perhaps && err == nil && a.status != 503 {
				d.t.Errorf("an undo was answered with %d %s", a.status, a.raw)
				return
			}
			url = ""
			rest(false)
			continue
		}
		a, err = d.latest(n, d.token).do("GET", url, "")
		if err == nil && a.status == 200 {
			if got := into[struct{ Name string }](d.t, a).Name; got != before {
				d.t.Errorf("after an undo at node %s, node %s has %q, not %q", d.names[(n+2)%3], d.names[n%3], got, before)
				return
			}
			d.note(func() { d.undone++ })
		}
		rest(true)
	}
}
