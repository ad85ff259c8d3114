package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// beside returns a program whose commands use a running server.
func beside(t *testing.T, in *servertest.Instance, args ...string) (*program, *client) {
	t.Helper()
	p := &program{Release: Release{Version: "1.2.3"}, out: &bytes.Buffer{}, err: &bytes.Buffer{}, args: args, json: true}
	servertest.Must(t, p.configure(map[string]string{"data.dir": in.Dir}))
	c := p.clientOf(in.Server)
	c.running = true
	t.Cleanup(func() { servertest.Must(t, c.close()) })
	return p, c
}

// TestKey_NameOrID finds API keys by their names and their IDs, and never takes one for another.
func TestKey_NameOrID(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	_, c := beside(t, in)
	role := in.Create("/admin/role", `{"name":"Programs"}`)
	create := func(name string) string {
		return fmt.Sprint(in.Create("/admin/key", fmt.Sprintf(`{"name":%q,"role_ids":[%d]}`, name, role)))
	}
	first := create("deploy")
	other := create(first) // its name is the ID of the first one
	third := create("third")
	own := create("later")
	in.OK("PUT", "/admin/key/"+own, fmt.Sprintf(`{"name":%q,"role_ids":[%d]}`, own, role), "owner")
	for name, want := range map[string]string{
		"deploy": first, other: other, "third": third, third: third, own: own,
		first: "is the name of one API key and the ID of another", "thrid": "there is no API key thrid; there is third",
	} {
		k, err := c.key(name)
		if got := fmt.Sprint(k.id(), err); err == nil && k.id() != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
}

// TestTail_ManyEntries follows the change log while more entries come at once than a page has.
func TestTail_ManyEntries(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	_, c := beside(t, in)
	last := in.NewestEntry()
	const many = 2_100
	for i := range many {
		in.Update(func(tx *store.Tx) error {
			return store.Dicts.Create(tx, &store.Dict{Code: fmt.Sprint("c", i), Name: "N"})
		})
	}
	entries, err := newerThan(c, last)
	servertest.Must(t, err)
	if len(entries) < many {
		t.Fatalf("%d entries", len(entries))
	}
	found := map[uint64]bool{}
	for _, e := range entries {
		found[e.Seq] = true
	}
	for seq := last + 1; seq <= last+many; seq++ {
		if !found[seq] {
			t.Fatalf("entry %d is missing", seq)
		}
	}
	newest := in.NewestEntry()
	if entries, err := newerThan(c, newest); err != nil || len(entries) == 0 || entries[0].Seq != newest {
		t.Errorf("after the newest: %d entries, %v", len(entries), err)
	}
}

// TestExport_OnlyWhatThereIs exports into a directory with an earlier export: tables without objects have no
// file any more. Objects with one name are not left out without a word.
func TestExport_OnlyWhatThereIs(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	dir := filepath.Join(t.TempDir(), "conf[eu]") // which has a meaning in patterns
	p, c := beside(t, in, dir)
	role := in.Create("/admin/role", `{"name":"Programs"}`)
	dict := in.Create("/system/dict", `{"code":"size","name":"Size"}`)
	servertest.Must(t, p.exportSetup(c))
	mine := filepath.Join(dir, "notes.toml")
	servertest.Must(t, os.WriteFile(mine, nil, 0o600))
	in.OK("DELETE", fmt.Sprint("/system/dict/", dict), "", "owner")
	servertest.Must(t, p.exportSetup(c))
	files, err := readSetup([]string{dir})
	servertest.Must(t, err)
	names := ""
	for _, f := range files {
		names += f.Name + " "
	}
	if !strings.Contains(names, "roles") || !strings.Contains(names, "notes") || strings.Contains(names, "dictionaries") {
		t.Errorf("the directory has %s", names)
	}

	key := fmt.Sprintf(`{"name":"ci","role_ids":[%d]}`, role)
	in.Create("/admin/key", key)
	in.Create("/admin/key", key)
	if err := p.exportSetup(c); err == nil || !strings.Contains(err.Error(), `can't be told apart in a setup file: keys "ci"; rename them`) {
		t.Errorf("two keys with one name: %v", err)
	}
	for i := range 2 * 15 {
		in.Create("/admin/key", fmt.Sprintf(`{"name":"many %d","role_ids":[%d]}`, i/2, role))
	}
	if err := p.exportSetup(c); err == nil || strings.Count(err.Error(), "keys ") != 10 || !strings.Contains(err.Error(), "…") {
		t.Errorf("many keys with the same names: %v", err)
	}
}
