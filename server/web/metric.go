package web

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	vm "github.com/VictoriaMetrics/metrics"

	"reeve/auth"
	"reeve/server/limit"
	"reeve/store"
	"reeve/store/kv"
)

// Metrics are written in the text format of Prometheus. The table families has one row
// per metric; other parts of the server register theirs in New.

const metricsPath = "/metrics"

func MetricRoutes() []Route {
	return []Route{
		Raw(metricsPath, MetricsToken, "Get metrics", "text/plain", readMetrics, Options{
			AlwaysServed: true,

			Note: "Returns metrics in the text format of Prometheus.",
		}),
	}
}

// metrics are the server's own counters and the registered metrics.
type metrics struct {
	requests   []*requestStats // stats by route, in the order of the table
	registered []family
	slow       slowWrites
}

// family is one metric with all its labels.
type family struct {
	name, kind, help string
	write            func(c *collected, out *Samples)
}

// Gauge registers a gauge whose value is read at every scrape. Call it in New only,
// before requests are served.
func (m *metrics) Gauge(name, help string, value func() float64) {
	m.registered = append(m.registered,
		family{name, "gauge", help, func(_ *collected, out *Samples) {
			out.gauge("", value())
		}})
}

// Counter registers a counter, like gauge.
func (m *metrics) Counter(name, help string, value func() uint64) {
	m.registered = append(m.registered,
		family{name, "counter", help, func(_ *collected, out *Samples) {
			out.counter("", value())
		}})
}

// collected is the data of one scrape, read at once for consistency.
type collected struct {
	version            string
	requests           []*requestStats
	limits             []*limit.Limit
	store              kv.Stats
	auth               auth.Stats
	files              []kv.FileStats
	caches             []kv.CacheStats
	collections        []kv.CollectionStats
	stored, inProgress int64
	bucket             kv.ObjectState
	free               int64 // bytes; -1 if unknown
	writable           bool
	slow               map[string]uint64 // counts by operation
}

func (s *Server) collect() (*collected, error) {
	c := &collected{
		version:  s.Config.Version,
		requests: s.Metrics.requests,
		limits:   s.Limits.All(),
		store:    s.DB.Stats(),
		auth:     s.Auth.Stats(),
		free:     -1,
		writable: s.DB.Healthy() == nil,
		slow:     s.Metrics.slow.counts(),
	}
	c.stored, c.inProgress = s.DB.FileBytes()
	c.bucket, _ = s.DB.ObjectState() // without a bucket, nothing has happened
	free, known, err := s.DB.DiskFree()
	if err != nil {
		return nil, err
	}
	if known {
		c.free = free
	}
	if c.files, err = s.DB.FileStats(); err != nil {
		return nil, err
	}

	return c, s.DB.View(store.Anonymous, func(tx *store.Tx) (err error) {
		if c.caches, err = kv.Caches(tx); err != nil {
			return err
		}
		c.collections, err = kv.Collections(tx)
		return err
	})
}

func readMetrics(req *Request, _ *None, w http.ResponseWriter) error {
	c, err := req.Server.collect()
	if err != nil {
		return err
	}

	out := &Samples{}
	for _, f := range slices.Concat(families, req.Server.Metrics.registered) {
		out.begin(f.name, f.kind, f.help)
		f.write(c, out)
	}
	if cluster := req.Server.Config.Cluster; cluster != nil {
		cluster.WriteMetrics(out)
	}

	vm.WriteProcessMetrics(&out.Text)
	vm.WriteFDMetrics(&out.Text)
	h := w.Header()
	h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(out.Text.Len()))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)
	_, err = w.Write(out.Text.Bytes())
	return err
}

// Samples writes the samples of a family.
type Samples struct {
	Text bytes.Buffer
	Name string
}

// begin begins a family.
func (out *Samples) begin(name, kind, help string) {
	fmt.Fprintf(&out.Text, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
	out.Name = name
}

func (out *Samples) gauge(labels string, v float64) {
	vm.WriteGaugeFloat64(&out.Text, out.Name+braced(labels), v)
}

func (out *Samples) counter(labels string, v uint64) {
	vm.WriteCounterUint64(&out.Text, out.Name+braced(labels), v)
}

// Histogram writes a distribution; unit is the factor that converts its values to the
// metric's unit.
func (out *Samples) Histogram(labels string, d kv.Distribution, unit float64) {
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
		vm.WriteCounterUint64(&out.Text, out.Name+"_bucket{"+labels+comma+`le="`+bound+`"}`, below)
	}
	vm.WriteGaugeFloat64(&out.Text, out.Name+"_sum"+braced(labels), float64(d.Sum)*unit)
	vm.WriteCounterUint64(&out.Text, out.Name+"_count"+braced(labels), below)
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
