package copies

import (
	"context"
	"slices"
	"strings"
	"time"

	"reeve/store/blob"
)

// unnamedFor is how long an object stays that nothing names: it may be of a copy that is being made.
const unnamedFor = 24 * time.Hour

// Prune deletes copies that are not kept, and then what no copy names. It returns how many copies it
// has deleted. While another server stores copies, or a manifest cannot be read, nothing is deleted
// that these may need.
func (r *Repository) Prune(ctx context.Context, s *Scan, keep Keep, zone *time.Location) (deleted int, err error) {
	if r.options.NoDelete || !s.Other.IsZero() {
		return 0, nil
	}
	var times []time.Time
	var sound []*Copy // a damaged copy takes the place of no other
	for _, c := range s.Copies {
		if c.Fault == nil {
			times, sound = append(times, c.Time), append(sound, c)
		}
	}
	kept := map[*Copy]bool{}
	for i, stays := range keep.choose(times, zone) {
		kept[sound[i]] = stays
	}
	var own []*Copy // copies of this generation, which those of another server, such as a rehearsal of a restore, must not replace
	times = times[:0]
	for _, c := range sound {
		if !c.Previous {
			times, own = append(times, c.Time), append(own, c)
		}
	}
	for i, stays := range keep.choose(times, zone) {
		kept[own[i]] = kept[own[i]] || stays
	}
	past := r.window(s, own, keep.StreamDays)
	for _, c := range past.unknown {
		kept[c] = true
	}
	if past.base != nil {
		kept[past.base] = true
	}
	r.ship.mu.Lock()
	readable := r.ship.sound(s.parts)
	r.ship.mu.Unlock()
	for _, r := range ranges(s.Copies, readable) { // with which later commits begin
		if past.base != nil && slices.Index(s.Copies, r.base) < slices.Index(s.Copies, past.base) || past.base == nil && past.streamed {
			kept[r.base] = true
		}
	}

	named, proven := map[blob.Digest]bool{}, false
	for _, c := range s.Copies {
		newest := !proven && (c.Proof != nil || c.Fault != nil) // the newest proven copy, and damaged ones after it, stay in any case
		proven = proven || c.Proof != nil
		if kept[c] || newest {
			if !s.complete {
				continue
			}
			m, err := r.manifest(ctx, c.Name, r.server)
			if err != nil {
				return deleted, err
			}
			for _, d := range m.Contents {
				named[d] = true
			}
			continue
		}
		delete(r.known, c.Name)                                                              // also if an error hides that it was deleted
		for _, suffix := range []string{listSuffix, proofSuffix, erasedSuffix, dataSuffix} { // the manifest first, so that no part of a copy is left
			if err := r.target.Delete(ctx, c.Name+suffix); err != nil {
				return deleted, err
			}
			delete(s.objects, c.Name+suffix)
		}
		deleted++
	}
	if !s.complete {
		return deleted, nil
	}
	if err := r.pruneObjects(ctx, s, named, past); err != nil {
		return deleted, err
	}
	return deleted, r.pruneParts(ctx, s, past)
}

// window is the time of which each moment can be restored.
type window struct {
	base     *Copy     // newest copy from before its beginning; nil for none
	unknown  []*Copy   // newer copies, of which it is not known whether commits continue them
	from     time.Time // time, by the clock of the target, since which what is stored belongs to it; zero for all
	streamed bool      // whether commits continue a copy
}

// window returns the time of which each moment can be restored: it begins with the newest copy that is
// older than so many days and that commits continue. The copies, those of this generation, are sorted, the
// newest first.
func (r *Repository) window(s *Scan, sound []*Copy, days int) (w window) {
	begin := r.now().AddDate(0, 0, -days)
	w.from = begin
	for _, c := range sound {
		if c.Manifest == nil {
			if days > 0 {
				w.unknown = append(w.unknown, c)
			}
			continue
		}
		if c.Manifest.Stream == nil {
			continue
		}
		stored := s.objects[c.Name+listSuffix].Modified
		if stored.Before(begin) {
			return window{c, w.unknown, stored.Add(-unnamedFor), true} // commits since the snapshot were stored while the copy was
		}
		w.from, w.streamed = time.Time{}, true
	}
	return w
}

// pruneParts deletes the parts of the commit stream from before the window.
func (r *Repository) pruneParts(ctx context.Context, s *Scan, w window) error {
	var old, left []part
	for _, p := range s.parts {
		if p.object.Modified.Before(w.from) && (w.base == nil || p.Epoch != w.base.Manifest.Stream.Epoch || p.Last <= w.base.Manifest.Stream.Number) {
			old = append(old, p)
		} else {
			left = append(left, p)
		}
	}
	r.ship.mu.Lock()
	r.ship.had = hourly(left)
	r.ship.mu.Unlock()
	for _, p := range old {
		if err := r.target.Delete(ctx, p.object.Name); err != nil {
			return err
		}
	}
	return nil
}

// pruneObjects deletes contents that no copy and no commit in the window names, indexes of which
// nothing is left, and what interrupted copies have left.
func (r *Repository) pruneObjects(ctx context.Context, s *Scan, named map[blob.Digest]bool, w window) error {
	for name := range r.doom(s, named, w) {
		if err := r.target.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// doom returns the objects to delete, of which Settle names none until the next Scan.
func (r *Repository) doom(s *Scan, named map[blob.Digest]bool, w window) map[string]bool {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	used, now := map[string]bool{}, r.now()
	for name, contents := range s.indexes {
		shipped := w.streamed && !s.objects[name].Modified.Before(w.from)
		for _, c := range contents {
			// What the records name is part of the next copy: the first one may take longer than unnamedFor.
			if _, again := r.ship.named[c.SHA256]; again || shipped || named[c.SHA256] || s.contents[c.SHA256].Stored.Object == c.Stored.Object && r.db.HasBlob(c.SHA256) {
				used[name], used[c.Stored.Object] = true, true
			}
		}
	}
	doomed := map[string]bool{}
	for name, o := range s.objects {
		copyName, suffix, isCopy := base(name)
		_, whole := s.objects[copyName+listSuffix]
		_, isPart := partOf(o)
		switch {
		case isCopy && (whole || suffix == listSuffix), isPart, used[name], isList(name), strings.HasPrefix(name, r.start+startName):
		case now.Sub(o.Modified) < unnamedFor:
		default:
			doomed[name] = true
		}
	}
	r.ship.doomed = doomed
	return doomed
}

// longestPause is the longest time without this server that counts as age: after a longer one, the clock may be
// wrong.
const longestPause = 48 * time.Hour

// now returns the time from which the age of objects counts, by the clock of the target: that of the start object
// and the time since, but at most longestPause more than the newest object before it. So a clock that was wrong
// once does not make everything old.
func (r *Repository) now() time.Time {
	passed := time.Since(r.opened)
	now := r.began.Add(passed)
	if known := r.before.Add(passed + longestPause); !r.before.IsZero() && known.Before(now) {
		return known
	}
	return now
}
