package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// history is a database that changes at random, with what was true after each entry of its log.
type history struct {
	t       testing.TB
	r       *rand.Rand
	dir     string
	clock   *clock
	db      *DB
	moments []moment // by number of the entry; the first one is before the log
	steady  bool     // the clock is never set back
	segment uint64   // number of entries in data.db from which they are moved
}

// moment is what was true after an entry.
type moment struct {
	seq     uint64
	at      Time
	answers map[string]string // JSON of Explanation, by user and permission
}

const (
	historyKeys  = 18 // keys k.0 to k.17
	historyUsers = 24 // IDs that are asked for; some do not exist
)

// newHistory begins a history whose log has segments of about 40 entries.
func newHistory(t testing.TB, r *rand.Rand) *history {
	h := &history{t: t, r: r, dir: t.TempDir(), clock: clockAt(frozen()), segment: 40}
	h.db = open(t, h.dir, h.options())
	h.remember()
	return h
}

func (h *history) options() Options {
	return Options{Seed: crowdSeed(h.r), Clock: h.clock.now, drainFrom: h.segment}
}

// restart closes the database and opens it again, which moves entries to a segment if there are
// enough.
func (h *history) restart() {
	shutVerified(h.t, h.db)
	h.db = open(h.t, h.dir, h.options())
	shut(h.t, h.db) // waits until the entries are moved
	h.db = open(h.t, h.dir, h.options())
}

// remember adds the present as the last moment if there is a new entry.
func (h *history) remember() {
	view(h.t, h.db, func(tx *Tx) error {
		if n := len(h.moments); n > 0 && h.moments[n-1].seq == tx.LogEnd() {
			return nil
		}

		m := moment{seq: tx.LogEnd(), at: h.clock.now(), answers: map[string]string{}}
		for id := range ID(historyUsers) {
			u, err := Users.Get(tx, id+1)
			for n := range historyKeys {
				e := noAccess("unknown_user")
				if err == nil {
					e = Explain(tx, u, fmt.Sprint("k.", n))
				}
				m.answers[question(id+1, n)] = explanationText(h.t, e)
			}
		}

		h.moments = append(h.moments, m)
		return nil
	})
}

func question(user ID, key int) string { return fmt.Sprint(user, " k.", key) }

func explanationText(t testing.TB, e *Explanation) string {
	text, err := json.Marshal(e)
	noErr(t, err)
	return string(text)
}

// live makes random changes, with other entries between them. Several entries can have the same
// time, and the clock is set back now and then.
func (h *history) live(entries int) {
	for end := len(h.moments) + entries; len(h.moments) < end; {
		switch n := h.r.IntN(40); {
		case n == 0 && !h.steady:
			h.clock.Add(-int64(h.r.IntN(3_000_000)))
		case n > 8:
			h.clock.Add(int64(h.r.IntN(1_000_000)))
		}

		err := h.db.Update(System, func(tx *Tx) error {
			for range h.r.IntN(3) + 1 {
				if err := h.change(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if e := (*errs.Error)(nil); err != nil && !errors.As(err, &e) {
			h.t.Fatal(err) // others are refused, for example because a record is in use
		}

		h.remember()
	}
}

// change makes one random change.
func (h *history) change(tx *Tx) (err error) {
	r := h.r
	id := func(n int) ID { return ID(r.IntN(n) + 1) }
	switch r.IntN(13) {
	case 0:
		err = stir(tx, r)
	case 1:
		err = Permissions.Create(tx, &Permission{
			Key:      fmt.Sprint("k.", r.IntN(historyKeys)),
			Name:     "<new>",
			ParentID: ID(r.IntN(4)),
			Type:     PagePermission,
			Status:   true,
		})
	case 2:
		err = Permissions.Delete(tx, id(22))
	case 3:
		_, err = Permissions.Update(tx, id(20), func(p *Permission) error {
			p.Name, p.ParentID, p.Key = fmt.Sprint("P", r.IntN(9)), ID(r.IntN(6)), fmt.Sprint("k.",
				r.IntN(historyKeys))
			return nil
		})
	case 4:
		err = Roles.Create(tx, &Role{
			Name:      fmt.Sprint("N", r.IntN(99)),
			Status:    true,
			RuleIDs:   []ID{id(16)},
			DataScope: ScopeTree,
		})
	case 5:
		err = Roles.Delete(tx, id(14)+1)
	case 6:
		err = editRole(id(12)+1, func(role *Role) {
			role.Name, role.DataScope, role.RuleIDs = fmt.Sprint("C", r.IntN(99)), ScopeCustom, append(role.RuleIDs, id(16))
			role.DeptIDs = []ID{id(8)}
		})(tx)
	case 7:
		err = Depts.Create(tx, &Dept{Name: "New", ParentID: ID(r.IntN(5))})
	case 8:
		err = Depts.Delete(tx, id(16))
	case 9:
		_, err = Depts.Update(tx, id(12), func(d *Dept) error {
			d.ParentID, d.Status = ID(r.IntN(12)), !d.Status
			return nil
		})
	case 10:
		err = Users.Create(tx, &User{
			Username: fmt.Sprint("new", r.IntN(1<<30)),
			Status:   true,
			RoleIDs:  []ID{id(12), id(12)}[:r.IntN(3)],
			DeptID:   ID(r.IntN(9)),
		})
	case 11:
		err = Users.Delete(tx, id(historyUsers-2)+2)
	case 12:
		err = FileGroups.Create(tx, &FileGroup{Name: fmt.Sprint("G", r.IntN(1<<30))})
	}

	return err
}

// at returns what was true at a time; nil if the log begins later.
func (h *history) at(at Time) *moment {
	for i := len(h.moments) - 1; i > 0; i-- {
		if m := &h.moments[i]; m.at <= at {
			return m
		}
	}
	return nil
}

// mustExplain compares ExplainAt with what was remembered, for some users and permissions.
func (h *history) mustExplain(at Time) {
	h.t.Helper()
	m := h.at(at)
	for range 2 {
		user, key := ID(h.r.IntN(historyUsers)+1), h.r.IntN(historyKeys)
		want := explanationText(h.t, &Explanation{
			Reason:    "unknown",
			Roles:     []RoleID{},
			Path:      []Step{},
			KnownFrom: h.moments[1].at,
		})
		if m != nil {
			want = m.answers[question(user, key)]
		}

		e, err := ExplainAt(h.db, at, Account{ID: user}, fmt.Sprint("k.", key))
		noErr(h.t, err)
		if got := explanationText(h.t, e); got != want {
			h.t.Fatalf("at %s, %s:\n got %s\nwant %s", at, question(user, key), got, want)
		}
	}
}

// mustReach computes the state after an entry from every known state, in both directions.
func (h *history) mustReach(m *moment) (forwards, backwards int) {
	h.t.Helper()
	user := ID(h.r.IntN(historyUsers) + 1)
	for _, known := range knownStates(h.db, m.seq, Account{ID: user}) {
		s, err := known.load()
		if errors.Is(err, errOtherData) {
			continue
		}

		noErr(h.t, err)
		if s.seq < m.seq {
			forwards++
		} else if s.seq > m.seq {
			backwards++
		}

		from := s.seq
		noErr(h.t, s.moveTo(h.db, m.seq))
		policy, u, err := s.decode()
		noErr(h.t, err)
		for key := range historyKeys {
			e := noAccess("unknown_user")
			if u != nil {
				e = policy.explain(u, fmt.Sprint("k.", key))
			}
			if got, want := explanationText(h.t, e), m.answers[question(user, key)]; got != want {
				h.t.Fatalf("entry %d from %d, %s:\n got %s\nwant %s", m.seq, from,
					question(user, key), got, want)
			}
		}
	}

	return forwards, backwards
}

func TestExplainAt_MatchesPast(t *testing.T) {
	h := newHistory(t, disktest.Random(t))
	for range disktest.Size(3, 8, 40) {
		h.live(45)
		for i := range h.moments {
			h.mustExplain(h.moments[i].at)
			h.mustExplain(h.moments[i].at + Time(h.r.IntN(2_000_000)-1_000_000))
		}
		h.restart()
	}

	forwards, backwards := 0, 0
	for i := range h.moments[1:] {
		f, b := h.mustReach(&h.moments[i+1])
		forwards, backwards = forwards+f, backwards+b
		h.mustExplain(h.moments[i+1].at)
	}

	h.mustExplain(h.clock.now())
	h.mustExplain(0)
	t.Logf("%d entries, %d segments: %d forwards, %d backwards", len(h.moments),
		len(h.db.LogSegments()), forwards, backwards)
	if len(h.db.LogSegments()) < 2 || forwards == 0 || backwards == 0 {
		t.Error("too few segments or directions")
	}
}

// The fields that decide about permissions are readable in the log for ever, also after a person is
// erased.
func TestChangeLog_DecisiveFieldsReadable(t *testing.T) {
	for _, table := range reeve.Tables {
		for _, name := range decisive[table.Name()] {
			if field, exists := fieldsOf(table).byName[name]; !exists || field.class != plainField {
				t.Errorf("%s.%s is not stored as it is in the change log: ExplainAt cannot read it", table.Name(), name)
			}
		}
	}
	listed := string(disktest.ReadFile(t, "testdata/log_fields.txt"))
	for collection, names := range decisive {
		for _, name := range names {
			if line := fmt.Sprintf("%s.%s plain\n", collection, name); !strings.Contains("\n"+listed, "\n"+line) {
				t.Errorf("testdata/log_fields.txt lacks %q", line)
			}
		}
	}
}
