package copies

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"filippo.io/age"

	"reeve/store/kv"
	"reeve/store/stream"
)

// part is an object with a part of the commit stream.
type part struct {
	stream.Part
	object Object
}

// partOf returns what the name of an object says about the part of the commit stream that it has. It
// is named INSTANCE/GENERATION/START/stream/PART.
func partOf(o Object) (p part, ok bool) {
	names := strings.Split(o.Name, "/")
	if len(names) != 5 || names[3]+"/" != streamName {
		return p, false
	}
	p.object = o
	p.Part, ok = stream.ParseName(names[4])
	return p, ok
}

// sortParts sorts parts by their first entry; of those with the same one, the longest is first.
func sortParts(parts []part) {
	sort.Slice(parts, func(i, j int) bool {
		a, b := parts[i], parts[j]
		return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.First, b.First), cmp.Compare(b.Last, a.Last)) < 0
	})
}

// merge sorts parts and makes one of those that overlap or follow one another: there can be one for
// each second. Their objects are not known then.
func merge(parts []part) (out []part) {
	sortParts(parts)
	for _, p := range parts {
		p.object = Object{}
		if n := len(out); n > 0 && out[n-1].Epoch == p.Epoch && p.First <= out[n-1].Last+1 {
			if p.Last > out[n-1].Last {
				out[n-1].Last, out[n-1].Time = p.Last, p.Time
			}
			continue
		}
		out = append(out, p)
	}
	return out
}

// reach returns the last position to which sorted parts lead from another one without a gap, by their
// names.
func reach(parts []part, from stream.Head) (last uint64, at int64) {
	last, at = from.Number, from.Time
	for _, p := range parts {
		if p.Epoch == from.Epoch && p.First <= last+1 && p.Last > last {
			last, at = p.Last, p.Time
		}
	}
	return last, at
}

// Range is a range of time of which each moment can be restored.
type Range struct {
	From, To time.Time // times of the last commit in a copy, and of the last one after it
	base     *Copy
}

// ranges returns which moments can be restored from copies and sorted parts, the oldest first.
func ranges(all []*Copy, parts []part) (out []Range) {
	var reached stream.Head // end of the last range
	for _, c := range slices.Backward(all) {
		if c.Fault != nil || c.Manifest == nil || c.Manifest.Stream == nil {
			continue
		}
		from := *c.Manifest.Stream
		if from.Epoch == reached.Epoch && from.Number <= reached.Number {
			continue
		}
		reached = from
		reached.Number, reached.Time = reach(parts, from)
		out = append(out, Range{timeOfHead(from), timeOfHead(reached), c})
	}
	return out
}

func timeOfHead(h stream.Head) time.Time { return time.UnixMicro(h.Time).UTC() }

// Moment is what is to be restored from copies and the commit stream: the state at a time, that before
// an entry of the change log, or the latest one.
type Moment struct {
	At     time.Time // zero for the latest state
	Before uint64    // number of the entry; 0 for the time
}

func (m Moment) latest() bool { return m.At.IsZero() && m.Before == 0 }

// follows reports whether a commit is after the moment.
func (m Moment) follows(e *stream.Entry) bool {
	if m.Before > 0 {
		return kv.LastLogged(e) >= m.Before
	}
	return !m.latest() && e.Time > m.At.UnixMicro()
}

// Base returns the copy from which a moment can be restored: the newest one before it. The copies are
// those of List.
func (m Moment) Base(all []*Manifest) (*Manifest, error) {
	if len(all) == 0 {
		return nil, errors.New("there are no copies at this target")
	}
	before := all
	if !m.At.IsZero() {
		before = slices.DeleteFunc(slices.Clone(all), func(c *Manifest) bool {
			return c.Stream == nil && c.Time.After(m.At) || c.Stream != nil && timeOfHead(*c.Stream).After(m.At)
		})
	}
	if err := ofOneServer(before); err != nil {
		return nil, err
	}
	if m.latest() {
		return all[0], nil
	}
	what := clock(m.At)
	if m.Before > 0 {
		what = fmt.Sprintf("entry %d of the change log", m.Before)
	}
	for _, c := range all {
		if c.Stream == nil {
			continue
		}
		earlier := !timeOfHead(*c.Stream).After(m.At)
		if m.Before > 0 {
			earlier = c.LogHead == nil || c.LogHead.Seq < m.Before
			if now := all[0].LogHead; now != nil && c.LogHead != nil && now.Generation != c.LogHead.Generation {
				return nil, fmt.Errorf("%s is not after a copy made since the last restore: add --copy %s, or an earlier one", what, c.Name())
			}
		}
		if earlier {
			return c, nil
		}
	}
	return nil, fmt.Errorf("there is no copy from before %s that the commit stream continues: the oldest copy is of %s", what, clock(all[len(all)-1].Time))
}

func clock(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// Commits are the commits after a copy, up to a moment.
type Commits struct {
	target     Target
	identities []age.Identity
	moment     Moment
	parts      []part      // parts of the epoch of the copy
	base       uint64      // last entry of the change log in the copy
	later      []time.Time // times of copies, and of commits, that the commits after the copy may not lead to

	// What is known once all were read:
	Last   stream.Head // last commit before the moment
	logged uint64      // last entry of the change log in these commits; 0 for none
	Beyond time.Time   // time of the last commit that is stored but that no copy leads to; zero for none
}

// CommitsAfter returns the commits after a copy up to a moment. The other copies of the installation
// are those of List.
func CommitsAfter(ctx context.Context, target Target, m *Manifest, all []*Manifest, moment Moment, identities []age.Identity) (*Commits, error) {
	objects, err := target.List(ctx, m.Instance+"/")
	if err != nil {
		return nil, err
	}
	c := &Commits{target: target, identities: identities, moment: moment}
	if m.LogHead != nil {
		c.base = m.LogHead.Seq
	}
	for _, o := range objects {
		p, ok := partOf(o)
		switch at := time.UnixMicro(p.Time).UTC(); {
		case ok && p.Epoch == m.Stream.Epoch:
			c.parts = append(c.parts, p)
		case ok && at.After(m.Time) && !m.hasLeft(p.Epoch, p.Last):
			c.later = append(c.later, at)
		}
	}
	sortParts(c.parts)
	last, _ := reach(c.parts, *m.Stream)
	for _, other := range all {
		if s := other.Stream; other.Instance == m.Instance && other.Time.After(m.Time) && (s == nil || !m.hasLeft(s.Epoch, s.Number)) && (s == nil || s.Epoch != m.Stream.Epoch || s.Number > last) {
			c.later = append(c.later, other.Time)
		}
	}
	sort.Slice(c.later, func(i, j int) bool { return c.later[i].Before(c.later[j]) })
	return c, nil
}

// Later returns the time of the last commit that is stored after a copy which no commit continues; zero
// for none.
func Later(ctx context.Context, target Target, m *Manifest) (last time.Time, err error) {
	objects, err := target.List(ctx, m.Instance+"/")
	for _, o := range objects {
		if p, ok := partOf(o); ok {
			if at := time.UnixMicro(p.Time).UTC(); at.After(m.Time) && at.After(last) && !m.hasLeft(p.Epoch, p.Last) {
				last = at
			}
		}
	}
	return last, err
}

// Entries yields the commits, see kv.Entries. What is missing before the moment is an error.
func (c *Commits) Entries(ctx context.Context) kv.Entries {
	return func(from stream.Head) iter.Seq2[*stream.Entry, error] {
		return func(yield func(*stream.Entry, error) bool) {
			c.Last, c.logged = from, c.base
			passed := false
			after := func(e *stream.Entry) bool {
				passed = passed || c.moment.follows(e)
				return passed
			}
			for e, err := range follow(ctx, c.target, c.parts, from, after, c.identities) {
				if err != nil {
					if err = c.reached(err); err != nil {
						yield(nil, err)
					}
					return
				}
				if !yield(e, nil) {
					return
				}
				c.Last = e.Head()
				c.logged = max(c.logged, kv.LastLogged(e))
			}
			if passed {
				return
			}
			if err := c.complete(); err != nil {
				yield(nil, err)
			}
		}
	}
}

// reached returns nil for an error of reading the commits after the last one if the moment is not after that, and
// otherwise the error with the moment that can be restored.
func (c *Commits) reached(err error) error {
	last := timeOfHead(c.Last)
	switch {
	case errors.Is(err, errFork) || errors.Is(err, context.Canceled):
		return err
	case c.moment.Before == 0 && !c.moment.latest() && !c.moment.At.After(last):
		return nil
	}
	return fmt.Errorf("%w; the commits before it lead to %s: name this moment with --at", err, clock(last))
}

// complete returns an error if there may be commits between the last one and the moment.
func (c *Commits) complete() error {
	last, reached := c.Last, timeOfHead(c.Last)
	at := clock(reached)
	if c.moment.Before > 0 {
		return fmt.Errorf("entry %d of the change log is in none of the commits that are stored: these end with commit %d, of %s, and entry %d",
			c.moment.Before, last.Number, at, c.logged)
	}
	if !c.moment.latest() && !c.moment.At.After(reached) {
		return nil
	}
	for _, p := range c.parts {
		if p.First > last.Number+1 {
			return fmt.Errorf("the commits from %d to %d are not stored: the latest moment before them is %s", last.Number+1, p.First-1, at)
		}
	}
	for _, later := range c.later {
		switch {
		case !later.After(reached):
		case c.moment.latest():
			c.Beyond = later
		default:
			return fmt.Errorf("commits between %s and %s may not be stored: name one of these moments, or a copy with --copy", at, clock(later))
		}
	}
	return nil
}

// follow yields the entries that follow a position, until one for which after is true, from sorted parts of
// its epoch. Parts may overlap:
// whole segments replace shorter ones, and a server stores its last segment again after a start. What
// can't be read is taken from another part that has it. If entries of two parts with one number
// differ, two servers have gone on from one state: that is an error, because nothing says which of
// them is meant. Without after, any damage is an error.
func follow(ctx context.Context, target Target, parts []part, from stream.Head, after func(*stream.Entry) bool, identities []age.Identity) iter.Seq2[*stream.Entry, error] {
	return func(yield func(*stream.Entry, error) bool) {
		head, ended := from, false
		var hashes []uint64         // beginnings of the hashes of the entries, in order
		read := map[string]uint64{} // number of the last entry that was read from each start
		var failed error
		for _, p := range parts {
			start := startOf(p.object.Name)
			if p.First > head.Number+1 || p.Last <= max(read[start], from.Number) || ended && p.First > head.Number {
				continue
			}
			for e, err := range entriesIn(ctx, target, p, identities) {
				if err == nil && e.Number <= from.Number {
					continue
				}
				if err == nil && e.Number == head.Number+1 {
					err = e.Follows(head)
				}
				if err != nil {
					failed = partError{p.object, err}
					break
				}
				if e.Number > head.Number && (ended || after != nil && after(e)) {
					ended = true // what is left is only compared
					break
				}
				at := e.Head()
				beginning := binary.BigEndian.Uint64(at.Hash[:])
				read[start] = e.Number
				if e.Number <= head.Number {
					if hashes[e.Number-from.Number-1] != beginning {
						yield(nil, fmt.Errorf("%w from commit %d, and nothing says which of them is meant: name a later copy", errFork, e.Number-1))
						return
					}
					continue
				}
				head, hashes = at, append(hashes, beginning)
				if !yield(e, nil) {
					return
				}
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
		}
		if failed != nil && (after == nil || !ended && lost(parts, head)) {
			yield(nil, failed)
		}
	}
}

// lost reports whether a part should have had the commit after a position.
func lost(parts []part, head stream.Head) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.First <= head.Number+1 && p.Last > head.Number })
}

// entriesIn yields the entries of a part. They must be those that its name says.
func entriesIn(ctx context.Context, target Target, p part, identities []age.Identity) iter.Seq2[*stream.Entry, error] {
	return func(yield func(*stream.Entry, error) bool) {
		in, err := target.Get(ctx, p.object.Name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close() // read only: nothing can be lost
		r, err := stream.NewReader(in, identities)
		if err != nil {
			yield(nil, err)
			return
		}
		for number := p.First; number <= p.Last; number++ {
			e, err := r.Next()
			switch {
			case err == io.EOF:
				err = stream.ErrCutOff
			case err == nil && (e.Number != number || e.Epoch != p.Epoch):
				err = fmt.Errorf("it has commit %d, not %d", e.Number, number)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if _, err := r.Next(); err != io.EOF {
			yield(nil, errors.New("it has more than its name says"))
		}
	}
}
