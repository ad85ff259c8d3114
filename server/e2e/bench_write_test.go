package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/julienschmidt/httprouter"

	"reeve/store"
)

// bareStore is the environment variable with the data directory of a test binary that runs
// as the bare server.
const bareStore = "REEVE_TEST_BARE_STORE"

// bareWrites serves writes to the store without authentication, decoding or monitoring. It
// never returns.
func bareWrites() {
	db, err := store.Open(os.Getenv(bareStore), store.Options{})
	if err != nil {
		panic(err)
	}

	router := httprouter.New()
	for kind, write := range map[string]func(tx *store.Tx, id store.ID, text string) error{
		"dept": func(tx *store.Tx, id store.ID, text string) error {
			_, err := store.Depts.Update(tx, id, func(d *store.Dept) error {
				d.Name = text
				return nil
			})
			return err
		},
		"dict": func(tx *store.Tx, id store.ID, text string) error {
			_, err := store.Dicts.Update(tx, id, func(d *store.Dict) error {
				d.Name = text
				return nil
			})
			return err
		},
		"setting": func(tx *store.Tx, id store.ID, text string) error {
			_, err := store.SaveSetting(tx, id, func(s *store.Setting) error {
				s.Values = text
				return nil
			})
			return err
		},
	} {
		router.PUT("/"+kind+"/:id",
			func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
				text, err := io.ReadAll(r.Body)
				id, _ := strconv.ParseUint(params.ByName("id"), 10, 64)
				if err == nil {
					err = db.Update(store.System, func(tx *store.Tx) error {
						return write(tx, store.ID(id), string(text))
					})
				}
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				w.Header()["Content-Type"] = []string{"application/json"}
				io.WriteString(w, `{"code":0,"msg":"ok","data":{}}`)
			})
	}

	listener, err := listenLoopback()
	if err != nil {
		panic(err)
	}

	fmt.Fprintf(os.Stderr, "{\"message\":\"serving http://%s\"}\n", listener.Addr())
	panic(http.Serve(listener, router))
}

// writers is the number of concurrent connections, each of which updates its own record.
const writers = 32

// BenchmarkWrites compares writes through the interface, with and without monitoring, with
// writes to the store behind a bare server, in turns under the same load.
func BenchmarkWrites(b *testing.B) {
	dir := b.TempDir()
	p := start(b, dir)
	c := signedIn(b, p)
	group := c.group("bench")
	ids := map[string][]int64{}
	for i := range writers {
		made := func(path, body string) int64 {
			return into[struct{ ID int64 }](b, c.want(200, "POST", path, body)).ID
		}
		ids["dept"] = append(ids["dept"],
			made("/admin/dept", object("name", fmt.Sprint("Department ", i))))
		ids["dict"] = append(ids["dict"],
			made("/system/dict", object("code", fmt.Sprint("dict", i), "name", "Dictionary")))
		ids["setting"] = append(ids["setting"],
			c.define(group, fmt.Sprint("key", i), "input", "value"))
	}

	p.stop()
	copied, unmonitored := copyDir(b, dir), copyDir(b, dir)
	p, off := start(b, dir), start(b, unmonitored, "REEVE_MONITOR__MAX_BYTES=0")
	tokens := map[*process]string{p: signedIn(b, p).token, off: signedIn(b, off).token}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}

	cmd := program(b, bareStore+"="+copied)
	cmd.Path, cmd.Args = self, []string{self}
	alone := begin(b, cmd)
	alone.ready()
	for _, kind := range []string{"dept", "dict", "setting"} {
		requests := func(to *process, connections int) (all [][2][]byte) {
			for i, id := range ids[kind][:connections] {
				var both [2][]byte
				for n := range both {
					text := fmt.Sprint("text ", i, " ", n)
					switch {
					case to == alone:
						both[n] = rawPut(to, fmt.Sprint("/", kind, "/", id), "", text)
					case kind == "setting":
						both[n] = rawPut(to, "/system/setting", tokens[to],
							values(fmt.Sprint("bench.key", i), text))
					default:
						path := map[string]string{"dept": "/admin/dept/", "dict": "/system/dict/"}[kind]
						both[n] = rawPut(to, fmt.Sprint(path, id), tokens[to], object("name", text))
					}
				}
				all = append(all, both)
			}
			return all
		}
		for _, n := range []int{1, writers} {
			b.Run(fmt.Sprint(kind, "/", n), func(b *testing.B) {
				sides := []*target{{process: p}, {process: off}, {process: alone}}
				for b.Loop() {
					for round := range rounds/2 + 1 {
						for _, side := range sides {
							before, from := cpuTime(b, side.process), time.Now()
							done := loadWrites(b, side.process, requests(side.process, n), slice)
							took, cpu := time.Since(from), cpuTime(b, side.process)-before
							if round > 0 {
								side.rates = append(side.rates, float64(done)/took.Seconds())
								side.costs = append(side.costs,
									float64(cpu.Microseconds())/float64(done))
							}
						}
					}
				}

				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(sides[0].rates), "writes/s")
				b.ReportMetric(median(sides[2].rates), "bare-writes/s")
				b.ReportMetric(median(quotients(sides[0].rates, sides[2].rates)), "ratio")
				for i, name := range []string{"", "unmonitored-", "bare-"} {
					b.ReportMetric(median(sides[i].costs), name+"cpu-µs/write")
				}
			})
		}
	}
}

// rawPut is a write as it goes over the wire.
func rawPut(p *process, path, token, body string) []byte {
	head := "PUT " + path + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(p.url, "http://") + "\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	return fmt.Appendf(nil, "%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		head, len(body), body)
}

// loadWrites sends each connection's two requests alternately and returns the number of
// responses. Any status other than 200 ends the benchmark.
func loadWrites(b *testing.B, p *process, requests [][2][]byte, during time.Duration) int64 {
	var total atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(during)
	for _, both := range requests {
		w, err := dial(p)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer w.conn.Close()
			n := 0
			for time.Now().Before(end) {
				status, _, err := w.ask(both[n%2])
				if err != nil || status != 200 {
					b.Errorf("%d (%v)", status, err)
					break
				}
				n++
			}
			total.Add(int64(n))
		})
	}

	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}

	return total.Load()
}
