package e2e

import (
	"encoding/json"
	"testing"
	"time"
)

// monitorFigures returns the figures of monitoring in /system/health.
func (c *client) monitorFigures() map[string]int64 {
	c.t.Helper()
	var out struct {
		Parts []struct {
			Name    string
			Figures map[string]int64
		}
	}
	if err := json.Unmarshal(c.want(200, "GET", "/system/health", "").Data, &out); err != nil {
		c.t.Fatal(err)
	}

	for _, part := range out.Parts {
		if part.Name == "monitor" {
			return part.Figures
		}
	}

	c.t.Fatal("health does not name monitoring")
	return nil
}

// A flood stays within the limits of disk and memory, reports what was dropped, and leaves
// nothing behind.
func TestMonitoring_FloodStaysWithinCap(t *testing.T) {
	const limit = 8 << 20
	dir := t.TempDir()
	p := start(t, dir, "REEVE_MONITOR__MAX_BYTES=8388608", "REEVE_METRICS__TOKEN="+metricsToken)
	c := signedIn(t, p)
	quick := func() time.Duration {
		return medianOf(500, func() { c.want(200, "GET", "/admin/rule/parent", "") })
	}
	before := quick()
	c.want(200, "POST", "/system/monitor/trace", object("route", "GET /admin/rule/parent", "minutes", 15)) // which records all of them

	end := time.Now().Add(time.Duration(size(3, 10, 300)) * time.Second)
	stop, sampled := make(chan struct{}), make(chan struct{})
	var largest int64
	samples := 0
	go func() {
		defer close(sampled)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				samples++
				largest = max(largest, monitorSize(t, dir))
			}
		}
	}()

	var answers int64
	grown := p.grown(func() {
		answers = pour(t, p, mixture(c, p), func() bool { return !time.Now().Before(end) })
	})

	close(stop)
	<-sampled
	if largest > limit {
		t.Errorf("monitoring had %d bytes on the disk, of %d", largest, limit)
	}
	if grown > maxGrown {
		t.Errorf("memory has grown by %s, allowed are %s", mib(grown), mib(maxGrown))
	}

	eventually(t, "the queue is empty", func() bool {
		return metric(t, p, "reeve_monitor_queue_length") == 0
	})
	dropped := c.dropped()
	if got := c.monitorFigures()["dropped_requests"]; got != dropped {
		t.Errorf("health tells of %d dropped requests, the statistics of %d", got, dropped)
	}
	if got := metric(t, p, "reeve_monitor_dropped_total"); got != float64(dropped) {
		t.Errorf("the metrics tell of %v dropped requests, the statistics of %d", got, dropped)
	}
	if dropped == 0 && answers > 1_000_000 { // a small number can all be written
		t.Error("nothing was dropped: this was no flood")
	}

	for _, kind := range []string{"request", "auth", "query", "cache", "redis"} {
		c.want(200, "GET", "/system/monitor/"+kind, "")
	}

	id := c.write()
	eventually(t, "a write after the flood is kept", func() bool { return c.keeps(id) })
	after := quick()
	t.Logf("%d answers, %d dropped, %s of %s on the disk in %d samples, memory grown by %s; a request took %s before and %s after",
		answers, dropped, mib(largest), mib(limit), samples, mib(grown), before, after)
	if after > 3*before+time.Millisecond {
		t.Errorf("a request takes %s after the flood, before it took %s", after, before)
	}

	p.stop()
	sound(t, dir)
}
