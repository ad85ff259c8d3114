package store

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// Where the log has a gap, a time is either answered rightly or not at all.
func TestExplainAt_LogGap(t *testing.T) {
	for name, test := range map[string]struct {
		lost   int                // index of the segment
		damage func(string) error // what happens to its file
		before bool               // whether times before it are known
		within func(error) bool   // the result for a time in it
	}{
		"the oldest segment was dropped": {0, os.Remove, false, func(err error) bool {
			return err == nil
		}},
		"a segment is missing": {2, os.Remove, true, isUnreadable},
		"a segment is damaged": {2, func(path string) error {
			return os.Truncate(path, 8192)
		}, true, isUnreadable},
		"a segment has other content": {2, func(path string) error {
			return os.WriteFile(path, []byte("x"), 0o600)
		}, true, isUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t, disktest.Random(t))
			h.steady = true
			for range 5 {
				h.live(50)
				h.restart()
			}

			lost := h.db.LogSegments()[test.lost]
			shut(t, h.db)
			noErr(t, test.damage(lost.Path))
			h.db = open(t, h.dir, h.options())
			for _, m := range h.moments[1:] {
				e, err := ExplainAt(h.db, m.at, Account{ID: 3}, "k.3")
				last := h.at(m.at)
				switch {
				case last.seq < lost.First &&
					!test.before, last.seq >= lost.First && last.seq < lost.Last:
					if !test.within(err) ||
						err == nil && (e.Reason != "unknown" || e.KnownFrom == 0) {
						t.Fatalf("entry %d of lost %d to %d: %v %+v", last.seq, lost.First,
							lost.Last, err, e)
					}
				case last.seq != lost.Last && last.seq != lost.First-1: // its neighbours are known or not
					noErr(t, err)
					disktest.Equal(t, fmt.Sprint("entry ", last.seq), explanationText(t, e),
						last.answers[question(3, 3)])
				}
			}
		})
	}
}

func isUnreadable(err error) bool {
	var e *errs.Error
	return errors.As(err, &e) && e.Code == "change_log_unreadable"
}

// A salvage can lose records without an entry.
func TestExplainAt_AcrossSalvage(t *testing.T) {
	h := newHistory(t, disktest.Random(t))
	h.steady = true
	h.live(20)
	shutVerified(t, h.db)
	to := t.TempDir() + "/salvaged"
	_, err := Salvage(h.dir, to, h.options())
	noErr(t, err)
	earlier := h.clock.now()
	h.clock.Add(1_000_000)
	h.db = open(t, to, h.options())
	h.remember()
	h.clock.Add(1_000_000)
	h.live(10)
	if _, err := ExplainAt(h.db, earlier, Account{ID: 3}, "k.3"); !isUnreadable(err) {
		t.Errorf("a time before: %v", err)
	}

	for _, m := range h.moments {
		if m.at > earlier {
			h.mustExplain(m.at)
		}
	}
}

// A restored directory can have a segment that is part of the restored data, with a checkpoint that
// is not.
func TestExplainAt_AfterRestore(t *testing.T) {
	h := newHistory(t, disktest.Random(t))
	shut(t, h.db)
	h.segment = 1000
	h.db = open(t, h.dir, h.options())
	h.live(30)
	shut(t, h.db)
	backup := t.TempDir() + "/backup"
	noErr(t, os.CopyFS(backup, os.DirFS(h.dir)))
	kept := len(h.moments)
	h.db = open(t, h.dir, h.options())
	h.live(1)
	h.segment = 10
	h.restart()
	segments := h.db.LogSegments()
	shut(t, h.db)
	noErr(t, os.CopyFS(backup+"/audit", os.DirFS(h.dir+"/audit")))
	h.moments, h.segment = h.moments[:kept], 1000
	h.dir = t.TempDir() + "/restored"
	_, err := Restore(h.dir, backup, nil, h.options())
	noErr(t, err)
	h.db = open(t, h.dir, h.options())
	h.remember()
	h.live(10)
	disktest.Equal(t, "segments", len(h.db.LogSegments()), 1)
	if _, err := checkpointState(h.db, segments[0], Account{ID: 3}); !errors.Is(err, errOtherData) {
		t.Errorf("the checkpoint of the replaced data: %v", err)
	}

	for i := range h.moments[1:] {
		h.mustReach(&h.moments[i+1])
		h.mustExplain(h.moments[i+1].at)
	}
}
