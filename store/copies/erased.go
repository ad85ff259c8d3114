package copies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sort"
	"strings"

	"filippo.io/age"
)

// erasures is the list of the people who were erased, as it is stored: a restore of an earlier moment
// erases them again.
type erasures struct {
	Format int    `json:"format"`
	Lines  string `json:"lines"`
}

// isList reports whether an object is a list of erasures.
func isList(object string) bool {
	parts := strings.Split(object, "/")
	return len(parts) == 5 && parts[3]+"/" == erasedName
}

// shipErased stores the list of erasures unless the target has it. It replaces those that this process
// has stored before.
func (r *Repository) shipErased(ctx context.Context) error {
	if r.options.Erased == nil {
		return nil
	}
	lines, err := r.options.Erased()
	if err != nil || len(lines) == 0 {
		return err
	}
	sum := sha256.Sum256(append([]byte(r.recipients), lines...))
	last := erasedName + hex.EncodeToString(sum[:16])
	r.ship.mu.Lock()
	there := slices.ContainsFunc(r.ship.lists, func(name string) bool { return strings.HasSuffix(name, last) })
	r.ship.mu.Unlock()
	if there {
		return nil
	}
	name := r.anotherStart() + last // an attempt that has failed may have left one
	if _, err := r.quietly().storeJSON(ctx, name, erasures{formatNumber, string(lines)}); err != nil {
		return err
	}
	r.ship.mu.Lock()
	before := r.ship.lists
	r.ship.lists = append(slices.Clone(before), name)
	r.ship.mu.Unlock()
	for _, name := range before {
		if r.options.NoDelete || !strings.HasPrefix(name, r.process) {
			continue
		}
		if err := r.target.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Erased returns the lines of the lists of erasures of an installation, the oldest list first, and how
// many lists could not be opened.
func Erased(ctx context.Context, target Target, instance string, identities []age.Identity) (lines []string, unread int, err error) {
	objects, err := target.List(ctx, instance+"/")
	if err != nil {
		return nil, 0, err
	}
	sort.SliceStable(objects, func(i, j int) bool { return objects[i].Modified.Before(objects[j].Modified) })
	known := map[string]bool{}
	for _, o := range objects {
		if !isList(o.Name) {
			continue
		}
		var list erasures
		err := readJSON(ctx, target, o.Name, &list, identities)
		if err == nil && list.Format > formatNumber || isDamage(err) || errors.Is(err, errOtherKey) {
			unread++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		for line := range strings.Lines(list.Lines) {
			if line = strings.TrimSpace(line); line != "" && !known[line] {
				known[line] = true
				lines = append(lines, line)
			}
		}
	}
	return lines, unread, nil
}
