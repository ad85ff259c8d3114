package web

import (
	"maps"
	"runtime"
	"slices"
)

// Seconds converts nanoseconds to seconds, the unit of Prometheus.
const Seconds = 1e-9

// families are the server's own metrics in output order. Those of the Go runtime and of
// the process follow.
var families = []family{
	{"reeve_info", "gauge", "Always 1, with the versions of the program and of Go as labels.",
		func(c *collected, out *Samples) {
			out.gauge(labels("version", c.version, "go", runtime.Version()), 1)
		}},
	{"reeve_requests_total", "counter",
		"Requests by route and status class; requests without a route have the route unknown.",
		func(c *collected, out *Samples) {
			for _, r := range c.requests {
				for class := range r.Classes {
					if n := r.Classes[class].Load(); n > 0 {
						out.counter(labels("method", r.method, "route", r.route, "status",
							StatusClasses[class]), n)
					}
				}
			}
		}},
	{"reeve_request_duration_seconds", "histogram",
		"Time from the end of a request's header to the end of the response.",
		func(c *collected, out *Samples) {
			for _, r := range c.requests {
				if d := r.durations.Read(); d.Count() > 0 {
					out.Histogram(labels("method", r.method, "route", r.route), d, Seconds)
				}
			}
		}},
	{"reeve_sessions", "gauge",
		"Sessions cached in memory: those used within the last hour or so.",
		func(c *collected, out *Samples) {
			for _, realm := range slices.Sorted(maps.Keys(c.auth.Sessions)) {
				out.gauge(labels("realm", realm), float64(c.auth.Sessions[realm]))
			}
		}},
	{"reeve_logins_total", "counter", "Sign-ins by result.", func(c *collected, out *Samples) {
		for _, l := range c.auth.Logins {
			out.counter(labels("realm", l.Realm, "result", l.Result), l.Count)
		}
	}},
	{"reeve_throttled_total", "counter", "Attempts rejected by rate limiting, by operation.",
		func(c *collected, out *Samples) {
			for _, operation := range slices.Sorted(maps.Keys(c.auth.Throttled)) {
				out.counter(labels("operation", operation), c.auth.Throttled[operation])
			}
		}},
	{"reeve_limit_rejections_total", "counter",
		"Connections and requests rejected by a limit, and transfers aborted as too slow.",
		func(c *collected, out *Samples) {
			for _, l := range c.limits {
				out.counter(labels("limit", l.Name), l.Rejected.Load())
			}
		}},
	{"reeve_limit_in_use", "gauge", "Use of a limit, in bytes for body_memory.",
		func(c *collected, out *Samples) {
			for _, l := range c.limits {
				if l.Total > 0 {
					out.gauge(labels("limit", l.Name), float64(l.Now()))
				}
			}
		}},
	{"reeve_limit_max", "gauge", "Maximum of a limit, in bytes for body_memory.",
		func(c *collected, out *Samples) {
			for _, l := range c.limits {
				if l.Total > 0 {
					out.gauge(labels("limit", l.Name), float64(l.Total))
				}
			}
		}},
	{"reeve_store_views_total", "counter",
		"Read views of the data, most of which are served from memory.",
		func(c *collected, out *Samples) {
			out.counter("", c.store.Views)
		}},
	{"reeve_store_reads_total", "counter", "Read transactions on data.db.",
		func(c *collected, out *Samples) {
			out.counter("", c.store.Reads)
		}},
	{"reeve_store_updates_total", "counter", "Write functions requested.",
		func(c *collected, out *Samples) {
			out.counter("", c.store.Updates)
		}},
	{"reeve_store_commits_total", "counter", "Commits to data.db.",
		func(c *collected, out *Samples) {
			out.counter("", c.store.Commits)
		}},
	{"reeve_store_commit_failures_total", "counter", "Commits that failed.",
		func(c *collected, out *Samples) {
			out.counter("", c.store.Failures)
		}},
	{"reeve_store_commit_seconds", "histogram",
		"Duration of a commit, including its write functions and the sync.",
		func(c *collected, out *Samples) {
			out.Histogram("", c.store.Commit, Seconds)
		}},
	{"reeve_store_wait_seconds", "histogram", "Time that write functions waited for the writer.",
		func(c *collected, out *Samples) {
			out.Histogram("", c.store.Wait, Seconds)
		}},
	{"reeve_store_batch_size", "histogram", "Write functions per commit.",
		func(c *collected, out *Samples) {
			out.Histogram("", c.store.Batch, 1)
		}},
	{"reeve_store_queue_length", "gauge", "Write functions waiting for the writer.",
		func(c *collected, out *Samples) {
			out.gauge("", float64(c.store.Queued))
		}},
	{"reeve_store_largest_write_records", "gauge",
		"Maximum number of records changed by one write function since the start.",
		func(c *collected, out *Samples) {
			out.gauge("", float64(c.store.Largest))
		}},
	{"reeve_store_slow_writes_total", "counter",
		"Batches of writes that held the writer for more than 100 ms, by the slowest operation.",
		func(c *collected, out *Samples) {
			for _, operation := range slices.Sorted(maps.Keys(c.slow)) {
				out.counter(labels("operation", operation), c.slow[operation])
			}
		}},
	{"reeve_store_open_reads", "gauge", "Open read transactions on data.db.",
		func(c *collected, out *Samples) {
			out.gauge("", float64(c.store.Reading))
		}},
	{"reeve_store_oldest_read_seconds", "gauge",
		"Age of the oldest open read transaction on data.db; pages freed while it is open cannot be reused.", func(c *collected, out *Samples) {
			out.gauge("", c.store.OldestRead.Seconds())
		}},
	{"reeve_store_writable", "gauge", "1 if data.db accepts writes, else 0.",
		func(c *collected, out *Samples) {
			if c.writable {
				out.gauge("", 1)
			} else {
				out.gauge("", 0)
			}
		}},
	{"reeve_store_file_bytes", "gauge", "Size of a database file.",
		func(c *collected, out *Samples) {
			for _, f := range c.files {
				out.gauge(labels("file", f.Name), float64(f.Size))
			}
		}},
	{"reeve_store_file_free_bytes", "gauge", "Free, reusable bytes in a database file.",
		func(c *collected, out *Samples) {
			for _, f := range c.files {
				out.gauge(labels("file", f.Name), float64(f.Free))
			}
		}},
	{"reeve_store_records", "gauge", "Number of records by collection.",
		func(c *collected, out *Samples) {
			for _, t := range c.collections {
				out.gauge(labels("collection", t.Name), float64(t.Records))
			}
		}},
	{"reeve_cache_generation", "gauge", "Number of rebuilds of a cache since the start.",
		func(c *collected, out *Samples) {
			for _, k := range c.caches {
				out.gauge(labels("cache", k.Name), float64(k.Generation))
			}
		}},
	{"reeve_cache_records", "gauge", "Number of records in a cache.",
		func(c *collected, out *Samples) {
			for _, k := range c.caches {
				out.gauge(labels("cache", k.Name), float64(k.Records))
			}
		}},
	{"reeve_files_stored_bytes", "gauge", "Bytes of stored files, equal contents counted once.",
		func(c *collected, out *Samples) {
			out.gauge("", float64(c.stored))
		}},
	{"reeve_uploads_in_progress_bytes", "gauge", "Bytes received of unfinished uploads.",
		func(c *collected, out *Samples) {
			out.gauge("", float64(c.inProgress))
		}},
	{"reeve_files_cached_bytes", "gauge", "Bytes of file contents in the data directory that the bucket of files has, too.",
		func(c *collected, out *Samples) {
			out.gauge("", float64(c.bucket.Cached))
		}},
	{"reeve_bucket_up", "gauge", "0 if the bucket of files has not answered the last request, else 1.",
		func(c *collected, out *Samples) {
			up := 1.0
			if c.bucket.Fault != nil {
				up = 0
			}
			out.gauge("", up)
		}},
	{"reeve_bucket_reads_total", "counter", "Requests for bytes of the bucket of files.",
		func(c *collected, out *Samples) {
			out.counter("", uint64(c.bucket.Gets))
		}},
	{"reeve_bucket_objects_total", "counter", "Contents that were stored in the bucket of files.",
		func(c *collected, out *Samples) {
			out.counter("", uint64(c.bucket.Puts))
		}},
	{"reeve_disk_free_bytes", "gauge",
		"Free bytes on the disk of the data directory; absent if unknown.",
		func(c *collected, out *Samples) {
			if c.free >= 0 {
				out.gauge("", float64(c.free))
			}
		}},
}
