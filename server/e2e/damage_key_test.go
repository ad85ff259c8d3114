package e2e

import (
	"bytes"
	bigendian "encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// TestDamagedPersonKey_LogOfOthersComplete damages the key that seals one person's values in the
// change log. Each way to read the log has everything else, and says that values are missing.
func TestDamagedPersonKey_LogOfOthersComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	user := func(name string) int64 {
		id := c.create("/admin/list", "username", name, "nickname", "Nick of "+name, "password",
			"a good password", "role_ids", []int64{1})
		c.want(200, "PUT", fmt.Sprintf("/admin/list/%d", id), object("nickname", "Second of "+name))
		return id
	}
	harmed, other := user("harmed"), user("other")
	before := string(c.want(200, "GET", "/system/audit?pageSize=1000", "").raw)
	as := newClient(t, p) // the harmed person makes entries, too
	as.token = into[grant](t,
		as.want(200, "POST", "/admin/login",
			object("username", "harmed", "password", "a good password"))).Token

	as.want(200, "PUT", "/admin/info", object("nickname", "Third of harmed"))
	p.stop()
	key := personKey(t, dir, harmed)
	flipRecord(t, dir, "person_key", key)

	p = start(t, dir)
	c.base, as.base = p.url, p.url
	list := c.want(200, "GET", "/system/audit?pageSize=1000", "")
	names := func(what string, a *answer, damaged bool, texts ...string) {
		t.Helper()
		if damaged != bytes.Contains(a.raw, []byte(`"damaged":1`)) ||
			bytes.Contains(a.raw, []byte("of harmed")) {
			t.Errorf("%s: want damaged to be %t: %s", what, damaged, a.raw)
		}
		for _, text := range texts {
			if !bytes.Contains(a.raw, []byte(text)) {
				t.Errorf("%s has no %q: %s", what, text, a.raw)
			}
		}
	}
	names("the list", list, true, "Nick of other", "Second of other")
	var page struct{ Data []struct{ Seq int64 } }
	if err := json.Unmarshal(list.Data, &page); err != nil ||
		len(page.Data) < strings.Count(before, `"seq":`) {
		t.Errorf("the list has %d entries, before the damage %d: %v", len(page.Data),
			strings.Count(before, `"seq":`), err)
	}

	marked := 0
	for _, e := range page.Data {
		marked += bytes.Count(c.want(200, "GET", fmt.Sprintf("/system/audit/%d", e.Seq), "").raw,
			[]byte(`"damaged":1`))
	}

	if marked < 3 { // made, changed, by the person
		t.Errorf("%d entries say that values are missing", marked)
	}

	names("the history of the other person",
		c.want(200, "GET", fmt.Sprintf("/system/history/user/%d", other), ""), false,
		"Nick of other")
	names("the history of the harmed person",
		c.want(200, "GET", fmt.Sprintf("/system/history/user/%d", harmed), ""), true, `"erased":1`)
	names("a search", c.want(200, "GET", "/system/audit?pageSize=1000&keywordSearch=other", ""),
		false, "Nick of other")
	names("the other person's own activity", c.want(200, "GET", "/admin/account/activity", ""),
		false)
	names("the harmed person's own activity", as.want(200, "GET", "/admin/account/activity", ""),
		true)
	if export := c.want(200, "GET", "/system/audit-export", ""); bytes.Count(export.raw,
		[]byte("\n")) < len(page.Data) {
		t.Errorf("the export has only %d entries", bytes.Count(export.raw, []byte("\n")))
	}

	personComplete(t, c, fmt.Sprintf("/admin/list/%d/data", other), "")
	personComplete(t, c, fmt.Sprintf("/admin/list/%d/data", harmed), `"change-log.jsonl"`)
	as.want(200, "PUT", "/admin/info", object("nickname", "Fourth")) // writing continues
	c.want(200, "PUT", fmt.Sprintf("/admin/list/%d", other), object("nickname", "Third of other"))
	if health := string(c.want(200, "GET", "/system/health", "").raw); !strings.Contains(health,
		fmt.Sprintf("person_key %d is damaged", key)) {
		t.Errorf("health: %s", health)
	}

	p.stop()
}

// personKey returns the ID of the key of a user in the data of a stopped server.
func personKey(t *testing.T, dir string, user int64) (id uint64) {
	t.Helper()
	inFile(t, dir, func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("person_key")).ForEach(func(key, value []byte) error {
			if bytes.Contains(value, fmt.Appendf(nil, `"user_id":%d,`, user)) {
				id = bigendian.BigEndian.Uint64(key)
			}
			return nil
		})
	})
	if id == 0 {
		t.Fatal("the person has no key")
	}
	return id
}
