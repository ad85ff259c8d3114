// Package audit stores the files of the change log, which is tamper-evident, and verifies it.
//
// An [Entry] is one record of the log; a [Row] is its number and its text, the JSON of the entry.
// The engine writes rows to data.db. From time to time it moves the oldest ones to a segment, an
// immutable file in data/audit/: it calls [Log.Write], and deletes the rows from data.db when that
// has returned. A [Log] reads the segments. A [Verifier] checks entries, wherever they come from.
// The package knows nothing about records, users and requests.
//
// # The chain
//
// Entries are numbered from 1 without gaps, and each contains, as prev, the SHA-256 of the exact
// text of the entry before it. So an entry cannot be changed, removed or inserted unless all
// entries after it are written again. An attacker who can write the files can do that; it is
// detected with a known head, the number and hash of an entry that was kept elsewhere, such as in
// the manifest of a backup or in the lines of the server's log.
//
// After a restore the numbers continue: the next entry has a new generation, and its prev is the
// hash of the last entry of the restored database. Entries of the old generation with the same
// numbers, which a segment may still have, must be moved away: Write refuses to continue them.
// Retention drops the oldest segments, so a log may begin with any number.
//
// # Verification by hand
//
// An export has one entry per line, exactly as it is stored. The hash of line 17 is in line 18:
//
//	sed -n 17p export.jsonl | tr -d '\n' | sha256sum
//	sed -n 18p export.jsonl | grep -o '"prev":"[0-9a-f]*"' | head -n 1
//
// # The files
//
//	<number of the first entry, 16 hex digits>.db  a segment, mode 0600
//	segment.new                                    a segment that is being written
//
// A segment is a bbolt file with these buckets. Numbers in keys are big-endian and have 8 bytes;
// values are framed (see disk.Frame).
//
//	_meta       "file"                           → description: format, first and last number, …
//	entry       number                           → text
//	term        term                             → postings
//	time        "data"                           → times of the entries
//	checkpoint  "data"                           → bytes of the caller; missing if there are none
//
// Entries are found by terms (see [ByActor]) and times. The postings of a term are the positions of
// its entries in the segment, from 0, as uvarints: the first, then the differences. The times are
// in Unix microseconds: the first as a uvarint, then the differences as varints. So a query is
// answered without looking at entries, and an entry costs one key of its own.
//
// # Invariants
//
// A segment has its name only when it is complete, durable and verified. It is never changed, only
// dropped. A read returns the stored text or an error: the pages and indexes of a segment are
// checked when it is first read, its entries whenever they are read. A damaged segment does not
// keep the others from being read; the error or warning names it.
//
// A reader that reads both data.db and a Log sees no gap if it reads them in this order. Newest
// first: a snapshot of data.db, then Log.Newest with before set to the lowest number seen; rows
// moved between the two are in both, and before leaves them out. Oldest first: Log.Oldest, then a
// snapshot of data.db from the next number on; if its first row has a higher number, rows were
// moved between the two, and the reader continues with Log.Oldest.
//
// # Example
//
//	log, warnings, err := audit.Open(filepath.Join(data, "audit"))
//	info, err := log.Write(rows, nil) // now the rows can be deleted from data.db
//	err = log.Newest(audit.Query{All: [][]string{{audit.ByActor("user", 7)}}}, 0, func(r audit.Row) bool { … })
//	dropped, blocked, err := log.Prune(now, 400*24*time.Hour, 180*24*time.Hour, 10<<30)
//	result, err := audit.VerifyFiles(paths, []audit.Head{known})
package audit
