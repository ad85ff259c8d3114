package server_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

var sampleLine = regexp.MustCompile(`^([a-z_][a-zA-Z0-9_]*)(\{\w+="[^"]*"(?:, ?\w+="[^"]*")*\})? (\S+)$`)

// scrape returns every sample by name and labels.
func scrape(in *servertest.Instance) map[string]float64 {
	in.T.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(in.OK("GET", "/metrics", "", "metrics").Body) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			in.T.Fatalf("not a sample: %s", line)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		servertest.Must(in.T, err)
		if _, twice := all[m[1]+m[2]]; twice {
			in.T.Errorf("twice: %s", line)
		}
		all[m[1]+m[2]] = v
	}

	return all
}

// moves runs fn and fails unless the samples have changed by these amounts.
func moves(in *servertest.Instance, what string, want map[string]float64, fn func()) {
	in.T.Helper()
	for _, fault := range movement(in, want, fn) {
		in.T.Errorf("%s: %s", what, fault)
	}
}

// movement runs fn and returns the samples that have not changed by these amounts.
func movement(in *servertest.Instance, want map[string]float64, fn func()) (faults []string) {
	in.T.Helper()
	before := scrape(in)
	fn()
	after := scrape(in)
	for name, by := range want {
		if _, there := after[name]; !there || after[name]-before[name] != by {
			faults = append(faults,
				fmt.Sprintf("%s went from %v to %v, want %v more", name, before[name], after[name],
					by))
		}
	}
	return faults
}

// untilMoved repeats movement while something else moves the samples, too.
func untilMoved(in *servertest.Instance, what string, want map[string]float64, fn func()) {
	in.T.Helper()
	var faults []string
	for range 5 {
		if faults = movement(in, want, fn); faults == nil {
			return
		}
	}
	in.T.Errorf("%s: %s", what, faults)
}

func requestsOf(method, route, status string) string {
	return `reeve_requests_total{method="` + method + `",route="` + route + `",status="` + status + `"}`
}

func TestMetrics_Requests(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	in.Clerk("without")
	moves(in, "requests", map[string]float64{
		requestsOf("GET", "/admin/info", "2xx"):                                               3,
		requestsOf("GET", "/admin/info", "4xx"):                                               1,
		requestsOf("GET", "/admin/role/:id", "4xx"):                                           2,
		requestsOf("GET", "/metrics", "2xx"):                                                  1, // the previous one
		requestsOf("GET", "/media/:key", "4xx"):                                               2,
		requestsOf("any", "unknown", "4xx"):                                                   4,
		requestsOf("POST", "/admin/role", "2xx"):                                              1,
		`reeve_request_duration_seconds_count{method="GET",route="/admin/info"}`:              4,
		`reeve_request_duration_seconds_bucket{method="GET",route="/admin/info",le="+Inf"}`:   4,
		`reeve_request_duration_seconds_count{method="any",route="unknown"}`:                  4,
		`reeve_request_duration_seconds_bucket{method="POST",route="/admin/role",le="30"}`:    1,
		`reeve_request_duration_seconds_bucket{method="GET",route="/admin/role/:id",le="30"}`: 2,
	}, func() {
		for range 3 {
			in.OK("GET", "/admin/info", "", "owner")
		}
		in.Call("GET", "/admin/info", "", "nobody").Brief(401)
		in.Call("GET", "/admin/role/77", "", "owner").Brief(404)
		in.Call("GET", "/admin/role/1", "", "without").Brief(403)
		in.Call("GET", "/media/nothing", "", "nobody").Brief(404)
		in.Call("HEAD", "/media/nothing", "", "nobody")
		for _, path := range []string{"/no/such", "/no/such/either", "/%22%7D%0A1"} {
			in.Call("GET", path, "", "nobody").Brief(404)
		}
		in.Call("BREW", "/admin/info", "", "nobody").Brief(405)
		in.Create("/admin/role", `{"name":"Counted"}`)
	})
}

func TestMetrics_ServerError(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("GET", "/metrics", "", "metrics")
	servertest.Must(t, in.Server.Limits.Backups.Acquire(web.MaxBackups))
	moves(in, "a refused backup",
		map[string]float64{requestsOf("GET", "/system/backup", "5xx"): 1}, func() {
			in.Call("GET", "/system/backup", "", "owner").Brief(503)
		})
	in.Server.Limits.Backups.Release(web.MaxBackups)
}

func TestMetrics_Logins(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	moves(in, "sign-ins", map[string]float64{
		`reeve_logins_total{realm="admin",result="success"}`:   1,
		`reeve_logins_total{realm="admin",result="failed"}`:    5,
		`reeve_logins_total{realm="admin",result="throttled"}`: 2,
		`reeve_logins_total{realm="app",result="failed"}`:      1,
		`reeve_logins_total{realm="app",result="unavailable"}`: 0,
		`reeve_throttled_total{operation="login"}`:             2,
		`reeve_throttled_total{operation="password"}`:          0,
		`reeve_store_records{collection="session"}`:            1,
		requestsOf("POST", "/admin/login", "4xx"):              7,
	}, func() {
		in.Login("admin", servertest.OwnerPassword).Brief(200)
		for range 5 {
			in.Call("POST", "/admin/login", `{"username":"stranger","password":"wrong password"}`,
				"nobody").Brief(401)
		}
		for range 2 {
			in.Call("POST", "/admin/login", `{"username":"stranger","password":"wrong password"}`,
				"nobody").Brief(429)
		}
		in.Call("POST", "/api/login", `{"username":"x","password":"wrong password"}`, "nobody").Brief(401)
	})
}

func TestMetrics_SessionsInMemory(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	moves(in, "sessions", map[string]float64{
		`reeve_sessions{realm="admin"}`: 1,
		`reeve_sessions{realm="app"}`:   1,
	}, func() {
		in.OK("GET", "/admin/info", "", "owner")
		in.OK("GET", "/api/user", "", "customer")
	})
}

func TestMetrics_Store(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) { su.Config.Monitor.Off = true }) // which reads settings too
	in.OK("GET", "/admin/info", "", "owner")
	moves(in, "a write", map[string]float64{
		"reeve_store_updates_total": 1, "reeve_store_commits_total": 1,
		"reeve_store_commit_failures_total": 0,
		"reeve_store_commit_seconds_count":  1, "reeve_store_wait_seconds_count": 1,
		"reeve_store_batch_size_count": 1, "reeve_store_batch_size_sum": 1,
		`reeve_store_batch_size_bucket{le="1"}`:    1,
		`reeve_cache_generation{cache="settings"}`: 1, `reeve_cache_records{cache="settings"}`: 1,
		`reeve_cache_generation{cache="dictionaries"}`:    0,
		`reeve_cache_generation{cache="rules"}`:           1,
		`reeve_store_records{collection="setting_group"}`: 1,
	}, func() { in.Create("/system/setting-group", `{"key":"counted","title":"Counted"}`) })
	// Each scrape is itself a view of the file, besides the one that authenticates it. At any
	// time, the indexer may look for changes.
	untilMoved(in, "a view from memory", map[string]float64{
		"reeve_store_views_total": 4,
		"reeve_store_reads_total": 1,
	}, func() {
		in.OK("GET", "/admin/rule/parent", "", "owner")
		in.OK("GET", "/admin/rule/parent", "", "owner")
	})
	untilMoved(in, "a view of the file", map[string]float64{
		"reeve_store_views_total": 3,
		"reeve_store_reads_total": 2,
	}, func() {
		in.OK("GET", "/admin/list/1", "", "owner")
	})
	in.View(func(tx *store.Tx) error {
		if _, err := store.Users.Count(tx); err != nil {
			return err
		}
		if all := scrape(in); all["reeve_store_open_reads"] < 1 ||
			all["reeve_store_oldest_read_seconds"] <= 0 {
			t.Errorf("%v reads are open, the oldest for %v s", all["reeve_store_open_reads"],
				all["reeve_store_oldest_read_seconds"])
		}
		return nil
	})
	if all := scrape(in); all["reeve_store_open_reads"] != 0 || all["reeve_store_writable"] != 1 {
		t.Errorf("%v reads are open, writable is %v", all["reeve_store_open_reads"],
			all["reeve_store_writable"])
	}
}

func TestMetrics_Files(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	moves(in, "an upload", map[string]float64{
		"reeve_files_stored_bytes":        12,
		"reeve_uploads_in_progress_bytes": 0,
	}, func() {
		in.Upload("/file/list", "just a text\n", "owner").Brief(200)
	})
	all := scrape(in)
	for _, name := range []string{"data.db", "files.db"} {
		info, err := os.Stat(filepath.Join(in.Dir, name))
		servertest.Must(t, err)
		size, free := all[`reeve_store_file_bytes{file="`+name+`"}`], all[`reeve_store_file_free_bytes{file="`+name+`"}`]
		if size != float64(info.Size()) || free <= 0 || free >= size {
			t.Errorf("%s: %v bytes, %v of them free; it has %d", name, size, free, info.Size())
		}
	}

	if free, known, err := in.DB.DiskFree(); err != nil ||
		known != (all["reeve_disk_free_bytes"] > 0) || free < 0 {
		t.Errorf("%v bytes are free on the disk", all["reeve_disk_free_bytes"])
	}
}

func TestMetrics_ListedInManual(t *testing.T) {
	t.Parallel()
	in, _ := startNode(t)
	scrape(in)
	page, err := os.ReadFile("../embed/manual/monitoring.md")
	servertest.Must(t, err)
	var documented, written []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(reeve_[a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, m[1])
	}

	body := in.OK("GET", "/metrics", "", "metrics").Body
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (reeve_\S+) (\S+)\n(\S*)`).FindAllStringSubmatch(body, -1) {
		written = append(written, m[1])
		if sample := m[3]; !strings.HasPrefix(sample, m[1]) {
			t.Errorf("%s has no sample, %s follows", m[1], sample)
		}
		if counts := strings.HasSuffix(m[1], "_total"); counts != (m[2] == "counter") {
			t.Errorf("%s is a %s", m[1], m[2])
		}
	}

	slices.Sort(documented)
	slices.Sort(written)
	if !slices.Equal(documented, written) || len(written) < 20 {
		t.Errorf("the manual has\n%q, written are\n%q", documented, written)
	}

	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes",
		"process_open_fds"} {
		if _, there := scrape(in)[name]; !there {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestMetrics_LabelsBounded(t *testing.T) {
	// Not parallel: others beside it would make writes slow, which adds samples.
	in := servertest.Start(t)
	touch := func() {
		for _, method := range []string{"GET", "BREW", "X"} {
			for _, path := range []string{"/a", "/b/c", "/admin/list/12345", "/admin/list/abc?x=1",
				"/media/" + method} {
				in.Call(method, path, "", "nobody")
			}
		}
	}

	if _, err := in.DB.FilesOpened(); err != nil { // until then it has no samples
		t.Fatal(err)
	}

	touch()
	scrape(in)
	before := scrape(in)
	touch()
	in.Call("GET", "/quite/another", "", "nobody")
	in.Call("BREW2", "/admin/list/99", "", "nobody")
	for name := range scrape(in) {
		if _, known := before[name]; !known {
			t.Errorf("there is a new sample: %s", name)
		}
	}
}

func TestMetrics_HistogramsCumulative(t *testing.T) {
	t.Parallel()
	out := &web.Samples{Name: "h"}
	out.Histogram(`route="/x"`, kv.Distribution{
		Bounds: []int64{1e6, 1e9},
		Counts: []uint64{2, 3, 1},
		Sum:    5e9,
	}, web.Seconds)
	want := "h_bucket{route=\"/x\",le=\"0.001\"} 2\nh_bucket{route=\"/x\",le=\"1\"} 5\nh_bucket{route=\"/x\",le=\"+Inf\"} 6\nh_sum{route=\"/x\"} 5\nh_count{route=\"/x\"} 6\n"
	if got := out.Text.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestMetrics_RegisteredGauges(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Server.Metrics.Gauge("reeve_waiting", "What waits.", func() float64 { return 7 })
	if v := scrape(in)["reeve_waiting"]; v != 7 {
		t.Errorf("it is %v", v)
	}
}

func TestMetrics_OffWithoutToken(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) { su.Config.MetricsToken = "" })
	unknown := in.Call("GET", "/no/such", "", "owner")
	for _, method := range []string{"GET", "POST", "BREW"} {
		for _, header := range []string{"", "Bearer", "Bearer ",
			"Bearer " + servertest.MetricsSecret, "Bearer " + in.Tokens["owner"]} {
			r := in.Request(method, "/metrics", "", "nobody")
			r.Header.Set("Authorization", header)
			a := in.Send(r)
			a.Brief(404)
			if a.Envelope().Msg != unknown.Envelope().Msg ||
				a.Header.Get("Www-Authenticate") != "" || a.Header.Get("Allow") != "" {
				t.Errorf("%s with %q: %v %s, want %s", method, header, a.Header, a.Body,
					unknown.Body)
			}
		}
	}

	if err := in.Server.AdmitMetrics(""); err == nil {
		t.Error("no token is let in where none is configured")
	}
}

func TestMetrics_TokenRequired(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for name, header := range map[string]string{
		"nothing": "", "no token": "Bearer", "an empty token": "Bearer ",
		"another":        "Bearer another-token-of-the-metrics",
		"a beginning":    "Bearer " + servertest.MetricsSecret[:10],
		"more":           "Bearer " + servertest.MetricsSecret + "x",
		"another case":   "Bearer " + strings.ToUpper(servertest.MetricsSecret),
		"another scheme": "Basic " + servertest.MetricsSecret,
		"the bare token": servertest.MetricsSecret, "an owner": "Bearer " + in.Tokens["owner"],
	} {
		r := in.Request("GET", "/metrics", "", "nobody")
		r.Header.Set("Authorization", header)
		a := in.Send(r)
		a.Brief(http.StatusUnauthorized, `"errorCode":"unauthenticated"`)
		if strings.Contains(a.Body, servertest.MetricsSecret) ||
			strings.Contains(a.Body, "reeve_") {
			t.Errorf("%s: it tells: %s", name, a.Body)
		}
	}

	a := in.OK("GET", "/metrics", "", "metrics")
	if strings.Contains(a.Body, servertest.MetricsSecret) ||
		a.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("%v", a.Header)
	}
}
