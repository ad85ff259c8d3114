package setup_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"reeve/server/servertest"
	"reeve/store"
)

// held is the writer while a write function keeps it.
type held struct {
	in      *servertest.Instance
	release chan time.Time // end of the function
}

// hold keeps the writer with a function that then runs last.
func hold(in *servertest.Instance, last func(*store.Tx) error) *held {
	h, began := &held{in, make(chan time.Time)}, make(chan struct{})
	once := sync.OnceFunc(func() { close(began); <-h.release })
	go func() {
		err := in.DB.WithRecorder(nil).Update(store.System, func(tx *store.Tx) error {
			once()
			return last(tx)
		})
		if err != nil {
			in.T.Error(err)
		}
	}()
	<-began
	return h
}

// waiting waits until at least n write functions wait for the writer.
func (h *held) waiting(t *testing.T, n int) {
	servertest.Until(t, fmt.Sprint(n, " writes to wait"), func() bool { return h.in.DB.Stats().Queued >= n })
}

// dictionaryNamed returns a setup with the dictionary of largeDictionary under another name.
func dictionaryNamed(t *testing.T, name string) string {
	return file(t, map[string]any{"dictionaries": map[string]any{"large": map[string]any{"name": name}}}, false)
}

// shortestWait applies one change several times, and returns the shortest time for which a write that
// came after it waited for it.
func shortestWait(t *testing.T, in *servertest.Instance) (shortest time.Duration) {
	for i := range 5 {
		h := hold(in, func(*store.Tx) error { return nil })
		applied, next := make(chan *servertest.Reply), make(chan time.Time, 2)
		body := dictionaryNamed(t, fmt.Sprint("Name ", i))
		go func() { applied <- in.Call("POST", "/system/setup/apply", body, "cli") }()
		h.waiting(t, 1)
		go in.DB.WithRecorder(nil).Update(store.System, func(*store.Tx) error { next <- time.Now(); return nil })
		h.waiting(t, 2)

		began := time.Now()
		h.release <- began
		if took := (<-next).Sub(began); i == 0 || took < shortest {
			shortest = took
		}
		if a := <-applied; a.Code != 200 || len(changesOf(a)) != 1 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	return shortest
}

// TestSetup_ComparedBeforeOthersWait applies one change where 20,000 objects are compared, and where few
// are. It holds the writer for about as long.
func TestSetup_ComparedBeforeOthersWait(t *testing.T) {
	few, many := commandLine(t), commandLine(t)
	applyDictionary(t, few, 1)
	applyDictionary(t, many, 20_000)
	short, long := shortestWait(t, few), shortestWait(t, many)
	t.Logf("%v with few objects, %v with many", short, long)
	if long > 20*short {
		t.Errorf("others wait %v, %.0f times as long as with few objects", long, float64(long)/float64(short))
	}
}

// TestSetup_ComparedAgainAfterChange deletes the dictionary that a setup renames between the comparison and
// the write, also in the same commit: it is created.
func TestSetup_ComparedAgainAfterChange(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	applyDictionary(t, in, 0)
	h := hold(in, func(tx *store.Tx) error {
		for d, err := range store.Dicts.All(tx) {
			if err == nil && d.Code == "large" {
				return store.Dicts.Delete(tx, d.ID)
			}
		}
		t.Error("it is not there")
		return nil
	})
	applied := make(chan *servertest.Reply)
	go func() { applied <- in.Call("POST", "/system/setup/apply", dictionaryNamed(t, "Other"), "cli") }()
	h.waiting(t, 1)
	h.release <- time.Now()
	if a := <-applied; a.Code != 200 || fmt.Sprint(changesOf(a)) != "[create dictionary large]" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if left := changesOf(in.OK("POST", "/system/setup/plan", dictionaryNamed(t, "Other"), "cli")); left != nil {
		t.Errorf("left: %q", left)
	}
}
