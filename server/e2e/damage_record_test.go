package e2e

import (
	bigendian "encoding/binary"
	"fmt"
	"path/filepath"
	"reeve/store/disk/disktest"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// disposable are the collections whose damaged records a start removes.
var disposable = map[string]bool{"session": true, "session_token": true}

// listedCollections have records in lists that are read from data.db.
var listedCollections = map[string]bool{
	"user": true, "app_user": true, "file": true, "file_group": true, "login_log": true,
	"webhook": true, "link": true, "file_version": true,
}

// TestDamagedRecord_EachCollection flips a bit in a record of each collection that the file has.
// The start refuses with the name of the record and what to do, or everything that does not need
// the record works, health names it, and lists and exports have everything else.
func TestDamagedRecord_EachCollection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	someOfAll(c)
	before := readLists(t, c, "")
	p.stop()
	found := lastRecords(t, dir)
	if len(found) < 20 {
		t.Errorf("only %d collections have records: %v", len(found), found)
	}

	for name, id := range found {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ruined := copyDir(t, dir)
			flipRecord(t, ruined, name, id)
			record := fmt.Sprintf("%s %d is damaged", name, id)
			p := begin(t, program(t, "serve", "--listen", "127.0.0.1:0", "--data", ruined))
			select {
			case p.url = <-p.log.ready:
			case <-p.done:
				if out := p.log.String(); !strings.Contains(out, record) ||
					!strings.Contains(out, "reeve salvage") ||
					strings.Contains(out, "internal server error") {
					t.Errorf("the start is refused with %s", out)
				}
				return
			}

			c := signedIn(t, p)
			naming := sameLists(t, before, readLists(t, c, name), name)
			if listedCollections[name] && naming == 0 {
				t.Error("no list names the record")
			}

			exportsComplete(t, c, name, int64(id))
			worksBeside(t, p, name, record)
			p.stop()
			if out := p.log.String(); strings.Contains(out, "internal server error") {
				t.Errorf("the log has a text for clients:\n%s", out)
			}
		})
	}
}

// worksBeside checks a server that has started with a damaged record.
func worksBeside(t *testing.T, p *process, name, record string) {
	t.Helper()
	c := signedIn(t, p)
	c.want(200, "GET", "/health", "")
	health := string(c.want(200, "GET", "/system/health", "").raw)
	if strings.Contains(health, record) == disposable[name] {
		t.Errorf("health: %s", health)
	}
	if !strings.Contains(p.log.String(), record) {
		t.Errorf("the log does not name the record:\n%s", &p.log)
	}

	for list, path := range map[string]string{
		"user": "/admin/list", "role": "/admin/role", "setting": "/system/setting",
		"file": "/file/list", "app_user": "/user/list",
		"session": "/system/session", "log": "/system/audit", "login_log": "/system/loginlog",
		"webhook": "/system/webhook",
	} {
		if list != name {
			c.want(200, "GET", path, "")
		}
	}

	c.want(200, "POST", "/admin/dept", `{"name":"Writes continue"}`)
	c.want(200, "POST", "/admin/logout", "")
}

// someOfAll makes records of many collections.
func someOfAll(c *client) {
	dept := c.create("/admin/dept", "name", "Sales")
	role := c.create("/admin/role", "name", "Clerk")
	c.create("/admin/list", "username", "zoe", "password", "a good password", "dept_id", dept,
		"role_ids", []int64{role})
	c.create("/user/list", "username", "ann", "password", "a good password")
	c.define(c.group("filled"), "known", "input", "a value")
	dict := c.create("/system/dict", "code", "colors", "name", "Colors")
	c.create(fmt.Sprintf("/system/dict/%d/item", dict), "label", "Red", "value", "red")
	c.create("/file/group", "name", "Papers")
	paper := c.put("paper.txt", payload{1, 100})
	c.newVersion(paper, payload{2, 100})
	c.create("/system/webhook", "url", "https://hook.example.org/", "types",
		[]string{"user.created"})
	c.create("/user/role", "name", "Customer")
	c.create("/system/field", "realm", "admin", "key", "size", "title", "Size", "type", "number")
	c.want(200, "POST", "/admin/login", object("username", "zoe", "password", "a good password"))
	c.create("/admin/list", "username", "bob", "invite", "link")
}

// lastRecords returns the last ID of each collection in data.db that has records.
func lastRecords(t *testing.T, dir string) map[string]uint64 {
	t.Helper()
	found := map[string]uint64{}
	inFile(t, dir, func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			key, _ := b.Cursor().Last()
			if len(key) == 8 && !strings.Contains(string(name), ".") && name[0] != '_' && string(name) != "change_log" { // not an index
				found[string(name)] = bigendian.BigEndian.Uint64(key)
			}
			return nil
		})
	})
	return found
}

// flipRecord flips a bit in the text of a record.
func flipRecord(t *testing.T, dir, name string, id uint64) {
	t.Helper()
	inFile(t, dir, func(tx *bbolt.Tx) error {
		b, key := tx.Bucket([]byte(name)), bigendian.BigEndian.AppendUint64(nil, id)
		value := append([]byte(nil), b.Get(key)...)
		value[len(value)-2] ^= 4
		return b.Put(key, value)
	})
}

// inFile changes data.db of a stopped server.
func inFile(t *testing.T, dir string, fn func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(dir, "data.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}

// TestVerify_ReadOnlyMount verifies data on a file system that is mounted read-only.
func TestVerify_ReadOnlyMount(t *testing.T) {
	t.Parallel()
	at := smallDisk(t, 64)
	dir := filepath.Join(at, "data")
	filled(t, dir, "a value")
	disktest.ReadOnly(t, at, true)
	for _, command := range []string{"verify", "audit verify"} {
		if r := run(t, append(strings.Fields(command), "--data", dir)...); r.code != 0 ||
			r.err != "" {
			t.Errorf("%s: %+v", command, r)
		}
	}
}
