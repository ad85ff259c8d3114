package ops_test

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
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// age makes the cached result of /health expire.
func age(in *servertest.Instance) {
	last := *in.Server.Ops.Cached.Load()
	last.At = last.At.Add(-ops.HealthCacheTime)
	in.Server.Ops.Cached.Store(&last)
}

func TestHealth_CachedForASecond(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("GET", "/health", "", "nobody")
	first := in.Server.Ops.Cached.Load()
	first.At = first.At.Add(time.Hour) // independent of the machine's load
	in.Close()
	in.OK("GET", "/health", "", "nobody")
	if in.Server.Ops.Cached.Load() != first {
		t.Error("it was looked at again")
	}

	first.At = time.Now()
	age(in)
	for range 2 {
		in.Call("GET", "/health", "", "nobody").Brief(503, `"errorCode":"not_healthy"`, `"data":{}`)
	}
}

func TestSystemHealth_ClosedDatabase(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	if _, parts := in.HealthParts(); parts["database"].State != web.Healthy ||
		parts["database"].Figures["writable"] != 1 || parts["clock"].State != web.Healthy {
		t.Fatalf("%+v", parts)
	}

	in.Close()
	state, parts := in.HealthParts()
	if d := parts["database"]; state != web.Failed || d.State != web.Failed ||
		!strings.Contains(d.Text, "shutting down") || d.Figures["writable"] != 0 {
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
	in := servertest.Start(t)
	if _, err := in.DB.FilesOpened(); err != nil {
		t.Fatal(err)
	}

	in.Close()
	servertest.Must(t,
		os.WriteFile(filepath.Join(in.Dir, "files.db"),
			[]byte(strings.Repeat("not a database", 20000)), 0o600))
	other := servertest.Open(t, in.Dir)
	if _, err := other.DB.FilesOpened(); err == nil {
		t.Fatal("it was opened")
	}

	other.Tokens["owner"] = other.SignIn(1)
	state, parts := other.HealthParts()
	if state != web.Failed || parts["files"].State != web.Failed ||
		parts["database"].State != web.Healthy {
		t.Errorf("%s: %+v", state, parts)
	}

	other.OK("GET", "/health", "", "nobody")
	var info ops.SystemInfo
	other.OK("GET", "/system/info", "", "owner").Data(&info)
	if len(info.Files) != 1 || info.Files[0].Name != "data.db" {
		t.Errorf("%+v", info.Files)
	}
}

func TestSystemHealth_WorstPart(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	state := func(s string) func() web.Part {
		return func() web.Part {
			return web.Part{
				Name:    "monitor",
				State:   s,
				Message: errs.Say("t"),
				Figures: map[string]int64{},
			}
		}
	}
	for _, c := range []struct {
		states []string
		want   string
	}{
		{[]string{web.Healthy}, web.Healthy}, {[]string{web.Healthy, web.Degraded}, web.Degraded},
		{[]string{web.Degraded, web.Healthy}, web.Degraded},
		{[]string{web.Degraded, web.Failed}, web.Failed},
		{[]string{web.Failed, web.Degraded, web.Healthy}, web.Failed},
	} {
		in.Server.Ops.Parts = nil
		for _, s := range c.states {
			in.Server.Ops.Parts = append(in.Server.Ops.Parts, state(s))
		}
		if got, parts := in.HealthParts(); got != c.want || parts["monitor"].Text != "t" {
			t.Errorf("%q: %s, want %s", c.states, got, c.want)
		}
	}
}

func TestHealthComponents(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var out ops.SystemHealthOut
	in.OK("GET", "/system/health", "", "owner").Data(&out)
	var names []string
	for _, p := range out.Parts {
		names = append(names, p.Name)
	}
	if want := []string{"database", "secrets", "disk", "files", "search", "texts", "caches",
		"clock", "monitor", "change_log", "webhooks", "keys", "mail", "limits", "sign-in",
		"passwords", "permissions", "backup"}; !slices.Equal(names, want) {
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
		{"much room", 300 << 20, 256 << 20, web.Healthy},
		{"exactly the floor", 256 << 20, 256 << 20, web.Healthy},
		{"less than the floor", 256<<20 - 1, 256 << 20, web.Degraded},
		{"a little and no floor", 2 << 20, 0, web.Healthy},
		{"next to nothing", 1<<20 - 1, 256 << 20, web.Failed},
		{"nothing and no floor", 0, 0, web.Failed},
	} {
		if p := ops.DiskPart(c.free, c.floor); p.State != c.want ||
			p.Figures["free_bytes"] != c.free || p.Figures["floor_bytes"] != c.floor {
			t.Errorf("%s: %+v, want %s", c.name, p, c.want)
		}
	}
}

func TestDiskHealth_FloorSetting(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	if _, known, _ := in.DB.DiskFree(); !known {
		t.Skip("this system does not tell how full its disks are")
	}
	in.OK("PUT", "/system/setting", `{"values":{"file.free_megabytes":1048576}}`, "owner") // 1 TiB
	if _, parts := in.HealthParts(); parts["disk"].Figures["floor_bytes"] != 1<<40 ||
		parts["disk"].Figures["free_bytes"] < 1<<40 && parts["disk"].State != web.Degraded {
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
		{"still", 0, -time.Hour, web.Healthy},
		{"adjusted a little", -time.Second, time.Second, web.Healthy},
		{"put forward", time.Hour, -time.Minute, web.Healthy},
		{"put back", -3 * time.Second, 0, web.Degraded},
		{"behind its records", 0, 3 * time.Second, web.Degraded},
	} {
		if p := ops.ClockPart(c.moved, c.ahead); p.State != c.want ||
			p.Figures["moved_ms"] != c.moved.Milliseconds() {
			t.Errorf("%s: %+v, want %s", c.name, p, c.want)
		}
	}

	in := servertest.Start(t)
	in.Server.Started = in.Server.Started.Round(0).Add(time.Hour) // without a monotonic reading both differences are equal
	if _, parts := in.HealthParts(); parts["clock"].State != web.Healthy ||
		parts["clock"].Figures["moved_ms"] != 0 {
		t.Errorf("%+v", parts["clock"])
	}
}

func TestSystemInfo(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.Effective = []web.ConfigValue{{
			Key:    "metrics.token",
			Value:  "******",
			Source: "file",
		}}
	})
	for _, name := range []string{"data.db.schema-2", "data.db.schema-1"} {
		servertest.Must(t, os.WriteFile(filepath.Join(in.Dir, name), []byte("abc"), 0o600))
	}

	if _, err := in.DB.FilesOpened(); err != nil {
		t.Fatal(err)
	}

	in.Create("/system/setting-group", `{"key":"counted","title":"Counted"}`)
	body := in.OK("GET", "/system/info", "", "owner")
	if strings.Contains(body.Body, servertest.MetricsSecret) {
		t.Errorf("it tells the token: %s", body.Body)
	}

	var info ops.SystemInfo
	body.Data(&info)
	if info.OldestKept != "data.db.schema-1" || len(info.Kept) != 2 || info.Kept[1].Size != 3 ||
		info.Kept[1].Schema != 2 || info.Kept[1].CreatedAt == 0 {
		t.Errorf("kept: %+v, the oldest is %q", info.Kept, info.OldestKept)
	}
	if !slices.Equal(info.Config, in.Server.Config.Effective) || info.Version != "test" ||
		info.Build.CPUs < 1 || info.Build.Go == "" || info.Memory.Heap <= 0 ||
		info.Memory.Goroutines < 1 {
		t.Errorf("%+v", info)
	}
	if _, err := os.Stat("/proc/self/status"); err == nil && info.Memory.Anonymous < 1<<20 {
		t.Errorf("%d bytes of anonymous memory", info.Memory.Anonymous)
	}

	stat, err := os.Stat(filepath.Join(in.Dir, "data.db"))
	servertest.Must(t, err)
	if len(info.Files) != 2 || info.Files[0].Name != "data.db" ||
		info.Files[0].Size != stat.Size() || info.Files[1].Name != "files.db" {
		t.Errorf("files: %+v", info.Files)
	}

	in.View(func(tx *store.Tx) error {
		groups, err := store.SettingGroups.Count(tx)
		if !slices.Contains(info.Collections, ops.CollectionInfo{
			Name:    "setting_group",
			Records: groups,
		}) || len(info.Collections) < 15 {
			t.Errorf("collections: %+v", info.Collections)
		}

		i := slices.IndexFunc(info.Caches, func(c ops.CacheInfo) bool {
			return c.Name == "settings"
		})
		if i < 0 || info.Caches[i].Generation != store.SettingCache.Generation(tx) ||
			info.Caches[i].ComputedAt < info.StartedAt {
			t.Errorf("caches: %+v", info.Caches)
		}

		return err
	})
}

// TestLostCommits_ShownUntilAcknowledged checks that only a user with the permission can
// acknowledge lost commits.
func TestLostCommits_ShownUntilAcknowledged(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	if _, parts := in.HealthParts(); parts["database"].State != web.Healthy ||
		parts["database"].Figures["lost_commits"] != 0 {
		t.Fatalf("%+v", parts["database"])
	}

	in.Close()
	path := filepath.Join(in.Dir, "data.db")
	b, err := os.ReadFile(path)
	servertest.Must(t, err)
	page := os.Getpagesize()
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i*page+16+48:]) } // a field of bbolt's meta page
	newest := 0
	if number(1) > number(0) {
		newest = 1
	}

	clear(b[newest*page:][:page])
	servertest.Must(t, os.WriteFile(path, b, 0o600))
	for range 2 { // until it is acknowledged
		in = servertest.Open(t, in.Dir)
		in.Tokens["owner"] = in.SignIn(1)
		state, parts := in.HealthParts()
		if d := parts["database"]; state != web.Degraded || d.State != web.Degraded ||
			d.Figures["lost_commits"] != 1 || d.Since == 0 || !strings.Contains(d.Text, "1 lost") {
			t.Fatalf("%s: %+v", state, d)
		}
		in.OK("GET", "/health", "", "nobody")
		in.Close()
	}

	open := func() {
		in = servertest.Open(t, in.Dir)
		_, err := in.DB.FilesOpened() // until then the state is checking
		servertest.Must(t, err)
	}
	open()
	in.Clerk("viewer", "system.info")
	in.Clerk("keeper", "system.info", "system.info.acknowledge")
	in.Tokens["owner"] = in.SignIn(1)
	in.Call("POST", "/system/health/acknowledge", "", "viewer").Brief(403,
		"system.info.acknowledge")
	in.OK("POST", "/system/health/acknowledge", "", "keeper")
	if state, parts := in.HealthParts(); state != web.Healthy ||
		parts["database"].Figures["lost_commits"] != 0 {
		t.Errorf("%s: %+v", state, parts)
	}

	in.Close()
	open()
	in.Tokens["owner"] = in.SignIn(1)
	if state, parts := in.HealthParts(); state != web.Healthy {
		t.Errorf("after another start: %s: %+v", state, parts)
	}
}

// TestSystemHealth_SearchIndexFailure: it needs an administrator, but
// searches still work.
func TestSystemHealth_SearchIndexFailure(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	servertest.Must(t, os.WriteFile(filepath.Join(in.Dir, "search"), []byte("in the way"), 0o600))
	servertest.Must(t, in.DB.Update(store.System, func(tx *store.Tx) error {
		for n := range 5000 {
			if err := store.Roles.Create(tx, &store.Role{
				Name:      fmt.Sprint("role ", n),
				DataScope: store.ScopeSelf,
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	var parts map[string]web.Part
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if _, parts = in.HealthParts(); parts["search"].State != web.Healthy {
			break
		}
	}

	p := parts["search"]
	if p.State != web.Degraded ||
		!strings.Contains(p.Text, "the search index of role can't be built or read") ||
		strings.Contains(p.Text, in.Dir) || p.Figures["indexes"] != 1 {
		t.Errorf("%+v", p)
	}
	if list := in.OK("GET", "/admin/role?keywordSearch=role+4711", "", "owner"); !strings.Contains(list.Body, "role 4711") {
		t.Errorf("%.300s", list.Body)
	}
}

// TestSystemHealth_WorstState checks that the state of the whole is the worst of all components.
func TestSystemHealth_WorstState(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, test := range []struct {
		parts []string
		want  string
	}{
		{[]string{web.Healthy, web.Healthy}, web.Healthy},
		{[]string{web.Healthy, web.Checking, web.Healthy}, web.Checking},
		{[]string{web.Degraded, web.Checking}, web.Degraded},
		{[]string{web.Checking, web.Failed, web.Degraded}, web.Failed},
	} {
		in.Server.Ops.Parts = nil
		for _, state := range test.parts {
			in.Server.Ops.Parts = append(in.Server.Ops.Parts, func() web.Part {
				return web.Part{State: state, Figures: map[string]int64{}}
			})
		}
		var out ops.SystemHealthOut
		in.OK("GET", "/system/health", "", "owner").Data(&out)
		if out.State != test.want {
			t.Errorf("%v: %s, want %s", test.parts, out.State, test.want)
		}
	}
}
