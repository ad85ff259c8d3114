package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"

	"reeve/store/audit"
	"reeve/store/errs"
	"reeve/store/kv"
)

// ExplainAt explains whether a user had a permission at an earlier time: after the last entry of
// the change log up to then. It begins with the nearest known state, the current records or a
// checkpoint, and applies the entries between, in the direction in which they are. If they cannot
// be read, it tries the other direction. An answer is never a guess:
//
//   - If the log begins later, the reason is unknown, and KnownFrom the time of its oldest entry.
//   - If a part of the log that is needed cannot be read, or does not fit the known state, this is an
//     error.
//
// The caller checks whether the user may be seen; the user may have been deleted since.
func ExplainAt(db *DB, at Time, user Account, key string) (*Explanation, error) {
	seq, err := entryAt(db, at)
	if err != nil {
		return nil, unreadable(err)
	}
	if seq == 0 {
		e := noAccess("unknown")
		e.KnownFrom, err = oldestEntry(db)
		return e, err
	}

	past, err := stateAt(db, seq, user)
	if err != nil {
		return nil, unreadable(err)
	}

	policy, u, err := past.decode()
	switch {
	case err != nil:
		return nil, unreadable(err)
	case u == nil:
		return noAccess("unknown_user"), nil
	}

	return policy.explain(u, key), nil
}

func unreadable(cause error) error {
	return errs.New(errs.Internal,
		"a part of the change log that is needed can't be read; check the log with `reeve audit verify`").Coded("change_log_unreadable").Because(cause)
}

// entryAt returns the number of the last entry up to a time; 0 if the log begins later. It is an
// error if the entry after it, which is later, cannot be read: the last one could be missing.
func entryAt(db *DB, at Time) (uint64, error) {
	seq, err := db.LogBefore(at)
	if seq == 0 || seq >= db.LogHead().Seq {
		return seq, err
	}
	return seq, eachEntry(db, seq+1, seq+1, func(audit.Row) error { return nil })
}

// oldestEntry returns the time of the oldest entry of the log; 0 for an empty log.
func oldestEntry(db *DB) (at Time, err error) {
	rows, err := db.ReadLog(1, 1)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	e, err := rows[0].Decode()
	if err == nil {
		at, err = kv.ParseTime(e.At)
	}
	return at, err
}

// errOtherData reports that a checkpoint is of data that a restore has replaced.
var errOtherData = errors.New("the checkpoint is of other data")

// knownState is a state from which others can be computed.
type knownState struct {
	seq  uint64 // number of its last entry, for a checkpoint at least
	load func() (*pastState, error)
}

// stateAt returns the state that decided about the permissions of a user after an entry.
func stateAt(db *DB, seq uint64, user Account) (*pastState, error) {
	var first error
	failed := map[bool]bool{} // by direction, true for forwards; a more distant state needs the same entries, and more
	for _, known := range knownStates(db, seq, user) {
		s, err := known.load()
		if err == nil && !failed[s.seq <= seq] {
			forwards := s.seq <= seq
			if err = s.moveTo(db, seq); err == nil {
				return s, nil
			}
			failed[forwards] = true
		}
		if first == nil && !errors.Is(err, errOtherData) {
			first = err
		}
		if len(failed) == 2 {
			break
		}
	}

	return nil, cmp.Or(first, errors.New("no state of the policy is known"))
}

// knownStates returns the known states, the nearest one first.
func knownStates(db *DB, seq uint64, user Account) []knownState {
	all := []knownState{{db.LogHead().Seq, func() (s *pastState, err error) {
		err = db.View(System, func(tx *Tx) error {
			s, err = presentState(tx, user)
			return err
		})
		return s, err
	}}}
	for _, segment := range db.LogSegments() {
		if segment.Err == nil && !user.App { // checkpoints do not have app users, who can be a million
			all = append(all, knownState{segment.Last + 1, func() (*pastState, error) {
				return checkpointState(db, segment, user)
			}})
		}
	}

	distance := func(k knownState) uint64 { return max(k.seq, seq) - min(k.seq, seq) }
	sort.SliceStable(all, func(i, j int) bool { return distance(all[i]) < distance(all[j]) })
	return all
}

// checkpointState returns the state at the checkpoint of a segment.
func checkpointState(db *DB, segment audit.Info, user Account) (*pastState, error) {
	text, err := db.LogCheckpoint(segment.First)
	if err != nil {
		return nil, err
	}

	var c LogCheckpoint
	if text == nil || json.Unmarshal(text, &c) != nil {
		return nil, fmt.Errorf("%s has no valid checkpoint", segment.Path)
	}
	// After a restore, the entry with its number can be another one.
	err = errOtherData
	if c.Seq <= db.LogHead().Seq {
		err = eachEntry(db, c.Seq, c.Seq, func(row audit.Row) error {
			head, err := audit.HeadOf(row.Text)
			if err == nil && head.Generation != segment.Head.Generation {
				err = errOtherData
			}
			return err
		})
	}
	if err != nil {
		return nil, err
	}

	return c.state(user)
}

// moveTo changes a state to that after another entry: forwards with the new values of the entries
// between, or backwards with the old ones.
func (s *pastState) moveTo(db *DB, seq uint64) error {
	back := seq < s.seq
	from, through := s.seq+1, seq
	if back {
		from, through = seq+1, s.seq
	}

	var entries []audit.Entry
	needed := s.needed()
	err := eachEntry(db, from, through, func(row audit.Row) error {
		if !slices.ContainsFunc(needed, func(part []byte) bool {
			return bytes.Contains(row.Text, part)
		}) {
			return nil
		}
		e, err := row.Decode()
		if err == nil && salvaged(&e) {
			err = fmt.Errorf("the data was salvaged before entry %d, and records may have been lost", e.Seq)
		}
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return err
	}
	if back {
		slices.Reverse(entries)
	}

	for _, e := range entries {
		for _, c := range e.Changes {
			if err := s.apply(c, back); err != nil {
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
		}
	}

	s.seq = seq
	return nil
}

// salvaged reports whether an entry is the first one after a salvage.
func salvaged(e *audit.Entry) bool {
	var details struct {
		Salvaged bool `json:"salvaged"`
	}
	return e.Action == "restore" && json.Unmarshal(e.Details, &details) == nil && details.Salvaged
}

// pastPage and pastBytes limit the entries that are read at once.
const (
	pastPage  = 512
	pastBytes = 4 << 20
)

// eachEntry calls fn for the entries from a number through another, in ascending order. An entry
// that cannot be read is an error; damage elsewhere is not.
func eachEntry(db *DB, from, through uint64, fn func(audit.Row) error) error {
	for next := from; next <= through; {
		rows, err := readEntries(db, next, int(min(through-next+1, pastPage)))
		for _, row := range rows {
			if row.Seq != next {
				break
			}
			if err := fn(row); err != nil {
				return err
			}
			next++
		}
		if len(rows) == 0 || rows[0].Seq >= next {
			return cmp.Or(err, fmt.Errorf("entry %d of the change log is missing", next))
		}
	}
	return nil
}

// readEntries is DB.ReadLog, but reads data.db first: a damaged segment does not matter there.
func readEntries(db *DB, from uint64, limit int) (rows []audit.Row, err error) {
	size := 0
	err = db.View(System, func(tx *Tx) error {
		return tx.LogRows(from, func(row audit.Row) bool {
			if len(rows) == 0 && row.Seq != from {
				return false // it is in a segment
			}
			rows = append(rows, audit.Row{Seq: row.Seq, Text: bytes.Clone(row.Text)})
			size += len(row.Text)
			return len(rows) < limit && size < pastBytes
		})
	})
	if len(rows) > 0 || err != nil {
		return rows, err
	}

	return db.ReadLog(from, limit)
}
