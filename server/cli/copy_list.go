package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/tabwriter"
	"time"

	"filippo.io/age"

	"reeve/store/copies"
)

// listedCopy is a copy in a list.
type listedCopy struct {
	Target string     `json:"target,omitempty"` // empty in a directory that is no target
	File   string     `json:"file,omitempty"`   // path of a backup on this machine
	Name   string     `json:"name,omitempty"`   // name of a copy at a target
	Size   int64      `json:"size"`
	At     time.Time  `json:"at"`
	Proven bool       `json:"proven"`
	Fault  string     `json:"fault,omitempty"`
	Until  *time.Time `json:"until,omitempty"` // time up to which each moment since the copy can be restored
}

// listBackups lists the copies at the target, or the backups in the directory, in the argument; without one, at all
// targets and in backupDir.
func (p *program) listBackups() error {
	identities, err := p.identities()
	if err != nil {
		return err
	}
	if len(p.args) == 0 {
		return p.listAll(identities)
	}
	dir := p.args[0]
	if dir == localTarget {
		dir = filepath.Join(p.config.DataDir, backupDir)
	} else {
		to, err := p.openTarget(dir)
		if err != nil {
			return err
		}
		if to != nil {
			all, err := copiesAt(dir, to, identities)
			if err != nil {
				return err
			}
			return p.showCopies(all, "copies", len(identities) > 0)
		}
	}
	all, err := filesIn(dir)
	if err != nil && (p.args[0] != localTarget || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	if len(all) == 0 {
		return p.listNone("backups")
	}
	if p.json {
		return p.printJSON(all)
	}
	for _, b := range all {
		fmt.Fprintf(p.out, "%s  %10.1f MiB  %s\n", b.At.Local().Format(time.DateTime), float64(b.Size)/(1<<20), b.File)
	}
	return nil
}

// listAll lists all targets. One that can't be listed is an error after the others.
func (p *program) listAll(identities []age.Identity) error {
	all, err := filesIn(filepath.Join(p.config.DataDir, backupDir))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for i := range all {
		all[i].Target = localTarget
	}
	for _, name := range p.config.Targets() {
		t, _, targetErr := p.config.Target(name)
		if targetErr == nil && t.Kind() == "command" {
			fmt.Fprintf(p.err, "%s is a command, which can't be asked for a list\n", name)
			continue
		}
		var to copies.Target
		if targetErr == nil {
			to, targetErr = t.Open()
		}
		if targetErr == nil {
			var found []listedCopy
			found, targetErr = copiesAt(name, to, identities)
			all = append(all, found...)
		}
		if targetErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, targetErr))
		}
	}
	if len(all) == 0 && err != nil {
		return err
	}
	return errors.Join(p.showCopies(all, "backups", len(identities) > 0), err)
}

// copiesAt returns the copies at a target, the newest first.
func copiesAt(name string, to copies.Target, identities []age.Identity) (all []listedCopy, err error) {
	found, err := copies.Names(context.Background(), to, identities)
	for _, c := range found {
		one := listedCopy{Target: name, Name: c.Name, Size: c.Size, At: c.Time, Proven: c.Proven, Fault: c.Fault}
		if !c.Until.IsZero() {
			one.Until = &c.Until
		}
		all = append(all, one)
	}
	return all, err
}

// filesIn returns the backups in a directory, the newest first.
func filesIn(dir string) (all []listedCopy, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".tar") && !strings.HasSuffix(e.Name(), ".tar.age") {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, e.Name())
		_, unproven := os.Stat(path + proofSuffix)
		all = append(all, listedCopy{File: path, Size: info.Size(), At: info.ModTime().UTC(), Proven: unproven == nil})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].At.After(all[j].At) })
	return all, nil
}

// showCopies prints copies; read says whether an identity was given.
func (p *program) showCopies(all []listedCopy, what string, read bool) error {
	if len(all) == 0 {
		return p.listNone(what)
	}
	if p.json {
		return p.printJSON(all)
	}
	w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TARGET\tTIME\tSIZE\tPROVEN\tNAME")
	for _, c := range all {
		proven := "no"
		switch {
		case c.Fault != "":
			proven = "fault"
		case c.Proven:
			proven = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f MiB\t%s\t%s\n", c.Target, c.At.Local().Format(time.DateTime), float64(c.Size)/(1<<20), proven, c.Name+c.File)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	by := ""
	if !read {
		by = ", by the names of objects; --identity FILE may show more"
	}
	for _, c := range all {
		if c.Fault != "" {
			fmt.Fprintf(p.out, "%s: %s: %s\n", c.Target, c.Name, oneLine(c.Fault))
		}
	}
	for _, c := range all {
		if c.Until != nil {
			fmt.Fprintf(p.out, "%s: any moment from %s to %s can be restored%s\n", c.Target,
				c.At.Local().Format(time.DateTime), c.Until.Local().Format(time.DateTime), by)
		}
	}
	return nil
}
