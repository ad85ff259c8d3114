package copies

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	"filippo.io/age"
)

// Named is a copy as a list shows it.
type Named struct {
	Name   string // name of the copy, as in its manifest
	Time   time.Time
	Size   int64 // encrypted bytes of the records
	Proven bool
	Fault  string    // damage, or reason for which the identities do not open it; empty for none, and without an identity
	Until  time.Time // time up to which each moment since the copy can be restored; zero for none, or if an older one is named for them
}

// Names lists the copies at a target, the newest first. Without an identity, names alone say of which moments the
// commits are stored, so Until is only set where they leave no doubt.
func Names(ctx context.Context, target Target, identities []age.Identity) (all []Named, err error) {
	objects, err := target.List(ctx, "")
	if err != nil {
		return nil, err
	}
	there := map[string]Object{}
	var parts []part
	for _, o := range objects {
		there[o.Name] = o
		if p, ok := partOf(o); ok {
			parts = append(parts, p)
		}
	}
	sortParts(parts)
	installations := map[string][]*Copy{}
	for _, o := range objects {
		name, suffix, ok := base(o.Name)
		at, timed := timeOf(name)
		if !ok || !timed || suffix != listSuffix {
			continue
		}
		c := &Copy{Name: name, Time: at, Size: there[name+dataSuffix].Size}
		if len(identities) > 0 {
			if err := c.read(ctx, target, there, identities); err != nil {
				return nil, err
			}
		}
		installations[instanceOf(name)] = append(installations[instanceOf(name)], c)
	}
	for _, of := range installations {
		sortCopies(of)
		until := map[*Copy]time.Time{}
		if len(identities) > 0 {
			for _, r := range ranges(of, parts) {
				until[r.base] = r.To
			}
		} else {
			untilByNames(of, parts, until)
		}
		for _, c := range of {
			_, proven := there[c.Name+proofSuffix]
			n := Named{Name: c.Name, Time: c.Time, Size: c.Size, Proven: proven, Until: until[c]}
			if c.Fault != nil {
				n.Fault = c.Fault.Error()
			}
			all = append(all, n)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Time.After(all[j].Time) })
	return all, nil
}

// read reads the manifest of a copy, and looks whether its records are there.
func (c *Copy) read(ctx context.Context, target Target, there map[string]Object, identities []age.Identity) error {
	m, err := readManifest(ctx, target, c.Name, identities)
	switch {
	case err == nil:
		c.Manifest = m
		c.Fault = c.incomplete(there)
	case errors.Is(err, errOtherKey):
		c.Fault = errors.New("it is for another recipient")
	case isDamage(err) || errors.Is(err, errNewer):
		c.Fault = err
	default:
		return err
	}
	return nil
}

// untilByNames sets the end of the moments since a copy, by the names of parts: of the oldest one that was made when
// the first part of a chain was stored, or later.
func untilByNames(all []*Copy, parts []part, until map[*Copy]time.Time) {
	if len(all) == 0 {
		return
	}
	instance := instanceOf(all[0].Name)
	parts = slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return instanceOf(p.object.Name) != instance })
	var last part
	var since int64
	chain := func() {
		for _, c := range slices.Backward(all) {
			if at := c.Time.UnixMicro(); last.Last > 0 && at >= since && at <= last.Time {
				until[c] = time.UnixMicro(last.Time).UTC()
				return
			}
		}
	}
	for _, p := range parts {
		if p.Epoch != last.Epoch || p.First > last.Last+1 {
			chain()
			last, since = p, p.Time
		} else if p.Last > last.Last {
			last = p
		}
	}
	chain()
}

// instanceOf returns the name of the installation in the name of an object.
func instanceOf(name string) string {
	instance, _, _ := strings.Cut(name, "/")
	return instance
}
