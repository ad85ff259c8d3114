package kv

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"

	"reeve/store/audit"
	"reeve/store/disk"
	"reeve/store/errs"
)

// copyLog copies the change log: the segments as they are, and from data.db the newest entries that
// follow one another. They become a part of a new generation, as after a restore.
func (s *Salvaging) copyLog(bucket leafItem) error {
	if s.db.schema.LogEntry == nil {
		return nil
	}

	var rows []audit.Row
	var head audit.Head
	lost := 0
	hole := func(keyRange, error) { lost += len(rows); rows = nil }
	s.pages.bucket(bucket, func(e leafItem) {
		text, err := disk.Unframe(logBucket, e.key, e.value)
		if err != nil || len(e.key) != 8 {
			hole(keyRange{}, err)
			lost++
			return
		}
		row := audit.Row{Seq: binary.BigEndian.Uint64(e.key), Text: slices.Clone(text)}
		entry, err := row.Decode()
		if err != nil || len(rows) > 0 && (entry.Seq != head.Seq+1 || entry.Prev != head.Hash) {
			hole(keyRange{}, err)
		}
		if head, err = audit.HeadOf(row.Text); err == nil {
			rows = append(rows, row)
		}
	}, hole)
	if lost > 0 {
		s.Lost("%s of the change log", errs.Count(int(lost), "entry"))
	}
	if next := sequence(bucket); len(rows) > 0 && next > head.Seq {
		s.Lost("the entries of the change log from %d to %d", head.Seq+1, next)
	}

	s.logRows, s.logSequence = rows, sequence(bucket)
	return s.copySegments()
}

// copySegments copies the segments of the change log, damaged ones too: `reeve audit verify` names
// what is wrong with them.
func (s *Salvaging) copySegments() error {
	from, to := filepath.Join(s.dir, segmentsName), filepath.Join(s.to, segmentsName)
	if _, err := os.Stat(from); err != nil {
		return nil // there are none
	}
	if err := copySegments(from, to); err != nil {
		return err
	}

	log, _, err := audit.Open(to)
	if err != nil {
		return err
	}

	last := log.Head()
	if err := log.Close(); err != nil {
		return err
	}
	if last.Seq == 0 || len(s.logRows) > 0 && s.logRows[0].Seq <= last.Seq+1 {
		return nil
	}
	if len(s.logRows) == 0 && last.Seq >= s.logSequence {
		s.logSequence = last.Seq
		return nil
	}

	aside := to + "-before-salvage"
	s.Lost("entries of the change log: those before them are in %s; verify them with `reeve audit verify %s/*.db`", aside, aside)
	return os.Rename(to, aside)
}

// writeLog writes the entries that copyLog has found, with their totals.
func (s *Salvaging) writeLog(tx *Tx) error {
	if s.db.schema.LogEntry == nil {
		return nil
	}

	s.meta.Generation = s.db.newGeneration()
	var got totals
	last := s.logSequence
	for _, row := range s.logRows {
		key := idKey(ID(row.Seq))
		value := disk.Frame(logBucket, key, row.Text)
		if err := tx.put(logBucket, key, value); err != nil {
			return err
		}
		got.records++
		got.sum += uint64(disk.FrameSum(value))
		last = row.Seq
	}

	if err := writeTotals(tx, logBucket, got); err != nil {
		return err
	}

	return tx.bucket(logBucket).SetSequence(last)
}
