package audit

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// Verifier checks a log entry by entry. It names the first entry that was altered, that is
// missing or that does not belong there. The zero value is ready to use.
//
// The log may begin with any number: what was before it, was removed by retention, and the hash
// that the first entry expects is taken as given. An attacker who can write the files can replace
// the newest entry, or all entries from one on; only known heads, which were kept elsewhere, reveal
// that.
type Verifier struct {
	known   map[uint64][]Head
	first   uint64 // 0 before the first entry
	entries uint64
	head    Head   // head after the last entry
	proved  bool   // whether a known head confirms the last entry
	where   string // place of the last entry
	source  string // the file, for errors
	doubt   *doubt
	err     error // the first; it stays
}

// doubt is that an entry does not expect the hash of the entry before it. One of the two was
// altered, and the entry after them tells which.
type doubt struct {
	before  Head // the entry before it
	where   string
	proved  bool // whether a known head confirms the entry before it
	expects Hash
}

// Expect adds a known head, which the log must contain: of the manifest of a backup, or of a line
// in the server's log. Call it before the entry is added. A head that is older than the log
// cannot be checked and is ignored.
func (v *Verifier) Expect(h Head) {
	if v.known == nil {
		v.known = map[uint64][]Head{}
	}
	if h.Seq > 0 {
		v.known[h.Seq] = append(v.known[h.Seq], h)
	}
}

// Add checks the next entry. After an error it returns the same error again.
func (v *Verifier) Add(row Row) error {
	_, err := v.add(row.Text, row.Seq, v.source)
	return err
}

// add checks a text, at a place that errors name. If seq is not 0, it must be its number.
func (v *Verifier) add(text []byte, seq uint64, where string) (Link, error) {
	if v.err != nil {
		return Link{}, v.err
	}
	var link Link
	err := json.Unmarshal(text, &link)
	return v.addDecoded(link, err, text, seq, where)
}

// addDecoded is add for a text whose Link has been decoded, with the error of that.
func (v *Verifier) addDecoded(link Link, err error, text []byte, seq uint64,
	where string) (Link, error) {
	if v.err != nil {
		return link, v.err
	}
	if v.doubt != nil {
		follows := err == nil && link.Seq == v.head.Seq+1
		return link, v.resolve(follows, link.Prev)
	}

	switch {
	case err != nil && seq == 0:
		return link, v.fail(where, "this is no entry: %v", err)
	case err != nil:
		return link, v.fail(where, "entry %d was altered: it cannot be read: %v", seq, err)
	case seq != 0 && link.Seq != seq:
		return link, v.fail(where, "entry %d was altered: it has the number %d", seq, link.Seq)
	case link.Seq == 0:
		return link, v.fail(where, "this is no entry: it has no number")
	}

	return link, v.follow(link, Head{link.Generation, link.Seq, sha256.Sum256(text)}, where)
}

// follow checks that an entry comes after the last one.
func (v *Verifier) follow(link Link, head Head, where string) error {
	last := v.head
	switch {
	case v.first == 0:
		if err := v.begin(link, where); err != nil {
			return err
		}
	case head.Seq == last.Seq:
		return v.fail(where, "entry %d occurs twice", head.Seq)
	case head.Seq < last.Seq:
		return v.fail(where, "entry %d is out of order: it follows entry %d", head.Seq, last.Seq)
	case head.Seq > last.Seq+1:
		return v.fail(where, "%s", missing(last.Seq+1, head.Seq-1))
	}

	proved, err := v.compare(head, where)
	if err != nil {
		return err
	}

	suspect := v.first != head.Seq && link.Prev != last.Hash
	if suspect {
		v.doubt = &doubt{last, v.where, v.proved, link.Prev}
	}

	v.head, v.where, v.proved = head, where, proved
	v.entries++
	if suspect && (proved || v.doubt.proved) {
		return v.resolve(false, Hash{})
	}

	return nil
}

// begin checks what the first entry says about the one before it.
func (v *Verifier) begin(link Link, where string) error {
	v.first = link.Seq
	if link.Seq == 1 && link.Prev != (Hash{}) {
		return v.fail(where, "entry 1 was altered: it expects an entry before it")
	}
	for _, known := range v.known[link.Seq-1] {
		if known.Hash != link.Prev {
			return v.fail(where,
				"entry %d expects the hash %s of the entry before it, but the known head %d has the hash %s", link.Seq, link.Prev, known.Seq, known.Hash)
		}
	}
	return nil
}

// compare checks an entry against the known heads of its number.
func (v *Verifier) compare(head Head, where string) (proved bool, err error) {
	for _, known := range v.known[head.Seq] {
		switch {
		case known.Hash == head.Hash &&
			(known.Generation == "" || known.Generation == head.Generation):
		case known.Generation != head.Generation:
			return false, v.fail(where,
				"entry %d is of the generation %s, the known head of %s: a restore or an attacker has replaced it", head.Seq, head.Generation, known.Generation)
		default:
			return false, v.fail(where,
				"entry %d or one before it was altered: its hash is %s, that of the known head is %s", head.Seq, head.Hash, known.Hash)
		}
		proved = true
	}
	return proved, nil
}

// resolve ends a doubt. follows reports whether there is a next entry, which expects the hash
// prev.
func (v *Verifier) resolve(follows bool, prev Hash) error {
	d, suspect := v.doubt, v.head.Seq
	mismatch := fmt.Sprintf("entry %d expects the hash %s, entry %d has the hash %s", suspect,
		d.expects, d.before.Seq, d.before.Hash)
	switch {
	case v.proved || follows && prev == v.head.Hash:
		return v.fail(d.where, "entry %d was altered (%s)", d.before.Seq, mismatch)
	case d.proved || follows:
		return v.fail(v.where, "entry %d was altered (%s)", suspect, mismatch)
	}
	return v.fail(d.where, "entry %d or entry %d was altered (%s)", d.before.Seq, suspect, mismatch)
}

// Finish ends the check: it returns an error if the log ends before a known head, and that of Add
// if it had one.
func (v *Verifier) Finish() error {
	if v.err == nil && v.doubt != nil {
		return v.resolve(false, Hash{})
	}
	if v.err != nil {
		return v.err
	}

	last := v.head.Seq
	for seq := range v.known {
		last = max(last, seq)
	}

	if last > v.head.Seq {
		return v.fail("", "%s: the log ends with entry %d, a known head is entry %d",
			missing(v.head.Seq+1, last), v.head.Seq, last)
	}

	return nil
}

// Altered is the error of a log that is not as it was written, unlike one that could not be read.
type Altered struct{ Err error }

func (a *Altered) Error() string { return a.Err.Error() }
func (a *Altered) Unwrap() error { return a.Err }

// fail records the first error. where may be empty.
func (v *Verifier) fail(where, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if where != "" {
		err = fmt.Errorf("%s: %w", where, err)
	}
	v.err = &Altered{err}
	return v.err
}

// missing is the message about entries that are missing.
func missing(first, last uint64) string {
	if first == last {
		return fmt.Sprintf("entry %d is missing", first)
	}
	return fmt.Sprintf("entries %d to %d are missing", first, last)
}

// Result describes the entries that were checked.
type Result struct {
	First   uint64 // number of the first entry; 0 if there were none
	Entries uint64 // number of entries
	Head    Head   // the last entry
}

// Result returns the first number, the number of entries, and the head, as checked so far.
func (v *Verifier) Result() Result { return Result{v.first, v.entries, v.head} }
