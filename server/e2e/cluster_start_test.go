package e2e

import (
	"strings"
	"testing"
)

// TestCluster_StartTogether starts all nodes at once with a program that adds a page, and then one with the program of
// before: each node adds what the records have never had after it has caught up, so the page is there once and stays.
func TestCluster_StartTogether(t *testing.T) {
	t.Parallel()
	d := newDrill(newCluster(t, 1))
	old := d.program
	pages := func(want int) {
		t.Helper()
		for i, name := range d.names {
			text := string(d.latest(i, d.token).want(200, "GET", "/admin/rule", "").raw)
			if n := strings.Count(text, `"key":"`+nextPage+`"`); n != want {
				t.Errorf("node %s has the new page %d times, not %d", name, n, want)
			}
		}
	}
	pages(0)
	for _, name := range d.names {
		d.node(name).stop()
	}
	program, err := patched()
	noErr(t, err)
	d.program = program
	d.restart(d.names...)
	pages(1)
	d.program = old
	d.node("c").stop()
	d.restart("c")
	pages(1)
	d.ends(d.nodes)
}
