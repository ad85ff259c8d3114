package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// keyOf returns the key of a webhook.
func keyOf(webhook uint64) []byte { return bytes.Repeat([]byte{byte(webhook)}, keyLength) }

var testKeys = map[uint64][]byte{1: keyOf(1), 2: keyOf(2), 3: keyOf(3)}

// openTestLog opens a log that is closed at the end of the test.
func openTestLog(t *testing.T, dir string) *Log {
	t.Helper()
	l := OpenLog(dir, 64<<20, 0, time.Hour)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func newDir(t *testing.T) string { return filepath.Join(t.TempDir(), "webhooks") }

// numbered returns n deliveries of a webhook, with the events e0, e1, …, about person u0,
// u1, u2 in turn.
func numbered(webhook uint64, n int) []Delivery {
	all := make([]Delivery, n)
	for i := range all {
		all[i] = Delivery{
			Webhook:  webhook,
			Event:    fmt.Sprint("e", i),
			Type:     "user.created",
			Attempt:  1,
			Kind:     "event",
			Status:   200,
			Took:     time.Millisecond,
			Request:  "request-canary",
			Response: "response-canary",
			Persons:  []string{fmt.Sprint("u", i%3)},
		}
	}
	return all
}

// everything returns all deliveries of a webhook, newest first, by pages of most.
func everything(t *testing.T, l *Log, webhook uint64, most int,
	only func(*Delivery) bool) (events []string) {
	t.Helper()
	for before := uint64(0); ; {
		found, next, err := l.Newest(webhook, keyOf(webhook), before, most, only)
		must(t, err)
		if len(found) > most {
			t.Fatalf("%d of at most %d", len(found), most)
		}

		for _, d := range found {
			events = append(events, d.Event)
		}

		if next == 0 {
			return events
		}
		if before != 0 && next >= before {
			t.Fatalf("before %d comes %d", before, next)
		}

		before = next
	}
}

func TestLog_Deliveries(t *testing.T) {
	dir := newDir(t)
	l := openTestLog(t, dir)
	want := []Delivery{
		{
			Webhook:  1,
			Event:    "e1",
			Type:     "a.b",
			Attempt:  1,
			Kind:     "event",
			Status:   204,
			Took:     5 * time.Millisecond,
			Request:  `{"a":"<é>\u2028"}`,
			Response: "ok",
			Persons:  []string{"u3", "a7"},
		},
		{
			Webhook: 1,
			Event:   "e2",
			Type:    "a.b",
			Attempt: 9,
			Kind:    "replay",
			Fault:   json.RawMessage(`{"code":"webhook_closed"}`),
			Request: "{}",
		},
		{
			Webhook: 2,
			Event:   "e3",
			Type:    "a.b",
			Attempt: 1,
			Kind:    "test",
			Status:  500,
			Fault:   json.RawMessage(`{"code":"webhook_status","params":{"status":500}}`),
			Request: "{}",
			Persons: []string{"u3"},
		},
	}

	begun := time.Now().Add(-time.Second)
	must(t, l.Append(testKeys, want))
	must(t, l.Close())
	l = openTestLog(t, dir)
	for _, webhook := range []uint64{1, 2} {
		found, next, err := l.Newest(webhook, keyOf(webhook), 0, 10, nil)
		must(t, err)
		for i := range found {
			w := map[uint64][]Delivery{1: {want[1], want[0]}, 2: {want[2]}}[webhook][i]
			w.ID = found[i].ID
			full, ok, err := l.Get(webhook, keyOf(webhook), w.ID)
			must(t, err)
			if !ok {
				t.Fatalf("%d is not found", w.ID)
			}
			disktest.Equal(t, "whole", *full, w)
			disktest.Equal(t, "persons", full.Persons, w.Persons)
			w.Request, w.Response = "", ""
			disktest.Equal(t, "in the list", found[i], w)
		}

		if len(found) != map[uint64]int{1: 2, 2: 1}[webhook] || next != 0 {
			t.Errorf("webhook %d: %d deliveries, next %d", webhook, len(found), next)
		}
	}

	if s := l.Stats(); s.Deliveries != 3 || s.Bytes == 0 || s.MaxBytes != 64<<20 ||
		s.Oldest.Before(begun) || s.Dropped != 0 || s.Damaged != 0 || len(s.Warnings) != 0 {
		t.Errorf("%+v", s)
	}
}

// Nothing of a request is in plain text on the disk, and a key opens only its webhook's
// deliveries.
func TestLog_Encrypted(t *testing.T) {
	dir := newDir(t)
	l := openTestLog(t, dir)
	must(t, l.Append(testKeys, numbered(1, 5)))
	for name, content := range disktest.Snapshot(t, dir) {
		if strings.Contains(content, "canary") || strings.Contains(content, "user.created") ||
			!strings.Contains(content, `"u1"`) {
			t.Errorf("%s has a request, or no person", name)
		}
	}

	found, _, err := l.Newest(1, keyOf(1), 0, 1, nil)
	must(t, err)
	id := found[0].ID
	for name, try := range map[string]struct {
		webhook uint64
		key     []byte
	}{"another key": {1, keyOf(2)}, "another webhook": {2, keyOf(1)}} {
		found, next, err := l.Newest(try.webhook, try.key, 0, 10, nil)
		if len(found) != 0 || next != 0 || err != nil {
			t.Errorf("%s: %d deliveries, next %d, %v", name, len(found), next, err)
		}
		if d, ok, err := l.Get(try.webhook, try.key, id); ok || d != nil || err != nil {
			t.Errorf("%s: got %+v, %v", name, d, err)
		}
	}

	if _, _, err := l.Newest(1, nil, 0, 10, nil); err == nil {
		t.Error("no key is needed")
	}
	if _, _, err := l.Get(1, []byte("short"), id); err == nil {
		t.Error("a short key is accepted")
	}
	// A box does not open as that of another webhook, even with its key.
	one, err := newSealer(1, keyOf(1))
	must(t, err)
	e, err := one.seal(&Delivery{Webhook: 1})
	must(t, err)
	if other, err := newSealer(2, keyOf(1)); err != nil {
		t.Error(err)
	} else if _, ok := other.open(e); ok {
		t.Error("a delivery was moved to another webhook")
	}
}

func TestLog_AddWithoutKey(t *testing.T) {
	l := openTestLog(t, newDir(t))
	all := append(numbered(1, 1), Delivery{Webhook: 9, Event: "gone"}, Delivery{
		Webhook: 2,
		Event:   "kept",
		Kind:    "event",
	}, Delivery{Webhook: 2, Event: "odd", Fault: json.RawMessage("{")})
	err := l.Append(testKeys, all)
	if err == nil || !strings.Contains(err.Error(), "gone") ||
		!strings.Contains(err.Error(), "odd") || strings.Contains(err.Error(), "kept") {
		t.Errorf("%v", err)
	}
	disktest.Equal(t, "stored",
		[][]string{everything(t, l, 1, 10, nil), everything(t, l, 2, 10, nil)},
		[][]string{{"e0"}, {"kept"}})
}

func TestPages(t *testing.T) {
	l := openTestLog(t, newDir(t))
	var want []string
	for i, d := range numbered(1, 100) {
		must(t, l.Append(testKeys, []Delivery{d, {Webhook: 2, Event: fmt.Sprint("x", i)}}))
		want = append([]string{d.Event}, want...)
	}

	for _, most := range []int{1, 7, 50, 99, 100, 101, 1000} {
		disktest.Equal(t, fmt.Sprint("pages of ", most), everything(t, l, 1, most, nil), want)
	}

	odd := func(d *Delivery) bool {
		return d.Event == "e3" || d.Event == "e97" && d.Request == "request-canary"
	}
	disktest.Equal(t, "filtered", everything(t, l, 1, 1, odd), []string{"e97", "e3"})
	if found, next, err := l.Newest(1, keyOf(1), 0, 0, nil); len(found) != 1 || next == 0 ||
		err != nil {
		t.Errorf("%d deliveries, next %d, %v", len(found), next, err)
	}
	// The last page tells that it is the last.
	if found, next, err := l.Newest(1, keyOf(1), 0, 100, nil); len(found) != 100 || next != 0 ||
		err != nil {
		t.Errorf("%d deliveries, next %d, %v", len(found), next, err)
	}
}

// A call looks at a limited number of deliveries, and the next one continues there.
func TestLog_NewestBound(t *testing.T) {
	l := openTestLog(t, newDir(t))
	l.maxLooked, l.maxDecoded = 100, 50_000
	must(t, l.Append(testKeys, append(numbered(1, 1), numbered(2, 2*l.maxLooked)...)))
	found, next, err := l.Newest(1, keyOf(1), 0, 10, nil)
	must(t, err)
	if len(found) != 0 || next == 0 {
		t.Errorf("%d deliveries, next %d", len(found), next)
	}

	disktest.Equal(t, "all", everything(t, l, 1, 10, nil), []string{"e0"})
	must(t,
		l.Append(testKeys,
			slices.Repeat([]Delivery{{
				Webhook: 3,
				Event:   "large",
				Request: strings.Repeat("a", 10_000),
			}}, 10)))
	calls := 0
	if _, next, err = l.Newest(3, keyOf(3), 0, 1, func(*Delivery) bool {
		calls++
		return false
	}); next == 0 || err != nil || calls < 3 || calls > 5 {
		t.Errorf("%d calls, next %d, %v", calls, next, err)
	}
	if n := len(everything(t, l, 3, 10, nil)); n != 10 {
		t.Errorf("%d large deliveries", n)
	}
}

func TestLog_LargeTruncated(t *testing.T) {
	l := openTestLog(t, newDir(t))
	for name, request := range map[string]string{
		"letters": strings.Repeat("a", 400<<10), "quotes": strings.Repeat(`"`, 400<<10),
		"control characters": strings.Repeat("\x01", 400<<10),
		"Chinese":            "a" + strings.Repeat("世", 400<<10),
		"easy, then hard":    strings.Repeat("a", 200<<10) + strings.Repeat("\x01", 400<<10),
		"hard, then easy":    strings.Repeat("\x01", 100<<10) + strings.Repeat("a", 400<<10),
		"a little":           strings.Repeat("a", 197<<10),
	} {
		must(t,
			l.Append(testKeys, []Delivery{{
				Webhook: 1,
				Event:   name,
				Request: request,
				Persons: []string{"u1"},
			}}))
		found, _, err := l.Newest(1, keyOf(1), 0, 1, nil)
		must(t, err)
		d, ok, err := l.Get(1, keyOf(1), found[0].ID)
		must(t, err)
		if !ok || d.Event != name {
			t.Fatalf("%s is not found", name)
		}

		part, cut := strings.CutSuffix(d.Request, "…")
		if !cut || !strings.HasPrefix(request, part) || len(part) < 20<<10 {
			t.Errorf("%s: %d bytes are left, which end with %q", name, len(part),
				d.Request[max(0, len(d.Request)-10):])
		}
	}
	for _, d := range []Delivery{{Webhook: 1, Request: "aé",
		Response: strings.Repeat("a", 400<<10)}, {
		Webhook: 1,
		Persons: []string{strings.Repeat("a", 400<<10)},
	}} {
		if err := l.Append(testKeys, []Delivery{d}); !errors.Is(err, errTooLarge) {
			t.Errorf("%v", err)
		}
	}
}

// The oldest deliveries are removed when the log is full.
func TestLog_SizeBound(t *testing.T) {
	dir := newDir(t)
	l := OpenLog(dir, 4<<20, 0, 0)
	t.Cleanup(func() { must(t, l.Close()) })
	for i := range 40 {
		batch := make([]Delivery, 10)
		for k := range batch {
			batch[k] = Delivery{
				Webhook: 1,
				Event:   fmt.Sprint("e", 10*i+k),
				Request: strings.Repeat("a", 20<<10),
			}
		}
		must(t, l.Append(testKeys, batch))
	}

	s := l.Stats()
	if s.Bytes > 4<<20 || s.Deliveries == 0 || s.Deliveries >= 400 {
		t.Errorf("%+v", s)
	}
	if events := everything(t, l, 1, 50, nil); len(events) != int(s.Deliveries) ||
		events[0] != "e399" {
		t.Errorf("%d of %d deliveries, the newest is %s", len(events), s.Deliveries, events[0])
	}
}

func TestForget(t *testing.T) {
	dir := newDir(t)
	l := openTestLog(t, dir)
	all := numbered(1, 9)
	all[4].Persons = []string{"u10", "a1"}
	all[5].Persons = nil
	all[7].Persons = []string{"u2", "u1"}
	must(t, l.Append(testKeys, all))
	for _, nobody := range []string{"u", "u9", "", "1", `u1","u2`, "box"} {
		if removed, err := l.Forget(nobody); removed != 0 || err != nil {
			t.Errorf("%q: %d removed, %v", nobody, removed, err)
		}
	}

	removed, err := l.Forget("u1")
	must(t, err)
	disktest.Equal(t, "left", everything(t, l, 1, 10, nil),
		[]string{"e8", "e6", "e5", "e4", "e3", "e2", "e0"})
	if removed != 2 {
		t.Errorf("%d removed", removed)
	}

	for name, content := range disktest.Snapshot(t, dir) {
		if strings.Contains(content, `"u1"`) {
			t.Errorf("%s still names the person", name)
		}
	}

	must(t, l.Append(testKeys, []Delivery{{Webhook: 1, Event: "later"}})) // it can be written to
	disktest.Equal(t, "newest", everything(t, l, 1, 1, nil)[0], "later")
}

func TestAbout(t *testing.T) {
	l := openTestLog(t, newDir(t))
	must(t, l.Append(testKeys, append(numbered(1, 6), numbered(2, 3)...)))
	about := func(keys func(uint64) []byte) (events []string, err error) {
		for d, e := range l.About("u2", keys) {
			if e != nil {
				err = e
				continue
			}
			if d.Request != "request-canary" || d.Response != "response-canary" || d.ID == 0 {
				t.Errorf("%+v", d)
			}
			events = append(events, fmt.Sprint(d.Webhook, d.Event))
		}
		return events, err
	}
	events, err := about(keyOf)
	must(t, err)
	disktest.Equal(t, "with every key", events, []string{"2e2", "1e5", "1e2"})
	events, err = about(func(webhook uint64) []byte {
		if webhook == 2 {
			return nil
		}
		return keyOf(webhook)
	})
	must(t, err)
	disktest.Equal(t, "without a webhook", events, []string{"1e5", "1e2"})
	if events, err = about(func(uint64) []byte {
		return keyOf(3)
	}); len(events) != 0 || err != nil {
		t.Errorf("with a wrong key: %v, %v", events, err)
	}
	if _, err = about(func(uint64) []byte { return []byte("short") }); err == nil {
		t.Error("a short key is accepted")
	}

	for range l.About("u2", keyOf) {
		break // this must not panic
	}
}

// Only Append creates the directory.
func TestLog_UnusedCreatesNothing(t *testing.T) {
	dir := newDir(t)
	l := openTestLog(t, dir)
	found, next, err := l.Newest(1, keyOf(1), 0, 10, nil)
	must(t, err)
	d, ok, err := l.Get(1, keyOf(1), 1)
	must(t, err)
	removed, err := l.Forget("u1")
	must(t, err)
	must(t, l.Expire())
	for range l.About("u1", keyOf) {
		t.Error("there is a delivery")
	}

	must(t, l.Append(nil, nil))
	if l.Append(nil, []Delivery{{Webhook: 1}}) == nil {
		t.Error("a delivery without a key is stored")
	}
	if len(found) != 0 || next != 0 || ok || d != nil || removed != 0 ||
		l.Stats().Deliveries != 0 ||
		l.Stats().Bytes != 0 {
		t.Error("there is something")
	}

	must(t, l.Close())
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
	if err := l.Append(testKeys, numbered(1, 1)); !errors.Is(err, errLogClosed) {
		t.Errorf("a closed log: %v", err)
	}
}

func TestExpire(t *testing.T) {
	dir := newDir(t)
	l := openTestLog(t, dir)
	must(t, l.Append(testKeys, numbered(1, 3)))
	must(t, l.Expire())
	if n := l.Stats().Deliveries; n != 3 {
		t.Errorf("%d deliveries after Expire", n)
	}
	must(t, l.Close())
	l = OpenLog(dir, 64<<20, 0, time.Nanosecond)
	t.Cleanup(func() { must(t, l.Close()) })
	must(t, l.Expire())
	if n := l.Stats().Deliveries; n != 0 {
		t.Errorf("%d deliveries are left", n)
	}
}

// A damaged file is set aside, and the log goes on.
func TestDamagedFile(t *testing.T) {
	dir := newDir(t)
	l := openTestLog(t, dir)
	must(t, l.Append(testKeys, numbered(1, 50)))
	must(t, l.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("the files are %v", files)
	}

	content := disktest.ReadFile(t, files[0])
	for i := range content {
		content[i] ^= 0xff
	}

	disktest.WriteFile(t, files[0], content)

	l = openTestLog(t, dir)
	if events := everything(t, l, 1, 10, nil); len(events) != 0 {
		t.Errorf("read %v", events)
	}

	must(t, l.Append(testKeys, numbered(1, 1)))
	disktest.Equal(t, "after the damage", everything(t, l, 1, 10, nil), []string{"e0"})
	if s := l.Stats(); len(s.Warnings) == 0 || s.Deliveries != 1 {
		t.Errorf("%+v", s)
	}
	if aside, err := filepath.Glob(filepath.Join(dir, "*.damaged")); err != nil || len(aside) != 1 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
	if _, err := l.Forget("u1"); err != nil {
		t.Error(err)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "*.damaged")); len(aside) != 0 { // the pattern is valid
		t.Errorf("after Forget there is %v, which may name the person", aside)
	}
}

// All methods may be called at once, also while the log is closed.
func TestConcurrentUse(t *testing.T) {
	l := OpenLog(newDir(t), 64<<20, 0, time.Hour)
	rounds := disktest.Size(30, 100, 1000)
	var group sync.WaitGroup
	each := func(fn func() error) {
		group.Go(func() {
			for range rounds {
				if err := fn(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	each(func() error { return l.Append(testKeys, numbered(1, 10)) })
	each(func() error { return l.Append(testKeys, numbered(2, 10)) })
	each(func() error {
		found, _, err := l.Newest(1, keyOf(1), 0, 20, nil)
		for _, d := range found {
			if _, _, err := l.Get(1, keyOf(1), d.ID); err != nil {
				return err
			}
		}
		return err
	})
	each(func() error { _, err := l.Forget("u1"); return err })
	each(func() error {
		for _, err := range l.About("u2", keyOf) {
			if err != nil {
				return err
			}
		}
		l.Stats()
		return l.Expire()
	})
	group.Wait()
	if _, err := l.Forget("u1"); err != nil {
		t.Error(err)
	}

	for _, webhook := range []uint64{1, 2} {
		if n := len(everything(t, l, webhook, 100, nil)); n != 7*rounds { // 3 of 10 are about u1
			t.Errorf("webhook %d has %d deliveries, want %d", webhook, n, 7*rounds)
		}
	}

	group.Go(func() { l.Newest(1, keyOf(1), 0, 100, nil) })
	group.Go(func() { l.Append(testKeys, numbered(1, 1)) })
	must(t, l.Close())
	group.Wait()
}
