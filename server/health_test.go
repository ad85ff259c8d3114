package server

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/server/ops"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// healthParts returns the overall state in /system/health, and each component by name.
func (in *instance) healthParts() (string, map[string]web.Part) {
	in.t.Helper()
	var out ops.SystemHealthOut
	in.ok("GET", "/system/health", "", "owner").data(&out)
	parts := map[string]web.Part{}
	for _, p := range out.Parts {
		parts[p.Name] = p
	}
	return out.State, parts
}

// age makes the cached result of /health expire.
func (in *instance) age() {
	last := *in.server.ops.Cached.Load()
	last.At = last.At.Add(-ops.HealthCacheTime)
	in.server.ops.Cached.Store(&last)
}

func TestHealth_CachedForASecond(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.ok("GET", "/health", "", "nobody")
	first := in.server.ops.Cached.Load()
	first.At = first.At.Add(time.Hour) // independent of the machine's load
	in.close()
	in.ok("GET", "/health", "", "nobody")
	if in.server.ops.Cached.Load() != first {
		t.Error("it was looked at again")
	}
	first.At = time.Now()
	in.age()
	for range 2 {
		in.call("GET", "/health", "", "nobody").brief(503, `"errorCode":"not_healthy"`, `"data":{}`)
	}
}

func TestSystemHealth_ClosedDatabase(t *testing.T) {
	t.Parallel()
	in := start(t)
	if _, parts := in.healthParts(); parts["database"].State != web.Healthy || parts["database"].Figures["writable"] != 1 || parts["clock"].State != web.Healthy {
		t.Fatalf("%+v", parts)
	}
	in.close()
	state, parts := in.healthParts()
	if d := parts["database"]; state != web.Failed || d.State != web.Failed || !strings.Contains(d.Text, "shutting down") || d.Figures["writable"] != 0 {
		t.Errorf("%s: %+v", state, d)
	}
	if parts["disk"].State == web.Failed {
		t.Errorf("%+v", parts["disk"])
	}
	for name, p := range parts {
		if p.Text == "" || p.Figures == nil {
			t.Errorf("%s says nothing: %+v", name, p)
		}
	}
}

func TestSystemHealth_UnopenableFiles(t *testing.T) {
	t.Parallel()
	in := start(t)
	if _, err := in.db.FilesOpened(); err != nil {
		t.Fatal(err)
	}
	in.close()
	must(t, os.WriteFile(filepath.Join(in.dir, "files.db"), []byte(strings.Repeat("not a database", 20000)), 0o600))
	other := open(t, in.dir)
	if _, err := other.db.FilesOpened(); err == nil {
		t.Fatal("it was opened")
	}
	other.tokens["owner"] = other.signIn(1)
	state, parts := other.healthParts()
	if state != web.Failed || parts["files"].State != web.Failed || parts["database"].State != web.Healthy {
		t.Errorf("%s: %+v", state, parts)
	}
	other.ok("GET", "/health", "", "nobody")
	var info ops.SystemInfo
	other.ok("GET", "/system/info", "", "owner").data(&info)
	if len(info.Files) != 1 || info.Files[0].Name != "data.db" {
		t.Errorf("%+v", info.Files)
	}
}

func TestSystemHealth_WorstPart(t *testing.T) {
	t.Parallel()
	in := start(t)
	state := func(s string) func() web.Part {
		return func() web.Part {
			return web.Part{Name: "monitor", State: s, Message: errs.Say("t"), Figures: map[string]int64{}}
		}
	}
	for _, c := range []struct {
		states []string
		want   string
	}{
		{[]string{web.Healthy}, web.Healthy}, {[]string{web.Healthy, web.Degraded}, web.Degraded}, {[]string{web.Degraded, web.Healthy}, web.Degraded},
		{[]string{web.Degraded, web.Failed}, web.Failed}, {[]string{web.Failed, web.Degraded, web.Healthy}, web.Failed},
	} {
		in.server.ops.Parts = nil
		for _, s := range c.states {
			in.server.ops.Parts = append(in.server.ops.Parts, state(s))
		}
		if got, parts := in.healthParts(); got != c.want || parts["monitor"].Text != "t" {
			t.Errorf("%q: %s, want %s", c.states, got, c.want)
		}
	}
}

func TestHealthComponents(t *testing.T) {
	t.Parallel()
	in := start(t)
	var out ops.SystemHealthOut
	in.ok("GET", "/system/health", "", "owner").data(&out)
	var names []string
	for _, p := range out.Parts {
		names = append(names, p.Name)
	}
	if want := []string{"database", "secrets", "disk", "files", "search", "texts", "caches", "clock", "monitor", "change_log", "webhooks", "keys", "mail", "limits", "sign-in", "passwords", "permissions"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func TestDiskHealth_FreeSpace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		free, floor int64
		want        string
	}{
		{"much room", 300 << 20, 256 << 20, web.Healthy}, {"exactly the floor", 256 << 20, 256 << 20, web.Healthy},
		{"less than the floor", 256<<20 - 1, 256 << 20, web.Degraded}, {"a little and no floor", 2 << 20, 0, web.Healthy},
		{"next to nothing", 1<<20 - 1, 256 << 20, web.Failed}, {"nothing and no floor", 0, 0, web.Failed},
	} {
		if p := ops.DiskPart(c.free, c.floor); p.State != c.want || p.Figures["free_bytes"] != c.free || p.Figures["floor_bytes"] != c.floor {
			t.Errorf("%s: %+v, want %s", c.name, p, c.want)
		}
	}
}

func TestDiskHealth_FloorSetting(t *testing.T) {
	t.Parallel()
	in := start(t)
	if _, known, _ := in.db.DiskFree(); !known {
		t.Skip("this system does not tell how full its disks are")
	}
	in.ok("PUT", "/system/setting", `{"values":{"file.free_megabytes":1048576}}`, "owner") // 1 TiB
	if _, parts := in.healthParts(); parts["disk"].Figures["floor_bytes"] != 1<<40 || parts["disk"].Figures["free_bytes"] < 1<<40 && parts["disk"].State != web.Degraded {
		t.Errorf("%+v", parts["disk"])
	}
}

func TestClockHealth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		moved, ahead time.Duration
		want         string
	}{
		{"still", 0, -time.Hour, web.Healthy}, {"adjusted a little", -time.Second, time.Second, web.Healthy},
		{"put forward", time.Hour, -time.Minute, web.Healthy}, {"put back", -3 * time.Second, 0, web.Degraded},
		{"behind its records", 0, 3 * time.Second, web.Degraded},
	} {
		if p := ops.ClockPart(c.moved, c.ahead); p.State != c.want || p.Figures["moved_ms"] != c.moved.Milliseconds() {
			t.Errorf("%s: %+v, want %s", c.name, p, c.want)
		}
	}
	in := start(t)
	in.server.Started = in.server.Started.Round(0).Add(time.Hour) // without a monotonic reading both differences are equal
	if _, parts := in.healthParts(); parts["clock"].State != web.Healthy || parts["clock"].Figures["moved_ms"] != 0 {
		t.Errorf("%+v", parts["clock"])
	}
}

func TestSystemInfo(t *testing.T) {
	t.Parallel()
	in := start(t, func(su *setup) {
		su.config.Effective = []web.ConfigValue{{Key: "metrics.token", Value: "******", Source: "file"}}
	})
	for _, name := range []string{"data.db.schema-2", "data.db.schema-1"} {
		must(t, os.WriteFile(filepath.Join(in.dir, name), []byte("abc"), 0o600))
	}
	if _, err := in.db.FilesOpened(); err != nil {
		t.Fatal(err)
	}
	in.create("/system/setting-group", `{"key":"counted","title":"Counted"}`)
	body := in.ok("GET", "/system/info", "", "owner")
	if strings.Contains(body.Body, metricsSecret) {
		t.Errorf("it tells the token: %s", body.Body)
	}
	var info ops.SystemInfo
	body.data(&info)
	if info.OldestKept != "data.db.schema-1" || len(info.Kept) != 2 || info.Kept[1].Size != 3 || info.Kept[1].Schema != 2 || info.Kept[1].CreatedAt == 0 {
		t.Errorf("kept: %+v, the oldest is %q", info.Kept, info.OldestKept)
	}
	if !slices.Equal(info.Config, in.server.Config.Effective) || info.Version != "test" || info.Build.CPUs < 1 || info.Build.Go == "" || info.Memory.Heap <= 0 || info.Memory.Goroutines < 1 {
		t.Errorf("%+v", info)
	}
	if _, err := os.Stat("/proc/self/status"); err == nil && info.Memory.Anonymous < 1<<20 {
		t.Errorf("%d bytes of anonymous memory", info.Memory.Anonymous)
	}
	stat, err := os.Stat(filepath.Join(in.dir, "data.db"))
	must(t, err)
	if len(info.Files) != 2 || info.Files[0].Name != "data.db" || info.Files[0].Size != stat.Size() || info.Files[1].Name != "files.db" {
		t.Errorf("files: %+v", info.Files)
	}
	in.view(func(tx *store.Tx) error {
		groups, err := store.SettingGroups.Count(tx)
		if !slices.Contains(info.Collections, ops.CollectionInfo{Name: "setting_group", Records: groups}) || len(info.Collections) < 15 {
			t.Errorf("collections: %+v", info.Collections)
		}
		i := slices.IndexFunc(info.Caches, func(c ops.CacheInfo) bool { return c.Name == "settings" })
		if i < 0 || info.Caches[i].Generation != store.SettingCache.Generation(tx) || info.Caches[i].ComputedAt < info.StartedAt {
			t.Errorf("caches: %+v", info.Caches)
		}
		return err
	})
}

// TestLostCommits_ShownUntilAcknowledged checks that only a user with the permission can
// acknowledge lost commits.
func TestLostCommits_ShownUntilAcknowledged(t *testing.T) {
	t.Parallel()
	in := start(t)
	if _, parts := in.healthParts(); parts["database"].State != web.Healthy || parts["database"].Figures["lost_commits"] != 0 {
		t.Fatalf("%+v", parts["database"])
	}
	in.close()
	path := filepath.Join(in.dir, "data.db")
	b, err := os.ReadFile(path)
	must(t, err)
	page := os.Getpagesize()
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i*page+16+48:]) } // a field of bbolt's meta page
	newest := 0
	if number(1) > number(0) {
		newest = 1
	}
	clear(b[newest*page:][:page])
	must(t, os.WriteFile(path, b, 0o600))
	for range 2 { // until it is acknowledged
		in = open(t, in.dir)
		in.tokens["owner"] = in.signIn(1)
		state, parts := in.healthParts()
		if d := parts["database"]; state != web.Degraded || d.State != web.Degraded || d.Figures["lost_commits"] != 1 || d.Since == 0 || !strings.Contains(d.Text, "1 lost") {
			t.Fatalf("%s: %+v", state, d)
		}
		in.ok("GET", "/health", "", "nobody")
		in.close()
	}
	open := func() {
		in = open(t, in.dir)
		_, err := in.db.FilesOpened() // until then the state is degraded
		must(t, err)
	}
	open()
	in.clerk("viewer", "system.info")
	in.clerk("keeper", "system.info", "system.info.acknowledge")
	in.tokens["owner"] = in.signIn(1)
	in.call("POST", "/system/health/acknowledge", "", "viewer").brief(403, "system.info.acknowledge")
	in.ok("POST", "/system/health/acknowledge", "", "keeper")
	if state, parts := in.healthParts(); state != web.Healthy || parts["database"].Figures["lost_commits"] != 0 {
		t.Errorf("%s: %+v", state, parts)
	}
	in.close()
	open()
	in.tokens["owner"] = in.signIn(1)
	if state, parts := in.healthParts(); state != web.Healthy {
		t.Errorf("after another start: %s: %+v", state, parts)
	}
}

// TestSystemHealth_SearchIndexFailure: it needs an administrator, but
// searches still work.
func TestSystemHealth_SearchIndexFailure(t *testing.T) {
	t.Parallel()
	in := start(t)
	must(t, os.WriteFile(filepath.Join(in.dir, "search"), []byte("in the way"), 0o600))
	must(t, in.db.Update(store.System, func(tx *store.Tx) error {
		for n := range 5000 {
			if err := store.Roles.Create(tx, &store.Role{Name: fmt.Sprint("role ", n), DataScope: store.ScopeSelf}); err != nil {
				return err
			}
		}
		return nil
	}))
	var parts map[string]web.Part
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if _, parts = in.healthParts(); parts["search"].State != web.Healthy {
			break
		}
	}
	p := parts["search"]
	if p.State != web.Degraded || !strings.Contains(p.Text, "the search index of role can't be built or read") || strings.Contains(p.Text, in.dir) || p.Figures["indexes"] != 1 {
		t.Errorf("%+v", p)
	}
	if list := in.ok("GET", "/admin/role?keywordSearch=role+4711", "", "owner"); !strings.Contains(list.Body, "role 4711") {
		t.Errorf("%.300s", list.Body)
	}
}

// TestSystemHealth_WorstState checks that the state of the whole is the worst of all components.
func TestSystemHealth_WorstState(t *testing.T) {
	t.Parallel()
	in := start(t)
	for _, test := range []struct {
		parts []string
		want  string
	}{
		{[]string{web.Healthy, web.Healthy}, web.Healthy},
		{[]string{web.Healthy, web.Checking, web.Healthy}, web.Checking},
		{[]string{web.Degraded, web.Checking}, web.Degraded},
		{[]string{web.Checking, web.Failed, web.Degraded}, web.Failed},
	} {
		in.server.ops.Parts = nil
		for _, state := range test.parts {
			in.server.ops.Parts = append(in.server.ops.Parts, func() web.Part { return web.Part{State: state, Figures: map[string]int64{}} })
		}
		var out ops.SystemHealthOut
		in.ok("GET", "/system/health", "", "owner").data(&out)
		if out.State != test.want {
			t.Errorf("%v: %s, want %s", test.parts, out.State, test.want)
		}
	}
}
