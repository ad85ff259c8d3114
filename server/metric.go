package server

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	vm "github.com/VictoriaMetrics/metrics"
	"reeve/auth"
	"reeve/store"
)

// Metrics are written in the text format of Prometheus. The table families has one row
// per metric; other parts of the server register theirs in New.

var metricRoutes = []Route{
	raw("/metrics", metricsToken, "Get metrics", "text/plain", readMetrics),
}

// metrics are the server's own counters and the registered metrics.
type metrics struct {
	requests   []*requestStats // by route, in the order of the table
	registered []family
	slow       slowWrites
}

// family is one metric with all its labels.
type family struct {
	name, kind, help string
	write            func(c *collected, out *samples)
}

// gauge registers a gauge whose value is read at every scrape. Call it in New only,
// before requests are served.
func (m *metrics) gauge(name, help string, value func() float64) {
	m.registered = append(m.registered, family{name, "gauge", help, func(_ *collected, out *samples) { out.gauge("", value()) }})
}

// counter registers a counter, like gauge.
func (m *metrics) counter(name, help string, value func() uint64) {
	m.registered = append(m.registered, family{name, "counter", help, func(_ *collected, out *samples) { out.counter("", value()) }})
}

// collected is the data of one scrape, read at once for consistency.
type collected struct {
	version            string
	requests           []*requestStats
	limits             []*limit
	store              store.Stats
	auth               auth.Stats
	files              []store.FileStats
	caches             []store.CacheStats
	collections        []store.CollectionStats
	stored, inProgress int64
	free               int64 // bytes; -1 if unknown
	writable           bool
	slow               map[string]uint64 // by operation
}

func (s *Server) collect() (*collected, error) {
	c := &collected{
		version: s.config.Version, requests: s.metrics.requests, limits: s.limits.all(), store: s.db.Stats(), auth: s.auth.Stats(),
		free: -1, writable: s.db.Healthy() == nil, slow: s.metrics.slow.counts(),
	}
	c.stored, c.inProgress = s.db.FileBytes()
	free, known, err := s.db.DiskFree()
	if err != nil {
		return nil, err
	}
	if known {
		c.free = free
	}
	if c.files, err = s.db.FileStats(); err != nil {
		return nil, err
	}
	return c, s.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		if c.caches, err = store.Caches(tx); err != nil {
			return err
		}
		c.collections, err = store.Collections(tx)
		return err
	})
}

func readMetrics(req *Request, _ *none, w http.ResponseWriter) error {
	c, err := req.s.collect()
	if err != nil {
		return err
	}
	out := &samples{}
	for _, f := range slices.Concat(families, req.s.metrics.registered) {
		fmt.Fprintf(&out.text, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", f.name, f.help, f.kind)
		out.name = f.name
		f.write(c, out)
	}
	vm.WriteProcessMetrics(&out.text)
	vm.WriteFDMetrics(&out.text)
	h := w.Header()
	h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(out.text.Len()))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)
	_, err = w.Write(out.text.Bytes())
	return err
}

// samples writes the samples of a family.
type samples struct {
	text bytes.Buffer
	name string
}

func (out *samples) gauge(labels string, v float64) {
	vm.WriteGaugeFloat64(&out.text, out.name+braced(labels), v)
}

func (out *samples) counter(labels string, v uint64) {
	vm.WriteCounterUint64(&out.text, out.name+braced(labels), v)
}

// histogram writes a distribution; unit is the factor that converts its values to the
// metric's unit.
func (out *samples) histogram(labels string, d store.Distribution, unit float64) {
	below, comma := uint64(0), ""
	if labels != "" {
		comma = ","
	}
	for i, n := range d.Counts {
		below += n
		bound := "+Inf"
		if i < len(d.Bounds) {
			bound = strconv.FormatFloat(float64(d.Bounds[i])*unit, 'g', 6, 64)
		}
		vm.WriteCounterUint64(&out.text, out.name+"_bucket{"+labels+comma+`le="`+bound+`"}`, below)
	}
	vm.WriteGaugeFloat64(&out.text, out.name+"_sum"+braced(labels), float64(d.Sum)*unit)
	vm.WriteCounterUint64(&out.text, out.name+"_count"+braced(labels), below)
}

func braced(labels string) string {
	if labels == "" {
		return ""
	}
	return "{" + labels + "}"
}

// labels formats names and values. Every value comes from a table of the program, never
// from a request, so it needs no further escaping.
func labels(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s=%q", pairs[i], pairs[i+1])
	}
	return b.String()
}
