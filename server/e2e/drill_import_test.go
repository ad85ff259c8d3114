package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestCluster_ImportSurvives kills the node with the duties while it does an import that another node was sent: a third
// one continues it, and each row is there once.
func TestCluster_ImportSurvives(t *testing.T) {
	t.Parallel()
	d := newDrill(newCluster(t, 1))
	rows := size(3_000, 5_000, 50_000)
	var file strings.Builder
	file.WriteString("username,email\n")
	for i := range rows {
		fmt.Fprintf(&file, "row%05d,row%[1]d@example.org\n", i)
	}
	victim := -1
	eventually(t, "a node has the duties", func() bool { victim = d.onDuty(0); return victim >= 0 })
	other := d.latest(victim+1, d.token)
	sent := *other
	sent.extra = map[string]string{"Content-Type": "multipart/form-data; boundary=" + boundary}
	go sent.do("POST", "/admin/list-import", formPart("users.csv")+file.String()+"\r\n"+formEnd)

	type job struct {
		State string
		Done  int
	}
	now := func() job {
		a, err := other.do("GET", "/system/job", "")
		if err != nil || a.status != 200 {
			return job{}
		}
		all := into[struct{ Data []job }](t, a).Data
		if len(all) != 1 {
			return job{}
		}
		return all[0]
	}
	var before job
	eventually(t, "the import has begun", func() bool { before = now(); return before.Done > 0 })
	d.node(d.names[victim]).kill()
	if before.Done >= rows {
		t.Fatalf("all of %d rows were done before the node was killed", rows)
	}
	eventually(t, "another node ends the import", func() bool { return now().State == "done" })
	d.restart(d.names[victim])
	for i, name := range d.names {
		a := d.latest(i, d.token).want(200, "GET", "/admin/list?keywordSearch=row&pageSize=1", "")
		if got := into[struct{ Total int }](t, a).Total; got != rows {
			t.Errorf("node %s has %d of %d rows", name, got, rows)
		}
	}
	t.Logf("killed after %d of %d rows", before.Done, rows)
	d.ends(d.nodes)
}
