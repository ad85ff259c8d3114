package e2e

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Every list responds in time, however large the journal is: it stops early, and says so in
// scanned_until.
func TestMonitorLists_FullJournalInTime(t *testing.T) {
	filled := int64(size(8, 32, 256)) << 20
	dir := t.TempDir()
	p := start(t, dir, "REEVE_MONITOR__MAX_BYTES="+strconv.FormatInt(filled*9/8+4<<20, 10),
		"REEVE_METRICS__TOKEN="+metricsToken)
	c := signedIn(t, p)
	c.want(200, "POST", "/system/monitor/trace",
		object("route", "GET /admin/rule/parent", "minutes", 15))
	c.want(200, "POST", "/system/monitor/trace", object("route", "GET /admin/list", "minutes", 15))
	full := make(chan struct{})
	go func() {
		defer close(full)
		for end := time.Now().Add(10 * patience); monitorSize(t, dir) < filled &&
			time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
	}()

	begun := time.Now()
	answers := pour(t, p, mixture(c, p), func() bool {
		select {
		case <-full:
			return true
		default:
			return false
		}
	})

	eventually(t, "the queue is empty", func() bool {
		return metric(t, p, "reeve_monitor_queue_length") == 0
	})
	t.Logf("%d answers filled %s in %s", answers, mib(monitorSize(t, dir)), time.Since(begun))
	if monitorSize(t, dir) < filled*3/4 {
		t.Fatal("the journal is not full")
	}

	bare := medianOf(51, func() { c.want(200, "GET", "/admin/rule/parent", "") })
	week := "recorded_at[]=" + time.Now().Add(-7*24*time.Hour).UTC().Format(time.RFC3339) + "&recorded_at[]="
	worst, all := time.Duration(0), 0
	for _, kind := range []string{"request", "auth", "query", "cache", "redis"} {
		for name, query := range map[string]string{
			"no filter": "", "a text that is nowhere": "keywordSearch=this+is+nowhere",
			"long ones": "min_duration_ms=60000",
			"a user":    "user_id=1", "nobody": "user_id=99999", "seven days": week,
			"seven days of text": week + "&keywordSearch=nowhere",
			"page 100":           "page=100", "failures": "status=5xx",
			"a request": "request_id=none",
		} {
			took := medianOf(5, func() {
				a := c.want(200, "GET", "/system/monitor/"+kind+"?"+query, "")
				all = max(all, into[struct{ Total int }](t, a).Total)
			})
			worst = max(worst, took)
			if os.Getenv("REEVE_TEST_LONG") == "1" {
				t.Logf("%-8s %-24s %s", kind, name, took)
			}
			// The limit is 100 ms on a machine that answers a trivial request in 1 ms.
			if limit := 100 * max(bare, time.Millisecond); took > limit {
				t.Errorf("%s, %s: %s, allowed are %s", kind, name, took, limit)
			}
		}
	}

	t.Logf("the slowest list took %s, a bare request %s; up to %d events were counted", worst,
		bare, all)
	if all < 1000 {
		t.Errorf("no list has counted more than %d events", all)
	}

	p.stop()
	from := time.Now()
	p = start(t, dir)
	newClient(t, p).want(200, "GET", "/health", "")
	t.Logf("the next start to the first answer: %s", time.Since(from))
	p.stop()
}
