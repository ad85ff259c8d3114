package web

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"testing"
)

// TestSentIDs_Memory compares the memory of the IDs of an export with what it takes from the limit, for numbers and
// texts, as many as expected and more.
func TestSentIDs_Memory(t *testing.T) {
	for name, c := range map[string]struct {
		expected, n int
		id          func(i int) string
	}{
		"numbers":          {MaxExport, MaxExport, strconv.Itoa},
		"quoted numbers":   {MaxExport, MaxExport, func(i int) string { return strconv.Quote(strconv.Itoa(i << 40)) }},
		"zero and others":  {1, 100, strconv.Itoa},
		"a thousand":       {1000, 1000, strconv.Itoa},
		"more numbers":     {1, MaxExport, strconv.Itoa},
		"texts":            {0, MaxExport, func(i int) string { return fmt.Sprintf(`"session-%012d-of-a-user"`, i) }},
		"one number twice": {1, 2, func(int) string { return "1" }},
	} {
		ids := make([]json.RawMessage, c.n)
		for i := range ids {
			ids[i] = json.RawMessage(c.id(i))
		}
		used := func() int {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		before := used()
		sent, added := newSentIDs(c.expected), 0
		for _, id := range ids {
			if sent.add(id) {
				added++
			}
			if sent.add(id) {
				t.Fatalf("%s: %s was added twice", name, id)
			}
		}
		got, counted := used()-before, sent.bytes()
		if runtime.KeepAlive(ids); got > counted+4<<10 || counted > 2*got+4<<10 {
			t.Errorf("%s: %d bytes are counted, %d are used", name, counted, got)
		}
		runtime.KeepAlive(sent)
		if want := len(ids); added != want && name != "one number twice" || name == "one number twice" && added != 1 {
			t.Errorf("%s: %d of %d were new", name, added, want)
		}
	}
}
