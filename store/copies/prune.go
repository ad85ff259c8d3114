package copies

import (
	"context"
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
		for _, suffix := range []string{listSuffix, proofSuffix, dataSuffix} { // the manifest first, so that no part of a copy is left
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
	return deleted, r.pruneObjects(ctx, s, named)
}

// pruneObjects deletes contents that no copy names, indexes of which nothing is left, and what
// interrupted copies have left.
func (r *Repository) pruneObjects(ctx context.Context, s *Scan, named map[blob.Digest]bool) error {
	used := map[string]bool{}
	for name, contents := range s.indexes {
		for _, c := range contents {
			if named[c.SHA256] {
				used[name], used[c.Stored.Object] = true, true
			}
		}
	}
	for name, o := range s.objects {
		copyName, suffix, isCopy := base(name)
		if isCopy && suffix == listSuffix || used[name] || strings.HasPrefix(name, r.start+startName) {
			continue
		}
		if _, there := s.objects[copyName+listSuffix]; isCopy && there {
			continue
		}
		if r.now(s).Sub(o.Modified) < unnamedFor {
			continue
		}
		if err := r.target.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// now returns the time by the clock of the target: that of its newest object, which a copy has just
// stored.
func (r *Repository) now(s *Scan) (newest time.Time) {
	for _, o := range s.objects {
		if o.Modified.After(newest) {
			newest = o.Modified
		}
	}
	return newest
}
