package audit

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"reeve/store/disk/disktest"
)

// Text writes what json.Marshal writes.
func TestTextIsTheJSONOfAnEntry(t *testing.T) {
	r := disktest.Random(t)
	for range disktest.Size(2000, 10_000, 200_000) {
		e := anyEntry(r)
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Text(); string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

func anyEntry(r *rand.Rand) *Entry {
	text := func() string { return []string{"", "", "plain", "a \"b\" <c> & \\", "客\n\u2028", "\xff"}[r.IntN(6)] }
	number := func() uint64 { return []uint64{0, 0, 7, 1 << 63}[r.IntN(4)] }
	value := func() Value {
		v := Value{Person: text(), Hash: text()}
		if r.IntN(2) == 0 {
			v.Plain = json.RawMessage([]string{`null`, `"x"`, `{"a":[1,2]}`}[r.IntN(3)])
		}
		if r.IntN(3) == 0 {
			v.Box = make([]byte, r.IntN(40))
		}
		return v
	}
	e := &Entry{
		Link:  Link{Seq: number(), Generation: text(), At: text()},
		Actor: Actor{Kind: text(), ID: number(), Name: value()}, Operation: Operation{text(), text(), text()},
		SessionID: number(), RequestID: text(), Address: value(), Reason: text(), JobID: number(), Part: r.IntN(3), Action: text(),
	}
	e.Prev[r.IntN(32)] = byte(r.IntN(256))
	if r.IntN(2) == 0 {
		e.Details = json.RawMessage(`{"n":1}`)
	}
	for range r.IntN(3) {
		c := Change{Collection: text(), ID: number(), Name: value(), Operation: text()}
		for range r.IntN(3) {
			c.Fields = append(c.Fields, Field{text(), value(), value()})
		}
		e.Changes = append(e.Changes, c)
	}
	return e
}
