package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/julienschmidt/httprouter"
)

// bareFiles is the environment variable that makes a test binary the bare server, with the
// files that it serves at /0, /1, …
const bareFiles = "REEVE_TEST_BARE"

// bare serves prepared bytes with net/http and httprouter: the upper bound of any read. It
// never returns.
func bare() {
	router := httprouter.New()
	for i, name := range strings.Split(os.Getenv(bareFiles), ":") {
		b, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		length := strconv.Itoa(len(b))
		serve := func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
			io.Copy(io.Discard, r.Body) // an error ends the connection anyway
			h := w.Header()
			h["Content-Type"] = []string{"application/json"}
			h["Content-Length"] = []string{length}
			w.Write(b)
		}
		router.GET("/"+strconv.Itoa(i), serve)
		router.POST("/"+strconv.Itoa(i), serve)
	}

	listener, err := listenLoopback()
	if err != nil {
		panic(err)
	}

	fmt.Fprintf(os.Stderr, "{\"message\":\"serving http://%s\"}\n", listener.Addr())
	panic(http.Serve(listener, router))
}

// startBare starts this test binary as the bare server.
func startBare(b *testing.B, bodies ...[]byte) *process {
	var files []string
	for i, body := range bodies {
		file := filepath.Join(b.TempDir(), strconv.Itoa(i))
		if err := os.WriteFile(file, body, 0o600); err != nil {
			b.Fatal(err)
		}
		files = append(files, file)
	}

	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}

	cmd := program(b, bareFiles+"="+strings.Join(files, ":"))
	cmd.Path, cmd.Args = self, []string{self}
	p := begin(b, cmd)
	p.ready()
	return p
}

// BenchmarkReads compares the two specified reads, with authentication and permission
// check, with a bare server that writes the same bytes, alternately under the same load.
// The bare server gets no credentials. What counts is the ratio of requests per second, and
// the ratio of processor time per request, since the client also uses this machine.
func BenchmarkReads(b *testing.B) {
	p := start(b, b.TempDir())
	c := signedIn(b, p)
	paths := []string{"/admin/rule/parent", "/system/setting"}
	bodies := [][]byte{c.want(200, "GET", paths[0], "").raw, c.want(200, "GET", paths[1], "").raw}
	ceiling := startBare(b, bodies...)
	for i, path := range paths {
		b.Run(strings.ReplaceAll(path[1:], "/", "-"), func(b *testing.B) {
			reeve := &target{process: p, request: rawRequest(p, path, c.token),
				size: len(bodies[i])}
			limit := &target{
				process: ceiling,
				request: rawRequest(ceiling, "/"+strconv.Itoa(i), ""),
				size:    len(bodies[i]),
			}
			for b.Loop() {
				compare(b, reeve, limit)
			}

			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(reeve.rates), "req/s")
			b.ReportMetric(median(limit.rates), "bare-req/s")
			b.ReportMetric(median(quotients(reeve.rates, limit.rates)), "ratio")
			b.ReportMetric(median(reeve.costs), "cpu-µs/req")
			b.ReportMetric(median(limit.costs), "bare-cpu-µs/req")
		})
	}
}

const (
	connections = 16
	rounds      = 40
	slice       = 250 * time.Millisecond // short, so that the state of a shared machine is the same for both servers
)

// target is one of two servers under the same load.
type target struct {
	process *process
	request []byte
	size    int       // of the expected body
	rates   []float64 // requests per second, by round
	costs   []float64 // microseconds of processor time per request, by round
}

// compare loads two targets alternately, after a warm-up round for each.
func compare(b *testing.B, targets ...*target) {
	for round := range rounds + 1 {
		for _, t := range targets {
			before, from := cpuTime(b, t.process), time.Now()
			n := load(b, t, connections, slice)
			took, cpu := time.Since(from), cpuTime(b, t.process)-before
			if round > 0 {
				t.rates = append(t.rates, float64(n)/took.Seconds())
				t.costs = append(t.costs, float64(cpu.Microseconds())/float64(n))
			}
		}
	}
}

// quotients divides the values of each round.
func quotients(v, by []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] / by[i]
	}
	return out
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if len(v) == 0 {
		return 0
	}
	return v[len(v)/2]
}

// cpuTime returns the processor time of a process, in user and system mode.
func cpuTime(b testing.TB, p *process) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid()))
	if err != nil {
		b.Skip(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:])) // the name before them can contain spaces
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // a tick is 1/100 s on every Linux
}

// BenchmarkStart measures the time from the start of the process to its first response,
// with an existing database, the time until reeve dev says its address, and the memory of the idle
// server.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	p := start(b, dir)
	p.stop()
	var took, dev []float64
	for b.Loop() {
		for range 15 {
			from := time.Now()
			p = start(b, dir)
			newClient(b, p).want(200, "GET", "/health", "")
			took = append(took, float64(time.Since(from).Microseconds())/1000)
			p.stop()
			dev = append(dev, startOfDev(b))
		}
	}

	p = start(b, dir)
	newClient(b, p).want(200, "GET", "/health", "")
	time.Sleep(2 * time.Second) // until it is idle
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid()))
	if err != nil {
		b.Skip(err)
	}

	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "RssAnon:" {
			kb, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(kb/1024, "RssAnon-MiB")
		}
	}

	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}

	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took), "start-ms")
	b.ReportMetric(median(dev), "dev-ms")
	b.ReportMetric(float64(info.Size())/(1<<20), "binary-MiB")
}

// startOfDev returns the time in ms that reeve dev takes to say its address.
func startOfDev(b *testing.B) float64 {
	cmd := program(b, "dev", "--stdin")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	from := time.Now()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	took := float64(time.Since(from).Microseconds()) / 1000
	in.Close()
	if err := errors.Join(err, cmd.Wait()); err != nil || !strings.HasPrefix(line, "http://") {
		b.Fatalf("reeve dev printed %q: %v", line, err)
	}
	return took
}
