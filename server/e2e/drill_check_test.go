package e2e

import (
	"strings"
)

// check compares the records of the nodes with the answers.
func (d *drill) check() {
	d.t.Helper()
	d.checkDepartments()
	for code, n := range d.winners {
		if n > 1 {
			d.t.Errorf("the code %s was created %d times", code, n)
		}
	}
	d.checkRegisters()
	for _, name := range d.names {
		d.node(name).stop()
	}
	for _, name := range d.names {
		d.sound(name)
	}
}

// checkDepartments compares the departments of the nodes with one another, and with those that were sent
// and acknowledged.
func (d *drill) checkDepartments() {
	t := d.t
	t.Helper()
	var first map[string]int
	for i, name := range d.names {
		all := map[string]int{}
		for _, dept := range into[struct{ Data []struct{ Name string } }](t, d.latest(i, d.token).want(200, "GET", "/admin/dept", "")).Data {
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
}

// sound checks the data of a node that has stopped.
func (c *cluster) sound(name string) {
	c.t.Helper()
	for _, words := range [][]string{{"verify"}, {"audit", "verify"}} {
		if r := finish(c.t, program(c.t, append(words, "--data", c.data(name))...)); r.code != 0 {
			c.t.Errorf("node %s: %s%s", name, r.out, r.err)
		}
	}
}
