package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"filippo.io/age"

	"reeve/store"
	"reeve/store/copies"
	"reeve/store/kv"
)

// openTarget returns the target that an argument names; nil if it names none: then it is a file. A
// file with the name of a target is named by its path.
func (p *program) openTarget(name string) (copies.Target, error) {
	t, ok, err := p.config.Target(name)
	if err != nil || !ok {
		return nil, err
	}
	if t.Kind() == "command" {
		return nil, fmt.Errorf("%s is a command, which can't be read: fetch the file that it has stored, and name that", name)
	}
	return t.Open()
}

// listTarget lists the copies at a target, without an identity.
func (p *program) listTarget(target copies.Target) error {
	all, err := copies.Names(context.Background(), target)
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(all)
	}
	w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tSIZE\tPROVEN\tNAME")
	for _, c := range all {
		proven := "no"
		if c.Proven {
			proven = "yes"
		}
		fmt.Fprintf(w, "%s\t%.1f MiB\t%s\t%s\n", c.Time.Local().Format(time.DateTime), float64(c.Size)/(1<<20), proven, c.Name)
	}
	return w.Flush()
}

// chooseCopy returns the copy that --copy names, or else the newest, of those that the identities
// open.
func (p *program) chooseCopy(target copies.Target, identities []age.Identity) (*copies.Manifest, error) {
	if len(identities) == 0 {
		return nil, errors.New("copies are encrypted: name the file with the identity (AGE-SECRET-KEY-…) with --identity FILE")
	}
	all, others, err := copies.List(context.Background(), target, identities)
	if err != nil {
		return nil, err
	}
	wanted := p.text("copy")
	all = slices.DeleteFunc(all, func(m *copies.Manifest) bool {
		name := strings.TrimSuffix(m.Data.Object, ".data")
		return wanted != "" && !strings.HasSuffix(name, wanted) && m.Instance != wanted
	})
	for _, m := range all {
		if m.Instance != all[0].Instance {
			return nil, fmt.Errorf("the target has copies of several installations, such as %s and %s: name one of them, or a copy, with --copy",
				all[0].Instance, m.Instance)
		}
	}
	if len(all) > 0 {
		return all[0], nil
	}
	switch {
	case wanted != "" && others == 0:
		return nil, fmt.Errorf("there is no copy %s that this identity opens; `reeve backup list` shows the names", wanted)
	case others > 0:
		return nil, fmt.Errorf("this identity opens none of the copies, %d: they are for another recipient, or damaged", others)
	}
	return nil, errors.New("there are no copies at this target")
}

// restoreCopy restores a copy from a target to a data directory.
func (p *program) restoreCopy(target copies.Target, dir string, identities []age.Identity) (done kv.Restored, m *copies.Manifest, err error) {
	if m, err = p.chooseCopy(target, identities); err != nil {
		return done, nil, err
	}
	ctx := context.Background()
	contents, err := copies.Contents(ctx, target, m.Instance, identities)
	if err != nil {
		return done, m, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return done, m, err
	}
	left, _ := filepath.Glob(filepath.Join(dir, "fetched-*")) // of a restore that was killed
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return done, m, err
		}
	}
	temp, err := os.MkdirTemp(dir, "fetched-*")
	if err != nil {
		return done, m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	path := filepath.Join(temp, "copy.age")
	if err := copies.Fetch(ctx, target, m, path); err != nil {
		return done, m, fmt.Errorf("nothing is changed: %w", err)
	}
	done, err = store.RestoreContents(dir, path, identities, contents, p.storeOptions())
	return done, m, err
}
