package audit

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reeve/store/disk/disktest"
)

// Text writes what json.Marshal writes.
func TestText_EqualsJSON(t *testing.T) {
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
	text := func() string {
		return []string{"", "", "plain", "a \"b\" <c> & \\", "客\n\u2028", "\xff"}[r.IntN(6)]
	}

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
		Link:      Link{Seq: number(), Generation: text(), At: text()},
		Actor:     Actor{Kind: text(), ID: number(), Name: value()},
		Operation: Operation{text(), text(), text()},
		SessionID: number(),
		RequestID: text(),
		Address:   value(),
		Reason:    text(),
		JobID:     number(),
		Part:      r.IntN(3),
		Action:    text(),
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

// The keys of a text are those of its entry, whatever is in it.
func TestKeys_EqualEntry(t *testing.T) {
	r, before := disktest.Random(t), Link{}
	for range disktest.Size(2000, 10_000, 200_000) {
		e := anyEntry(r)
		micros := r.Int64N(1 << 50)
		e.At = time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
		if r.IntN(10) == 0 {
			e.Reason = strings.Repeat("x\\", maxTerm)
			e.Operation.Title = e.Reason + e.Operation.Title
		}

		text, want := e.Text(), e.Keys(micros)
		got, err := KeysOf(text)
		if err != nil || got != want {
			t.Fatalf("%s\ngot  %+v, %v\nwant %+v", text, got, err, want)
		}

		var decoded Entry
		must(t, json.Unmarshal(text, &decoded))
		if got, err := decoded.keys(); err != nil || got != want {
			t.Fatalf("%s\ndecoded: %+v, %v\nwant %+v", text, got, err, want)
		}
		if _, ok := scanEntry(text, false); !ok {
			t.Fatalf("not scanned: %s", text)
		}

		for _, last := range []*Link{{}, &decoded.Link, &before} {
			if link, ok := scanLink(text, last); !ok || link != decoded.Link {
				t.Fatalf("%s\nlink %+v, want %+v", text, link, decoded.Link)
			}
		}

		before = decoded.Link
		var spaced bytes.Buffer
		must(t, json.Indent(&spaced, text, "", " "))
		if got, err := KeysOf(spaced.Bytes()); err != nil || got != want {
			t.Fatalf("%s\nwith spaces: %+v, %v\nwant %+v", text, got, err, want)
		}

		for _, term := range want.Terms() {
			if len(term) > maxTerm || !utf8.ValidString(term) {
				t.Fatalf("term %q", term)
			}
		}
	}
}

// Scanning a text gives what encoding/json decodes, or nothing.
func TestScan_EqualsDecoding(t *testing.T) {
	r := disktest.Random(t)
	for range disktest.Size(2000, 10_000, 200_000) {
		text := anyEntry(r).Text()
		if _, ok := scanEntry(text, true); !ok {
			t.Fatalf("not scanned: %s", text)
		}
		for range r.IntN(4) {
			text[r.IntN(len(text))] = "\"\\{}[],:x0 \n\t\x00\xff"[r.IntN(15)]
		}
		got, ok := scanEntry(text, true)
		var want Entry
		if err := json.Unmarshal(text, &want); ok && (err != nil || !reflect.DeepEqual(got, want)) {
			t.Fatalf("%s\nscanned %+v\ndecoded %+v, %v", text, got, want, err)
		}
	}
}

// TestKeys_InvalidTexts checks that a text that is not an entry is an error, and not a panic.
func TestKeys_InvalidTexts(t *testing.T) {
	r := disktest.Random(t)
	for range disktest.Size(2000, 10_000, 200_000) {
		e := anyEntry(r)
		e.At = "2026-03-01T12:00:00.000000Z"
		text := e.Text()
		text = text[:r.IntN(len(text))]
		if _, err := KeysOf(text); err == nil {
			t.Fatalf("%s has keys", text)
		}
		text = e.Text()
		for range 1 + r.IntN(5) {
			text[r.IntN(len(text))] = `"\{}[],:x0`[r.IntN(10)]
		}
		KeysOf(text) // must return
	}
}

func TestTerms(t *testing.T) {
	e := Entry{Actor: Actor{Kind: "user", ID: 7},
		Operation: Operation{"PUT", "/admin/list/:id", "Edit"}, Action: "export", Changes: []Change{
			{Collection: "role", ID: 12, Operation: "update"}, {
				Collection: "role",
				ID:         13,
				Operation:  "update",
			}, {Collection: "role", ID: 12, Operation: "update"},
		}}
	disktest.Equal(t, "terms", e.Terms(), []string{
		"actor user:7", "operation PUT /admin/list/:id", "action export", "change role:update",
		"record role:12", "record role:13",
	})
	disktest.Equal(t, "terms of nothing",
		(&Entry{Actor: Actor{Kind: "system"}, Operation: Operation{Title: "start"}}).Terms(),
		[]string{"actor system:0", "operation start"})
	disktest.Equal(t, "constructors", []string{
		ByActor("user", 7), ByOperation("PUT /admin/list/:id"), ByAction("export"),
		ByChange("role", "update"), ByRecord("role", 12), ByRecord("role", 13),
	}, e.Terms())
}
