package copies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"
	"syscall"

	"filippo.io/age"

	"reeve/store/errs"
	"reeve/store/stream"
)

// Those who were erased must stay so after a restore of an earlier moment. Their list is stored beside each copy, as
// it was then; the commits since have what was added.

// erasures is the list of the people who were erased.
type erasures struct {
	Format int    `json:"format"`
	Lines  string `json:"lines"`
}

// isList reports whether an object is a list of erasures of an earlier version, which no copy has.
func isList(object string) bool {
	parts := strings.Split(object, "/")
	return len(parts) == 5 && parts[3]+"/" == erasedName
}

// readErased reads a list at the target, unless it was read or can't be.
func (r *Repository) readErased(ctx context.Context, name string) error {
	if r.lists[name] {
		return nil
	}
	read, err := r.erased.read(ctx, r.target, name, []age.Identity{r.server})
	r.lists[name] = read
	return err
}

// storeErased stores the list of erasures beside a copy unless it is empty, and returns the number of its lines. It has
// those of the lists at the target, too: the one of this server may be shorter, after a restore of a file.
func (w *writer) storeErased(ctx context.Context, name string) (lines int, err error) {
	if w.options.Erased == nil {
		return 0, nil
	}
	own, err := w.options.Erased()
	if err != nil {
		return 0, err
	}
	var list erased
	list.add(strings.Split(string(own), "\n"))
	list.add(w.erased.lines)
	if len(list.lines) == 0 {
		return 0, nil
	}
	_, err = w.storeJSON(ctx, name+erasedSuffix, erasures{formatNumber, strings.Join(list.lines, "\n") + "\n"})
	return len(list.lines), err
}

// proveErased reads the list beside a copy.
func (r *Repository) proveErased(ctx context.Context, m *Manifest) error {
	if m.Erased == 0 {
		return nil
	}
	var list erasures
	if err := r.readJSON(ctx, m.Name()+erasedSuffix, &list, r.server); err != nil {
		return err
	}
	if n := strings.Count(list.Lines, "\n"); n != m.Erased {
		return damage{fmt.Errorf("%s has %s, not %d", m.Name()+erasedSuffix, errs.Count(n, "line"), m.Erased)}
	}
	return nil
}

// erased is what a target says about the people who were erased.
type erased struct {
	lines []string
	known map[string]bool
}

func (e *erased) add(lines []string) {
	if e.known == nil {
		e.known = map[string]bool{}
	}
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !e.known[line] {
			e.known[line] = true
			e.lines = append(e.lines, line)
		}
	}
}

// read adds the lines of a list, and reports whether it could be read.
func (e *erased) read(ctx context.Context, target Target, name string, identities []age.Identity) (read bool, err error) {
	var list erasures
	err = readJSON(ctx, target, name, &list, identities)
	if isDamage(err) || errors.Is(err, errOtherKey) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EIO) || err == nil && list.Format > formatNumber {
		return false, nil
	}
	e.add(strings.Split(list.Lines, "\n"))
	return err == nil, err
}

// Erased returns the lines of the lists of erasures of an installation, and those that in finds in the commits that
// no list covers. all are the copies of List. unread is the number of objects, or gaps between commits, that may have
// others.
func Erased(ctx context.Context, target Target, instance string, all []*Manifest, identities []age.Identity, in func(*stream.Entry) ([]string, error)) (lines []string, unread int, err error) {
	objects, err := target.List(ctx, instance+"/")
	if err != nil {
		return nil, 0, err
	}
	sort.SliceStable(objects, func(i, j int) bool { return objects[i].Modified.Before(objects[j].Modified) })

	var e erased
	covered := map[string]uint64{} // by epoch, the last commit that a list covers
	listed := map[string]bool{}    // generations with a list that was read, which has what those before it have
	opened := map[string]bool{}    // copies
	var missing []*Manifest        // copies without their list
	for _, m := range all {
		generation := generationOf(m.Name())
		if m.Instance != instance {
			continue
		}
		opened[m.Name()] = true
		if m.Erased > 0 {
			read, err := e.read(ctx, target, m.Name()+erasedSuffix, identities)
			if err != nil {
				return nil, 0, err
			}
			if !read && !listed[generation] {
				missing = append(missing, m)
			}
			if !read {
				continue
			}
			listed[generation] = true
		}
		if m.Stream != nil {
			covered[m.Stream.Epoch] = max(covered[m.Stream.Epoch], m.Stream.Number)
		}
	}
	var parts []part
	for _, o := range objects {
		if p, ok := partOf(o); ok && p.Last > covered[p.Epoch] {
			parts = append(parts, p)
		}
		name, suffix, _ := base(o.Name)
		if !isList(o.Name) && (suffix != erasedSuffix || opened[name]) { // of an earlier version, or of a copy that can't be opened
			continue
		}
		read, err := e.read(ctx, target, o.Name, identities)
		if err != nil {
			return nil, 0, err
		}
		if !read && !listed[generationOf(o.Name)] {
			unread++
		}
	}

	sortParts(parts)
	sound, err := e.readCommits(ctx, target, parts, identities, in)
	if err != nil {
		return nil, 0, err
	}
	reached := map[string]uint64{} // by epoch, the last commit to which those that were read lead
	for _, p := range parts {
		if _, known := reached[p.Epoch]; !known {
			from, known := covered[p.Epoch]
			if !known {
				from = p.First - 1
			}
			reached[p.Epoch], _ = reach(sound, stream.Head{Epoch: p.Epoch, Number: from})
		}
	}
	for _, m := range missing {
		if m.Stream != nil {
			if _, known := covered[m.Stream.Epoch]; known && reached[m.Stream.Epoch] >= m.Stream.Number {
				continue
			}
		}
		unread++
	}
	for epoch, last := range reached {
		if slices.ContainsFunc(parts, func(p part) bool { return p.Epoch == epoch && p.Last > last }) {
			unread++
		}
	}
	return e.lines, unread, nil
}

// readCommits adds the lines in parts of the commit stream, and returns what could be read of them, sorted. Parts may
// overlap, and those of two servers that have gone on from one state differ.
func (e *erased) readCommits(ctx context.Context, target Target, parts []part, identities []age.Identity, in func(*stream.Entry) ([]string, error)) (sound []part, err error) {
	to := &pacedTarget{Target: target}
	for _, p := range parts {
		read := p
		read.Last = p.First - 1
		for entry, err := range entriesIn(ctx, to, p, identities) {
			var lines []string
			if err == nil {
				lines, err = in(entry)
			}
			if err != nil {
				break
			}
			e.add(lines)
			read.Last = entry.Number
		}
		if err := cmp.Or(to.err, ctx.Err()); err != nil {
			return nil, err
		}
		if read.Last >= read.First {
			sound = append(sound, read)
		}
	}
	sortParts(sound)
	return sound, nil
}
