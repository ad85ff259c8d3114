package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"
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
	d.checkCodes()
	d.checkRegisters()
	d.checkFiles()
	d.ends(d.nodes)
}

// ends compares the records of all nodes, stops them, and verifies their data.
func (c *cluster) ends(nodes map[string]*process) {
	c.t.Helper()
	c.sameRows(nodes)
	for _, p := range nodes {
		p.stop()
	}
	for name := range nodes {
		c.sound(name)
	}
}

// checkCodes looks for the dictionaries with the codes whose creation was acknowledged, at all nodes.
func (d *drill) checkCodes() {
	d.t.Helper()
	for i, name := range d.names {
		there := map[string]bool{}
		for page, more := 1, true; more; page++ {
			all := into[struct{ Data []struct{ Code string } }](d.t, d.latest(i, d.token).want(200, "GET", fmt.Sprintf("/system/dict?pageSize=1000&page=%d", page), "")).Data
			for _, dict := range all {
				there[dict.Code] = true
			}
			more = len(all) == 1000
		}
		for code, n := range d.winners {
			if n > 0 && !there[code] {
				d.t.Errorf("node %s lacks the dictionary %q, whose creation was acknowledged", name, code)
			}
		}
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
		cmd := program(c.t, append(words, "--data", c.data(name))...)
		cmd.Path, cmd.Args[0] = c.program, c.program
		if r := finish(c.t, cmd); r.code != 0 {
			c.t.Errorf("node %s: %s%s", name, r.out, r.err)
		}
	}
}

// position is that of records in the log of commits.
type position struct {
	Epoch  string
	Number uint64
	Hash   string
}

const changeLog = "change_log"

// sharedRows returns the position of a file of records, and all rows that every node at that position has, by
// bucket and key: nothing of this node alone, see store/kv/buckets.tsv. The sequence of a bucket has its name as the key.
func sharedRows(t testing.TB, path string) (at position, rows map[string]string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	noErr(t, err)
	rows = map[string]string{}
	err = db.View(func(tx *bbolt.Tx) error {
		const frame = 5 // bytes before the payload
		if text := tx.Bucket([]byte("_meta")).Get([]byte("commit")); len(text) < frame {
			return errors.New("the records have no position in the log of commits")
		} else if err := json.Unmarshal(text[frame:], &at); err != nil {
			return err
		}
		return tx.ForEach(func(bucket []byte, b *bbolt.Bucket) error {
			name := string(bucket)
			if name == "_meta" || name == "_local" || strings.HasSuffix(name, ".search.changes") {
				return nil
			}
			rows[name] = fmt.Sprint(b.Sequence())
			return b.ForEach(func(key, value []byte) error {
				rows[fmt.Sprintf("%s %q", name, key)] = string(value)
				return nil
			})
		})
	})
	noErr(t, errors.Join(err, db.Close()))
	return at, rows
}

// differences returns the keys of rows that differ, in words. A node moves entries of the change log to its segments
// when it likes.
func differences(one, other map[string]string) (all []string) {
	for _, pair := range [][2]map[string]string{{one, other}, {other, one}} {
		for key, value := range pair[0] {
			if got, there := pair[1][key]; got != value && (there || !strings.HasPrefix(key, changeLog+" ")) {
				all = append(all, fmt.Sprintf("%s: %q and %q", key, value, got))
			}
		}
	}
	return all
}

// frozen copies the records of all nodes at one moment.
func (c *cluster) frozen(nodes map[string]*process) (copies map[string]string) {
	c.t.Helper()
	dir, copies := c.t.TempDir(), map[string]string{}
	for _, p := range nodes {
		p.signal(syscall.SIGSTOP)
		defer p.signal(syscall.SIGCONT)
		p.stands()
	}
	for name := range nodes {
		copies[name] = filepath.Join(dir, name)
		in, err := os.Open(filepath.Join(c.data(name), "data.db"))
		noErr(c.t, err)
		out, err := os.Create(copies[name])
		noErr(c.t, err)
		_, err = io.Copy(out, in)
		noErr(c.t, errors.Join(err, in.Close(), out.Close()))
	}
	return copies
}

// stands waits until a process that was told to stand still does, where the system says so.
func (p *process) stands() {
	p.t.Helper()
	path := fmt.Sprintf("/proc/%d/stat", p.pid())
	if _, err := os.Stat(path); err != nil {
		return
	}
	eventually(p.t, "the process stands still", func() bool {
		text, err := os.ReadFile(path)
		return err == nil && bytes.Contains(text, []byte(") T "))
	})
}

// sameRows compares all shared rows of the nodes when they have applied the same entry.
func (c *cluster) sameRows(nodes map[string]*process) {
	t := c.t
	t.Helper()
	at, rows := map[string]position{}, map[string]map[string]string{}
	one := ""
	eventually(t, "all nodes have applied the same entry", func() bool {
		same := true
		for name, path := range c.frozen(nodes) {
			at[name], rows[name] = sharedRows(t, path)
			noErr(t, os.Remove(path))
			one = cmp.Or(one, name)
			same = same && at[name].Number == at[one].Number
		}
		return same
	})
	for name := range nodes {
		if at[name] != at[one] {
			t.Errorf("node %s is at %+v, node %s at %+v", one, at[one], name, at[name])
		}
		if all := differences(rows[one], rows[name]); len(all) > 0 {
			t.Errorf("at entry %d, %d rows of nodes %s and %s differ: %.3000s", at[one].Number, len(all), one, name, strings.Join(all, "\n"))
		}
	}
	t.Logf("%d rows are equal at entry %d", len(rows[one]), at[one].Number)
}

// TestSharedRows_Differ: a row that another node lacks, or has in another way, is seen.
func TestSharedRows_Differ(t *testing.T) {
	one := map[string]string{"dept": "7", `dept "1"`: "x", changeLog + ` "1"`: "e", changeLog + ` "2"`: "f"}
	for name, tc := range map[string]struct {
		other map[string]string
		want  int
	}{
		"moved":    {map[string]string{"dept": "7", `dept "1"`: "x", changeLog + ` "2"`: "f"}, 0},
		"lost":     {map[string]string{"dept": "7", changeLog + ` "2"`: "f"}, 1},
		"sequence": {map[string]string{"dept": "8", `dept "1"`: "x"}, 2},
		"entry":    {map[string]string{"dept": "7", `dept "1"`: "x", changeLog + ` "2"`: "g"}, 2},
	} {
		if got := differences(one, tc.other); len(got) != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
