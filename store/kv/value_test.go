package kv

import (
	"encoding/json"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// JSON replaces invalid UTF-8 when a record is stored. The index must have the stored text, not the
// original one.
func TestText_InvalidUTF8(t *testing.T) {
	for name, b := range map[string]beast{
		"in a unique value":           {Code: "bad\xff"},
		"in a value of another index": {Tags: []string{"bad\xff"}},
	} {
		t.Run(name, func(t *testing.T) {
			db := zooWith(t)
			if err := db.Update(System, func(tx *Tx) error {
				return beasts.Create(tx, &b)
			}); err != nil && !errs.Is(err, errs.Invalid) {
				t.Errorf("got %v, want it stored or Invalid", err)
			}
		}) // the cleanup verifies
	}
}

// A time whose year cannot be encoded in JSON must be rejected, not stored and then unreadable.
func TestTime_BeyondCalendar(t *testing.T) {
	for _, moment := range []Time{1 << 60, -1 << 60, -62_167_219_200_000_001} {
		t.Run(moment.String(), func(t *testing.T) {
			s := zoo()
			s.Caches = nil // a cache that reads the record would reject it, too
			db := open(t, t.TempDir(), Options{Schema: s})
			if db.Update(System, func(tx *Tx) error {
				return beasts.Create(tx, &beast{Born: moment})
			}) == nil {
				disktest.Equal(t, "born", allOf(t, db, beasts)[0].Born, moment)
			}
		}) // the cleanup verifies
	}
}

func TestTimeAsJSON(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want Time
		back string // encoded again; "" for text
	}{
		"never": {`null`, 0, ""},
		"the fixed layout": {`"2025-05-08T03:04:05.000006Z"`,
			TimeOf(time.Date(2025, 5, 8, 3, 4, 5, 6000, time.UTC)), ""},
		"before 1970":     {`"1969-12-31T23:59:59.999999Z"`, -1, ""},
		"the last moment": {`"9999-12-31T23:59:59.999999Z"`, 253402300799999999, ""},
		"another zone": {`"2025-05-08T05:04:05+02:00"`,
			TimeOf(time.Date(2025, 5, 8, 3, 4, 5, 0, time.UTC)), `"2025-05-08T03:04:05.000000Z"`},
		"a fraction that is too fine": {`"2025-05-08T03:04:05.123456789Z"`,
			TimeOf(time.Date(2025, 5, 8, 3, 4, 5, 123456000, time.UTC)),
			`"2025-05-08T03:04:05.123456Z"`},
	} {
		t.Run(name, func(t *testing.T) {
			var got Time
			if err := json.Unmarshal([]byte(test.text), &got); err != nil {
				t.Fatal(err)
			}
			disktest.Equal(t, "read", got, test.want)
			if test.back == "" {
				test.back = test.text
			}
			b, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			disktest.Equal(t, "written", string(b), test.back)
		})
	}
	for _, text := range []string{`""`, `"2025-05-08"`, `"2025-13-08T03:04:05Z"`, `1`, `true`,
		`{}`} {
		var got Time
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was read as %v", text, got)
		}
	}
}

func TestFlagAsJSON(t *testing.T) {
	for text, want := range map[string]Flag{"1": true, "0": false, "true": true, "false": false} {
		got := !want
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s was read as %v, %v", text, got, err)
		}
	}

	for _, text := range []string{`"1"`, `2`, `null`, `[]`} {
		var got Flag
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was read as %v", text, got)
		}
	}

	b, err := json.Marshal([]Flag{true, false})
	if err != nil || string(b) != "[1,0]" {
		t.Errorf("written as %s, %v", b, err)
	}
}
