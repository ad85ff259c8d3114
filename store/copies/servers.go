package copies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"reeve/store/errs"
	"reeve/store/stream"
)

// Two servers can have the same data, after a move or a restore, and store copies at one target. A restore
// must not take those of one and leave out what the other has done.

// ofOneServer returns an error if another server, which has the same data, has stored copies or commits
// since the one with the newest copy began to: one that was started again after its data had moved, or one
// that went on while its data were restored elsewhere, for example. The copies are those of List.
func ofOneServer(all []*Manifest) error {
	if len(all) == 0 {
		return nil
	}
	newest := all[0].Name()
	lives, names := map[string]*life{}, []string{}
	for _, c := range all {
		start := strings.TrimSuffix(startOf(c.Name()), "/")
		for _, name := range []string{generationOf(c.Name()), start} {
			if lives[name] == nil {
				lives[name] = lifeOf(name, c)
				names = append(names, name)
			}
			lives[name].first = c.Time
		}
	}
	for _, name := range names {
		mine := generationOf(newest)
		switch generation := generationOf(name); {
		case name == mine, name != generation && generation != mine:
			continue
		case generation == mine: // the same data, maybe at another machine
			mine = strings.TrimSuffix(startOf(newest), "/")
			if processOf(name) == processOf(mine) || all[0].Nodes {
				continue // nodes take turns, by clocks that differ; etcd orders their commits
			}
		}
		if one, other := lives[mine], lives[name]; !one.precedes(other) && !other.precedes(one) {
			return fmt.Errorf("two servers have stored copies of this data at the same time, or the clock was wrong, %s %s, and %s %s: "+remedy,
				mine, one, name, other, mine, name)
		}
	}
	for i, c := range all[:len(all)-1] {
		next := all[i+1]
		if generationOf(c.Name()) != generationOf(newest) {
			break
		}
		if c.LogHead != nil && next.LogHead != nil && c.LogHead.Seq < next.LogHead.Seq && generationOf(next.Name()) == generationOf(c.Name()) {
			return fmt.Errorf("the copy of %s has fewer entries of the change log than that of %s, as if two servers had stored them, or the clock was wrong: "+remedy,
				clock(c.Time), clock(next.Time), strings.TrimSuffix(startOf(c.Name()), "/"), strings.TrimSuffix(startOf(next.Name()), "/"))
		}
	}
	return nil
}

// comparedAge is how old, at the time of the newest copy, the copies are from which OneLine reads the commits.
const comparedAge = 72 * time.Hour

// OneLine returns an error if the commits since the copy before m, which another start of a server has
// stored, do not lead to m: then two servers have gone on from the same data, and m lacks what the other one
// has done. The copies are those of List. What can't be read is left to CommitsAfter.
func OneLine(ctx context.Context, target Target, m *Manifest, all []*Manifest, identities []age.Identity) error {
	before := func(c *Manifest, starts ...string) bool {
		return c.Time.Before(m.Time) && m.Time.Sub(c.Time) < comparedAge && c.Stream != nil && m.Stream != nil && c.Stream.Epoch == m.Stream.Epoch && !slices.Contains(starts, startOf(c.Name()))
	}
	mine := startOf(m.Name())
	i := slices.IndexFunc(all, func(c *Manifest) bool { return before(c, mine) })
	if i < 0 {
		return nil
	}
	base := all[i]
	if j := slices.IndexFunc(all, func(c *Manifest) bool { return before(c, mine, startOf(base.Name())) }); j >= 0 {
		base = all[j] // of which both know
	}
	objects, err := target.List(ctx, m.Instance+"/")
	if err != nil {
		return err
	}
	var parts []part
	for _, o := range objects {
		if p, ok := partOf(o); ok && p.Epoch == m.Stream.Epoch && p.First <= m.Stream.Number {
			parts = append(parts, p)
		}
	}
	sortParts(parts)
	if _, err := lead(ctx, target, parts, *base.Stream, *m.Stream, identities); errors.Is(err, errFork) || errors.Is(err, errNotLed) {
		return fmt.Errorf("%w from the same data, one until %s and one until %s: "+remedy, errFork, clock(all[i].Time), clock(m.Time),
			strings.TrimSuffix(startOf(all[i].Name()), "/"), strings.TrimSuffix(startOf(m.Name()), "/"))
	}
	return nil
}

// remedy ends the refusal to choose one of two servers.
const remedy = "name the one to restore with the beginning of its copies' names: --copy %s or --copy %s"

// life is when a server, from one start or since one restore, has stored something.
type life struct {
	first, last time.Time // times of its copies
	commit      time.Time // time of the last commit that it has stored; zero for none
	entries     uint64    // entries of the change log in its newest copy
}

// lifeOf returns the life of a generation or start, whose newest copy is c.
func lifeOf(name string, c *Manifest) *life {
	l := &life{last: c.Time}
	if c.LogHead != nil {
		l.entries = c.LogHead.Seq
	}
	for start, at := range c.shipped {
		if strings.HasPrefix(start, name+"/") && at.After(l.commit) {
			l.commit = at
		}
	}
	return l
}

// precedes reports whether all of a life is before the first copy of another one.
func (l *life) precedes(other *life) bool {
	return l.last.Before(other.first) && l.commit.Before(other.first)
}

func (l *life) String() string {
	end := l.last
	if l.commit.After(end) {
		end = l.commit
	}
	return fmt.Sprintf("from %s to %s (%s of the change log in its newest copy)", clock(l.first), clock(end), errs.Count(int(l.entries), "entry"))
}

var (
	errFork   = errors.New("two servers have gone on")
	errNotLed = errors.New("they do not lead from one to the other")
)

// lead reads the commits in sorted parts that lead from one position to another one, and returns their number.
// errNotLed says that they lead elsewhere; an end with a zero hash is any commit with its number.
func lead(ctx context.Context, target Target, parts []part, from, to stream.Head, identities []age.Identity) (n int, err error) {
	for e, err := range follow(ctx, target, parts, from, nil, identities) {
		switch {
		case err != nil:
			return n, err
		case e.Number == to.Number && to.Hash != (stream.Hash{}) && e.Head().Hash != to.Hash:
			return n, errNotLed
		case e.Number <= to.Number:
			n++
		}
	}
	return n, nil
}
