package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/s3/s3test"
)

// bucketTable returns the table of a bucket behind an address.
func bucketTable(t testing.TB, s *s3test.Server, url string) string {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	noErr(t, os.WriteFile(secret, []byte(s.SecretKey+"\n"), 0o600))
	return fmt.Sprintf("endpoint = %q\nbucket = \"bucket\"\nregion = \"us-east-1\"\nstyle = \"path\"\naccess_key = %q\nsecret_key = \"file:%s\"\n",
		url, s.AccessKey, secret)
}

// streaming is a server whose commits are stored every second.
func (o *offsite) streaming(t testing.TB) (*process, *client) {
	t.Helper()
	p := start(t, o.data, "--config", o.config)
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", `{"values":{"backup.ship_seconds":"1"}}`)
	return p, c
}

// storedAt returns the time at which all commits were stored; zero for none.
func (c *client) storedAt() (at time.Time) {
	c.t.Helper()
	out := into[struct {
		Data []struct {
			StoredAt *time.Time `json:"stored_at"`
		}
	}](c.t, c.want(200, "GET", "/system/backup-target", ""))
	if out.Data[0].StoredAt != nil {
		at = *out.Data[0].StoredAt
	}
	return at
}

// allStored waits until all commits are stored.
func (c *client) allStored() {
	c.t.Helper()
	now := time.Now()
	eventually(c.t, "all commits to be stored", func() bool { return c.storedAt().After(now) })
}

var numbered = regexp.MustCompile(`"Office (\d+)"`)

// newestOffice returns the highest number of a department, all of which must be there, and -1 for none.
func (c *client) newestOffice() (newest int) {
	c.t.Helper()
	there := map[string]bool{}
	for _, m := range numbered.FindAllStringSubmatch(string(c.want(200, "GET", "/admin/dept", "").raw), -1) {
		there[m[1]] = true
	}
	for newest = -1; there[fmt.Sprint(newest+1)]; newest++ {
	}
	if len(there) != newest+1 {
		c.t.Errorf("%d departments up to number %d", len(there), newest)
	}
	return newest
}

// shipments are the times of requests that store commits, as a proxy sees them.
type shipments struct {
	mu      sync.Mutex
	begun   map[string]time.Time
	last    time.Time     // end of the last one
	longest time.Duration // time that one took
}

func watchShipments(proxy *s3test.Proxy) *shipments {
	s := &shipments{begun: map[string]time.Time{}}
	commits := func(r *http.Request) bool {
		return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/stream/")
	}
	proxy.Fail(func(r *http.Request) s3test.Failure {
		if commits(r) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.begun[r.URL.Path] = time.Now()
		}
		return s3test.None
	})
	proxy.After(func(r *http.Request) {
		if commits(r) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.last = time.Now()
			s.longest = max(s.longest, s.last.Sub(s.begun[r.URL.Path]))
		}
	})
	return s
}

func (s *shipments) seen() (last time.Time, longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.longest
}

// TestStream_MachineLost kills a server that writes, removes its data, and restores from the bucket
// with the identity alone: what was acknowledged before all commits were last stored is there. What is lost is not
// older than the interval of shipments, what they take, and what a request takes, with as much again for what stands
// still in this very moment.
func TestStream_MachineLost(t *testing.T) {
	t.Parallel()
	s := s3test.Start(t)
	proxy := s.Proxy(t)
	ships := watchShipments(proxy)
	o := newOffsite(t, bucketTable(t, s, proxy.URL))
	p, c := o.streaming(t)
	const interval = time.Second // see streaming
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	next := 0
	for range disktest.Size(1, 2, 20) {
		var made []time.Time
		first, slowest := next, time.Duration(0)
		begun := time.Now()
		var shipped, stop time.Time // end of the first shipment, and of the server: time enough for more
		for stop.IsZero() || time.Now().Before(stop) {
			asked := time.Now()
			c.create("/admin/dept", "name", fmt.Sprint("Office ", next))
			made = append(made, time.Now())
			slowest = max(slowest, time.Since(asked))
			next++
			if last, _ := ships.seen(); shipped.IsZero() && last.After(begun) {
				shipped = last
				stop = last.Add(5*interval/2 + time.Duration(rand.Int64N(int64(interval))))
			}
			if time.Since(begun) > patience {
				t.Fatal("nothing was stored")
			}
			pause(t, 3*time.Millisecond)
		}
		stored := c.storedAt()
		died := time.Now()
		p.kill()
		_, longest := ships.seen()
		noErr(t, os.RemoveAll(o.data))

		r := o.must(t, "restore", "offsite", "--identity", o.identity)
		p, c = o.streaming(t)
		newest := c.newestOffice()
		for i, at := range made {
			if at.Before(stored.Add(-2*interval)) && first+i > newest { // stored_at is the end of an attempt, which began earlier
				t.Fatalf("department %d, of %s, is lost although all was stored at %s:\n%s", first+i, at, stored, r.out)
			}
		}
		if lost := newest - first + 1; lost < len(made) && lost >= 0 {
			loss, most := died.Sub(made[lost]), interval+2*longest+slowest
			ratio := loss.Seconds() / most.Seconds()
			t.Logf("lost: %d of %d commits, the last %s, %.2f of %s", len(made)-lost, len(made), loss.Round(time.Millisecond), ratio, most)
			if ratio > 2 {
				t.Errorf("the commits of the last %s are lost, which is %.2f times the interval of %s with two shipments of %s and a request of %s", loss, ratio, interval, longest, slowest)
			}
		} else if lost < 0 {
			t.Errorf("departments that were restored before are lost: %d of %d", newest+1, first)
		}
		next = newest + 1
		o.must(t, "backup", "recipient", o.identity)
		o.proven(t)
	}
	p.stop()
}

// TestStream_SurvivesInterruptions kills the server and cuts the network at random moments while
// commits are stored, and restores after each: always a state that was, with all that was known to be
// stored.
func TestStream_SurvivesInterruptions(t *testing.T) {
	t.Parallel()
	s := s3test.Start(t)
	proxy := s.Proxy(t)
	o := newOffsite(t, bucketTable(t, s, proxy.URL))
	p, c := o.streaming(t)
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	next, known := 0, -1
	storing, restoring := 0, 0 // kills before all commits were stored, and while they were restored
	rounds := disktest.Size(2, 4, 100)
	for i := 0; i < rounds || (storing == 0 || restoring == 0) && i < 10*rounds; i++ {
		failure := []s3test.Failure{s3test.None, s3test.Drop, s3test.Lose, s3test.Error}[rand.IntN(4)]
		after := rand.IntN(6)
		proxy.Fail(func(r *http.Request) s3test.Failure {
			if !strings.Contains(r.URL.Path, "/stream/") {
				return s3test.None
			}
			if after--; after < 0 {
				return failure
			}
			return s3test.None
		})
		for range 20 {
			c.create("/admin/dept", "name", fmt.Sprint("Office ", next))
			next++
			pause(t, time.Duration(rand.IntN(60))*time.Millisecond)
		}
		p.kill()
		proxy.Fail(nil)

		restored := &offsite{o.config, filepath.Join(t.TempDir(), "data"), o.identity}
		killed := begin(t, program(t, "restore", "offsite", "--identity", o.identity, "--config", o.config, "--data", restored.data))
		pause(t, time.Duration(rand.IntN(80))*time.Millisecond)
		killed.kill()
		if killed.within(t, restored.data) {
			restoring++
		}
		restored.must(t, "restore", "offsite", "--identity", o.identity)
		q := start(t, restored.data)
		newest := signedIn(t, q).newestOffice()
		if newest < known || newest >= next {
			t.Errorf("%d departments, %d were known to be stored, %d were made", newest+1, known+1, next)
		}
		if newest < next-1 {
			storing++
		}
		q.kill()

		p, c = o.streaming(t) // whose commits of before the kill are still on its disk
		c.allStored()
		known = next - 1
	}
	p.stop()
	if storing == 0 || restoring == 0 {
		t.Errorf("%d kills before all was stored, %d in a restore", storing, restoring)
	}
	t.Logf("%d kills before all was stored, %d in a restore", storing, restoring)
	if r := o.must(t, "verify"); !strings.Contains(r.out, "no faults") {
		t.Errorf("%+v", r)
	}
}

// TestStream_Commands restores moments by command, and says what can't be.
func TestStream_Commands(t *testing.T) {
	t.Parallel()
	o := newOffsite(t, directoryTable(t))
	p, c := o.streaming(t)
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	id := c.create("/admin/dept", "name", "Sales")
	pause(t, 1100*time.Millisecond)
	before := time.Now()
	pause(t, 1100*time.Millisecond)
	c.want(200, "DELETE", fmt.Sprintf("/admin/dept/%d", id), "")
	deleted := into[struct{ Data []struct{ Seq int64 } }](t, c.want(200, "GET", "/system/audit?pageSize=1", "")).Data[0].Seq
	c.create("/admin/dept", "name", "Research")
	c.allStored()
	if r := o.must(t, "backup", "targets"); !strings.Contains(r.out, "ANY MOMENT SINCE") || !strings.Contains(r.out, time.Now().Format(time.DateOnly)) {
		t.Errorf("%+v", r)
	}
	p.stop()
	for _, moment := range [][]string{
		{"--at", before.UTC().Format(time.RFC3339)},
		{"--at", before.Local().Format(time.DateTime)},
		{"--before", fmt.Sprint(deleted)},
		{}, // the latest
	} {
		data := filepath.Join(t.TempDir(), "data")
		restored := &offsite{o.config, data, o.identity}
		r := restored.must(t, append([]string{"restore", "offsite", "--identity", o.identity}, moment...)...)
		if !strings.Contains(r.out, "applied since: ") {
			t.Errorf("%q: %s", moment, r.out)
		}
		q := start(t, data)
		body := string(signedIn(t, q).want(200, "GET", "/admin/dept", "").raw)
		if latest := len(moment) == 0; strings.Contains(body, `"Sales"`) == latest || strings.Contains(body, `"Research"`) != latest {
			t.Errorf("%q: %s", moment, body)
		}
		q.stop()
	}
	for flags, want := range map[string]string{
		"--at yesterday":                     "--at must be a time like",
		"--at 2001-02-03T04:05:06Z":          "there is no copy from before 2001-02-03T04:05:06Z",
		"--before 0":                         "--before must be the number of an entry",
		"--before -1":                        "invalid argument",
		"--before 999999":                    "at offsite was not restored, nothing is changed: entry 999999 of the change log is in none of the commits that are stored: these end with commit",
		"--before 1":                         "there is no copy from before entry 1",
		"--before 5 --at 2026-11-22":         "two moments",
		"--copy x --at 2036-11-22T00:00:00Z": "there is no copy x",
	} {
		data := filepath.Join(t.TempDir(), "data")
		words := append(strings.Fields("restore offsite --identity "+o.identity), strings.Fields(flags)...)
		if r := (&offsite{o.config, data, o.identity}).run(t, words...); r.code == 0 || !strings.Contains(r.err, want) || strings.Contains(r.err, "fetched-") {
			t.Errorf("%s: %+v, want %s", flags, r, want)
		}
		if _, err := os.Stat(filepath.Join(data, "data.db")); err == nil {
			t.Errorf("%s: something was restored", flags)
		}
	}
}

// TestStream_ErasedStaysErased restores a moment from before an erasure to an empty directory, by the command: the
// person is erased again, by the list beside the next copy or the commits before it. Without both, it is said.
func TestStream_ErasedStaysErased(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	o := newOffsite(t, fmt.Sprintf("path = %q\n", target))
	p, c := o.streaming(t)
	id := c.create("/admin/list", "username", "leaving", "password", "a good password")
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	pause(t, 10*time.Millisecond)
	before := time.Now()
	pause(t, 10*time.Millisecond)
	c.want(200, "POST", fmt.Sprintf("/admin/list/%d/erase", id), object("username", "leaving"))
	c.allStored()
	o.must(t, "backup", "now", "offsite")
	p.stop()

	restored := func(moment ...string) (*offsite, result) {
		r := &offsite{o.config, filepath.Join(t.TempDir(), "data"), o.identity}
		return r, r.must(t, append([]string{"restore", "offsite", "--identity", o.identity}, moment...)...)
	}
	at := before.UTC().Format(time.RFC3339Nano)
	there := func(r *offsite) bool {
		q := start(t, r.data)
		defer q.stop()
		return strings.Contains(string(signedIn(t, q).want(200, "GET", "/admin/list", "").raw), `"leaving"`)
	}
	whole, said := restored("--at", at)
	if list, err := os.ReadFile(filepath.Join(whole.data, "erased.jsonl")); err != nil || strings.Count(string(list), "\n") != 1 || strings.Contains(said.err, "erased") {
		t.Errorf("%q, %v: %+v", list, err, said)
	}
	if there(whole) {
		t.Error("the erased user is back")
	}

	all, err := filepath.Glob(filepath.Join(target, "*", "*", "*", "copies", "*.erased"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	noErr(t, os.Remove(all[0]))
	lost, said := restored("--at", at)
	if there(lost) || strings.Contains(said.err, "erased") {
		t.Errorf("without the list: %+v", said)
	}

	parts, err := filepath.Glob(filepath.Join(target, "*", "*", "*", "stream", "*"))
	noErr(t, err)
	for _, path := range parts {
		noErr(t, os.WriteFile(path, []byte("damaged"), 0o600))
	}
	made, err := filepath.Glob(filepath.Join(target, "*", "*", "*", "copies", "*.manifest"))
	if err != nil || len(made) != 2 {
		t.Fatal(made, err)
	}
	name, err := filepath.Rel(target, strings.TrimSuffix(made[0], ".manifest"))
	noErr(t, err)
	damaged, said := restored("--copy", name)
	if !strings.Contains(said.err, "that may name erased people could not be read: these people may be back") {
		t.Errorf("%+v", said)
	}
	if !there(damaged) { // otherwise the list above had no effect
		t.Error("the user is erased without a list")
	}
}
