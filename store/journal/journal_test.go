package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// testClock is a clock that tests advance.
type testClock struct{ micros atomic.Int64 }

func (c *testClock) now() time.Time          { return time.UnixMicro(c.micros.Load()) }
func (c *testClock) forward(d time.Duration) { c.micros.Add(d.Microseconds()) }

func newTestClock() *testClock {
	c := &testClock{}
	c.micros.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	return c
}

// openJournal opens a journal that must have no warnings. It is closed with the test.
func openJournal(t testing.TB, dir string, o Options) *Journal {
	t.Helper()
	j := Open(dir, o)
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	if w := j.Stats().Warnings; len(w) > 0 {
		t.Errorf("the journal warns: %q", w)
	}
	return j
}

func event(kind, text string) Event {
	return Event{Kind: kind, Head: []byte(text[:min(8, len(text))]), Body: []byte(text)}
}

func oneGroup(name string, events ...Event) []Group { return []Group{{name, events}} }

func mustAppend(t testing.TB, j *Journal, groups []Group) {
	t.Helper()
	if err := j.Append(groups); err != nil {
		t.Fatal(err)
	}
}

// newest returns at most n events of Newest.
func newest(j *Journal, kind string, before uint64, n int) (events []Event) {
	j.Newest(kind, before, func(e Event) bool {
		events = append(events, Event{e.ID, e.Kind, slices.Clone(e.Head), slices.Clone(e.Body)})
		return len(events) < n
	})
	return events
}

func bodies(events []Event) string {
	texts := []string{}
	for _, e := range events {
		texts = append(texts, fmt.Sprintf("%s:%s", e.Kind, e.Body))
	}
	return strings.Join(texts, " ")
}

func TestJournal_Reads(t *testing.T) {
	clock, dir := newTestClock(), t.TempDir()
	j := openJournal(t, dir, Options{Now: clock.now})
	begun := clock.now()
	mustAppend(t, j, []Group{
		{"first", []Event{event("request", "a"), event("query", "b"), event("query", "c")}},
		{"", []Event{event("auth", "d")}},
	})
	clock.forward(time.Second)
	mustAppend(t, j,
		[]Group{{"second", []Event{event("request", "e")}},
			{"first", []Event{event("cache", "f")}}, {"first\x00", []Event{event("cache", "g")}}})
	id := uint64(begun.UnixMicro())
	later := id + 1_000_000
	check := func(t *testing.T) {
		for name, test := range map[string]struct{ got, want string }{
			"newest first":        {bodies(newest(j, "query", 0, 9)), "query:c query:b"},
			"before is exclusive": {bodies(newest(j, "query", id+2, 9)), "query:b"},
			"ended by yield":      {bodies(newest(j, "request", 0, 1)), "request:e"},
			"an unknown kind":     {bodies(newest(j, "none", 0, 9)), ""},
			"before everything":   {bodies(newest(j, "query", 1, 9)), ""},
			"a group of two batches": {bodies(j.Group("first")),
				"request:a query:b query:c cache:f"},
			"a group with a zero byte": {bodies(j.Group("first\x00")), "cache:g"},
			"a part of a group's name": {bodies(j.Group("fir")), ""},
			"events without a group":   {bodies(j.Group("")), ""},
			"by time":                  {fmt.Sprint(j.IDAt(clock.now())), fmt.Sprint(later)},
			"the time of an id":        {TimeOf(later).UTC().String(), clock.now().UTC().String()},
			"a clock of another era": {fmt.Sprint(j.IDAt(time.Date(9999, 1, 1, 0, 0, 0, 0,
				time.UTC))), fmt.Sprint(uint64(1<<52 - 1))},
			"a clock before the era": {fmt.Sprint(j.IDAt(time.Date(1950, 1, 1, 0, 0, 0, 0,
				time.UTC))), "1"},
			"events, oldest, no damage": {fmt.Sprint(j.Stats().Events,
				j.Stats().Oldest.Equal(begun), j.Stats().Damaged, j.Stats().Dropped), "7 true 0 0"},
		} {
			t.Run(name, func(t *testing.T) { disktest.Equal(t, "answer", test.got, test.want) })
		}

		e, ok := j.Get("query", id+1)
		disktest.Equal(t, "an event", e, Event{id + 1, "query", []byte("b"), []byte("b")})
		if _, wrong := j.Get("request", id+1); !ok || wrong {
			t.Errorf("the event was found: %v; under another kind: %v", ok, wrong)
		}
	}
	t.Run("as written", check)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "after it was closed", bodies(newest(j, "query", 0, 9)), "")
	j = openJournal(t, dir, Options{Now: clock.now})
	t.Run("opened again", check)
}

func TestJournal_IDsAscendOnAnyClock(t *testing.T) {
	clock, dir, last := newTestClock(), t.TempDir(), uint64(0)
	for _, jump := range []time.Duration{0, 0, -time.Hour, -time.Hour, 3 * time.Hour} {
		clock.forward(jump)
		j := openJournal(t, dir, Options{Now: clock.now})
		for range 3 {
			mustAppend(t, j, oneGroup("", event("a", "x"), event("b", "y")))
		}

		ids := []uint64{}
		for _, kind := range []string{"a", "b"} {
			for _, e := range newest(j, kind, 0, 3) {
				ids = append(ids, e.ID)
			}
		}

		slices.Sort(ids)
		if ids[0] <= last || len(slices.Compact(ids)) != 6 {
			t.Errorf("after a jump of %v: %d follows %d", jump, ids, last)
		}

		last = ids[5]
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if j := openJournal(t, dir, Options{Now: clock.now}); last < j.IDAt(clock.now()) {
		t.Errorf("the last id %d is below its time", last)
	}
}

func TestJournal_TooLargeEventsDropped(t *testing.T) {
	big := strings.Repeat("x", maxEventBody)
	for name, test := range map[string]struct {
		event   Event
		group   string
		dropped uint64
	}{
		"the largest body":      {Event{Kind: "a", Body: []byte(big)}, "g", 0},
		"a body too large":      {Event{Kind: "a", Body: []byte(big + "x")}, "g", 1},
		"the largest head":      {Event{Kind: "a", Head: []byte(big[:64])}, "g", 0},
		"a head too large":      {Event{Kind: "a", Head: []byte(big[:65])}, "g", 1},
		"no kind":               {Event{Body: []byte("x")}, "g", 1},
		"a kind too long":       {Event{Kind: big[:65]}, "g", 1},
		"a group name of 128":   {Event{Kind: "a"}, big[:128], 0},
		"a group name too long": {Event{Kind: "a"}, big[:129], 1},
	} {
		t.Run(name, func(t *testing.T) {
			j := openJournal(t, t.TempDir(), Options{})
			err := j.Append([]Group{{test.group, []Event{test.event}},
				{"other", []Event{event("b", "stays")}}})
			if (err != nil) != (test.dropped > 0) {
				t.Errorf("error %v", err)
			}
			disktest.Equal(t, "dropped", j.Stats().Dropped, test.dropped)
			disktest.Equal(t, "the other", bodies(j.Group("other")), "b:stays")
			disktest.Equal(t, "events in the group", len(j.Group(test.group)), int(1-test.dropped))
		})
	}
}

func TestJournal_BatchIsSplit(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, dir, Options{MaxBytes: 16 << 20})
	events := make([]Event, 40)
	for i := range events {
		events[i] = event("a", fmt.Sprintf("%05d%s", i, strings.Repeat("x", 100<<10)))
	}

	mustAppend(t, j, oneGroup("large", events...))
	if n := len(j.Stats().Segments); n < 4 {
		t.Fatalf("%d segments: nothing was split", n)
	}

	got := j.Group("large")
	for i, e := range got {
		if e.ID != got[0].ID+uint64(i) || string(e.Body) != string(events[i].Body) {
			t.Fatalf("event %d has id %d and body %.10s", i, e.ID, e.Body)
		}
	}

	disktest.Equal(t, "events", len(got), len(events))
}

func TestJournal_Expires(t *testing.T) {
	clock, dir := newTestClock(), t.TempDir()
	j := openJournal(t, dir, Options{MaxAge: time.Hour, Now: clock.now})
	large := func(name string) { // larger than a quarter of a segment, so that the next one begins another segment
		mustAppend(t, j,
			oneGroup("", event("a", name+strings.Repeat("x", 250<<10)),
				event("a", name+strings.Repeat("x", 250<<10))))
	}

	disktest.WriteFile(t, filepath.Join(dir, segmentName(1)+asideSuffix), []byte("something"))
	if err := os.Chtimes(filepath.Join(dir, segmentName(1)+asideSuffix), clock.now(), clock.now()); err != nil {
		t.Fatal(err)
	}

	firsts := func() (s string) {
		for _, e := range newest(j, "a", 0, 99) {
			s += string(e.Body[:1])
		}
		return s
	}

	large("1")
	clock.forward(40 * time.Minute)
	large("2")
	for _, step := range []struct {
		forward time.Duration
		want    string
	}{{0, "2211"}, {19 * time.Minute, "2211"}, {2 * time.Minute, "22"}, {time.Hour, ""}} {
		clock.forward(step.forward)
		if err := j.Expire(); err != nil {
			t.Fatal(err)
		}
		disktest.Equal(t, fmt.Sprintf("after %v more", step.forward), firsts(), step.want)
	}

	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("left: %v %v", entries, err)
	}

	large("3")
	disktest.Equal(t, "written after all have gone", firsts(), "33")
}

// TestJournal_Model compares a journal with a slice.
func TestJournal_Model(t *testing.T) {
	clock, dir, r := newTestClock(), t.TempDir(), disktest.Random(t)
	o := Options{MaxBytes: 8 << 20, MaxAge: time.Hour, Now: clock.now}
	j := openJournal(t, dir, o)
	var model []Event
	kinds := []string{"request", "query", "cache"}
	for step := range disktest.Size(150, 500, 5000) {
		clock.forward(time.Duration(r.IntN(120)) * time.Second)
		switch r.IntN(12) {
		case 0:
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = openJournal(t, dir, o)
		case 1:
			if err := j.Expire(); err != nil {
				t.Fatal(err)
			}
		default:
			groups := randomGroups(r, step, kinds)
			mustAppend(t, j, groups)
			first := j.last + 1
			for _, g := range groups {
				first -= uint64(len(g.Events))
			}
			for _, g := range groups {
				for _, e := range g.Events {
					e.ID, first = first, first+1
					model = append(model, e)
				}
			}
		}

		model = asModelled(t, j, r, model, kinds, clock.now().Add(-o.MaxAge))
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}

	if n := j.Stats().Segments; len(model) == 0 || len(n) == 0 {
		t.Error("nothing was left to compare")
	}
}

func randomGroups(r *rand.Rand, step int, kinds []string) (groups []Group) {
	for g := range 1 + r.IntN(4) {
		group := Group{Name: fmt.Sprintf("group %d %d", step, g)}
		for range 1 + r.IntN(40) {
			body := fmt.Sprintf("%d %d %s", step, r.Uint64(), strings.Repeat("y", r.IntN(3000)))
			group.Events = append(group.Events, event(kinds[r.IntN(len(kinds))], body))
		}
		groups = append(groups, group)
	}
	return groups
}

// asModelled compares everything and returns the model without the removed events,
// which must be the oldest ones and no more than allowed.
func asModelled(t *testing.T, j *Journal, r *rand.Rand, model []Event, kinds []string,
	oldest time.Time) []Event {
	t.Helper()
	stats := j.Stats()
	if n := len(model) - int(stats.Events); n < 0 ||
		stats.Bytes < 4<<20 && n > 0 && TimeOf(model[n-1].ID).After(oldest) {
		t.Fatalf("%d events of %d in %d bytes", stats.Events, len(model), stats.Bytes)
	} else {
		model = model[n:]
	}

	byKind := map[string][]Event{}
	for _, e := range slices.Backward(model) {
		byKind[e.Kind] = append(byKind[e.Kind], e)
	}

	for _, kind := range kinds {
		want := byKind[kind]
		before := uint64(0)
		if len(want) > 0 && r.IntN(2) == 0 {
			at := r.IntN(len(want))
			before, want = want[at].ID, want[at+1:]
		}
		got := newest(j, kind, before, len(model)+1)
		if !slices.EqualFunc(got, want, func(a, b Event) bool {
			return a.ID == b.ID && string(a.Body) == string(b.Body) &&
				string(a.Head) == string(b.Head)
		}) {
			t.Errorf("%s before %d: %d events, want %d", kind, before, len(got), len(want))
		}
	}

	if len(model) > 0 {
		want := model[r.IntN(len(model))]
		got, ok := j.Get(want.Kind, want.ID)
		if !ok || string(got.Body) != string(want.Body) {
			t.Errorf("event %d: %v %.20s, want %.20s", want.ID, ok, got.Body, want.Body)
		}
	}

	return model
}

func TestJournal_Rows(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, dir, Options{})
	rowsOf := func(table, from, to string) (s string) {
		for key, value := range j.Rows(table, from, to) {
			s += key + "=" + string(value) + " "
		}
		return s
	}

	set := func(table string, rows map[string][]byte) {
		t.Helper()
		if err := j.SetRows(table, rows); err != nil {
			t.Fatal(err)
		}
	}

	disktest.Equal(t, "no rows yet", rowsOf("minute", "", "z"), "")
	if err := j.DeleteRows("minute", "z"); err != nil {
		t.Error(err)
	}

	set("minute", map[string][]byte{"a": []byte("1"), "b": []byte("2"), "c": []byte("3")})
	set("minute", map[string][]byte{"b": []byte("4"), "d": {}})
	set("hour", map[string][]byte{"b": []byte("5")})
	for range 2 {
		disktest.Equal(t, "all", rowsOf("minute", "", "z"), "a=1 b=4 c=3 d= ")
		disktest.Equal(t, "some", rowsOf("minute", "b", "c"), "b=4 c=3 ")
		disktest.Equal(t, "of another table", rowsOf("hour", "a", "c"), "b=5 ")
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j = openJournal(t, dir, Options{})
	}

	if err := j.DeleteRows("minute", "c"); err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "what is left", rowsOf("minute", "", "z"), "c=3 d= ")
	disktest.Equal(t, "the other table", rowsOf("hour", "", "z"), "b=5 ")
	many := map[string][]byte{}
	for i := range 3000 {
		many[fmt.Sprintf("%05d", i)] = []byte("x")
	}

	set("many", many)
	n := 0
	for key := range j.Rows("many", "", "~") {
		disktest.Equal(t, "key", key, fmt.Sprintf("%05d", n))
		n++
	}

	disktest.Equal(t, "many rows", n, 3000)
	if err := j.DeleteRows("many", "02999"); err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "the last of many", rowsOf("many", "", "~"), "02999=x ")
	for name, rows := range map[string]map[string][]byte{
		"no key":            {"": nil},
		"a value too large": {"x": make([]byte, maxRowValue+1)},
		"a key too long":    {strings.Repeat("k", maxRowKey+1): nil},
	} {
		if j.SetRows("bad", rows) == nil {
			t.Error(name, "was stored")
		}
	}

	disktest.Equal(t, "dropped", j.Stats().DroppedRows, uint64(3))
}
