package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"filippo.io/age"

	"reeve/store"
	"reeve/store/copies"
	"reeve/store/errs"
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

// moment returns the moment that --at or --before names; the latest one for none.
func (p *program) moment() (m copies.Moment, err error) {
	at := p.text("at")
	if m.Before, err = p.flags.GetUint64("before"); err != nil {
		return m, err
	}
	switch {
	case p.flags.Changed("before") && at != "":
		return m, errors.New("--at and --before name two moments: give one of them")
	case p.flags.Changed("before") && m.Before == 0:
		return m, errors.New("--before must be the number of an entry of the change log, from 1")
	case at == "":
		return m, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04"} {
		if m.At, err = time.ParseInLocation(layout, at, time.Local); err == nil {
			return m, nil
		}
	}
	return m, fmt.Errorf("--at must be a time like 2026-11-22T14:03:07Z or, in the time zone of this machine, \"2026-11-22 14:03:07\"")
}

// chooseCopy returns the copy from which a moment can be restored, of those that the identities open
// and that --copy names, and all that they open.
func (p *program) chooseCopy(ctx context.Context, target copies.Target, moment copies.Moment, identities []age.Identity) (m *copies.Manifest, all []*copies.Manifest, err error) {
	if len(identities) == 0 {
		return nil, nil, errors.New("copies are encrypted: name the file with the identity (AGE-SECRET-KEY-…) with --identity FILE")
	}
	all, others, err := copies.List(ctx, target, identities)
	if err != nil {
		return nil, nil, err
	}
	wanted := p.text("copy")
	named := slices.DeleteFunc(slices.Clone(all), func(m *copies.Manifest) bool {
		return wanted != "" && !strings.HasSuffix(m.Name(), wanted) && !strings.HasPrefix(m.Name(), wanted+"/")
	})
	for _, m := range named {
		if m.Instance != named[0].Instance {
			return nil, nil, fmt.Errorf("the target has copies of several installations, such as %s and %s: name one of them, or a copy, with --copy",
				named[0].Instance, m.Instance)
		}
	}
	if len(named) > 0 {
		if m, err = moment.Base(named); err == nil && others > 0 && wanted == "" {
			err = p.warnNewer(ctx, target, all[0])
		}
		if err == nil && wanted == "" {
			err = copies.OneLine(ctx, target, m, all, identities)
		}
		return m, all, err
	}
	switch {
	case wanted != "" && others == 0:
		return nil, nil, fmt.Errorf("there is no copy %s that this identity opens; `reeve backup list` shows the names", wanted)
	case others > 0:
		return nil, nil, fmt.Errorf("this identity opens none of the copies, %d: they are for another recipient, or damaged", others)
	}
	return nil, nil, errors.New("there are no copies at this target")
}

// warnNewer says that the newest copy of an installation is newer than the newest that can be opened.
func (p *program) warnNewer(ctx context.Context, target copies.Target, newest *copies.Manifest) error {
	names, err := copies.Names(ctx, target, nil)
	for _, c := range names {
		if c.Time.After(newest.Time) && strings.HasPrefix(c.Name, newest.Instance+"/") {
			fmt.Fprintf(p.err, "the copy of %s, %s, is newer than those that this identity opens: it is for another recipient, damaged, or of a newer program\n",
				c.Time.Local().Format(time.DateTime), c.Name)
			break
		}
	}
	return err
}

// restoreCopy restores a moment from a target to a data directory, which no one else can take until it ends. With
// compared, a copy that differs from its manifest is an error.
func (p *program) restoreCopy(ctx context.Context, target copies.Target, dir string, identities []age.Identity, compared bool) (done kv.Restored, err error) {
	moment, err := p.moment()
	if err != nil {
		return done, err
	}
	m, all, err := p.chooseCopy(ctx, target, moment, identities)
	if err != nil {
		return done, err
	}
	contents, err := copies.Contents(ctx, target, m.Instance, identities)
	if err != nil {
		return done, err
	}
	commits := &copies.Commits{}
	var entries kv.Entries
	one := p.text("copy") != "" && strings.HasSuffix(m.Name(), p.text("copy")) // --copy names this one, not several
	switch wanted := !one || moment != (copies.Moment{}); {
	case !wanted || m.Stream == nil:
		if commits.Beyond, err = copies.Later(ctx, target, m); err != nil {
			return done, err
		}
	default:
		if commits, err = copies.CommitsAfter(ctx, target, m, all, moment, identities); err != nil {
			return done, err
		}
		entries = commits.Entries(ctx)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return done, err
	}
	release, err := kv.Take(dir)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	left, _ := filepath.Glob(filepath.Join(dir, kv.FetchedPattern)) // of a restore that was killed
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return done, err
		}
	}
	temp, err := os.MkdirTemp(dir, kv.FetchedPattern)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	path := filepath.Join(temp, "copy.age")
	if err := copies.Fetch(ctx, target, m, path); err != nil {
		return done, fmt.Errorf("nothing is changed: %w; another copy of `reeve backup list %s` may be whole: name it with --copy, and with --at the moment to which later commits are applied",
			err, p.args[0])
	}
	if err := p.mergeErased(ctx, target, dir, m.Instance, all, identities); err != nil {
		return done, err
	}
	options := p.restoreOptions(ctx)
	options.Taken = true
	if compared {
		options.Expected = &kv.Expected{Records: m.Records, LogHead: m.LogHead}
	}
	options.Backup = fmt.Sprintf("the copy %s at %s", m.Name(), p.args[0])
	done, err = store.RestoreMoment(dir, path, identities, contents, entries, options)
	if err != nil {
		return done, err
	}
	return done, p.showMoment(m, commits, done)
}

// restoreOptions returns the options of a restore that ends when ctx does, without a change.
func (p *program) restoreOptions(ctx context.Context) store.Options {
	options := p.storeOptions()
	options.Interrupted = ctx.Err
	options.ReturnRights, _ = p.flags.GetBool("return-rights") // which `backup check` lacks
	return options
}

// interruptible calls fn with a context that ends with an interrupt from the keyboard, or a request to end: what fn
// has begun is removed then. A second one ends the process at once.
func interruptible(fn func(ctx context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err := fn(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", err)
	}
	return err
}

// mergeErased adds the erasures that a target knows to the list of a data directory, so that the next start erases
// these people again.
func (p *program) mergeErased(ctx context.Context, target copies.Target, dir, instance string, all []*copies.Manifest, identities []age.Identity) error {
	lines, unread, err := copies.Erased(ctx, target, instance, all, identities, store.ErasedIn)
	if err != nil {
		return err
	}
	unreadable, err := store.MergeErased(dir, lines)
	if unread += unreadable; unread > 0 {
		p.log.Warn().Msgf("%s that may name erased people could not be read: these people may be back", errs.Count(unread, "object"))
	}
	return err
}

// showMoment prints what was restored.
func (p *program) showMoment(m *copies.Manifest, commits *copies.Commits, done kv.Restored) error {
	if p.json {
		return nil
	}
	fmt.Fprintln(p.out, "the copy is of", m.Time.Local().Format(time.DateTime))
	if m.Stream != nil && done.Applied.Number > m.Stream.Number {
		fmt.Fprintf(p.out, "applied since: %s, the last one of %s\n", errs.Count(int(done.Applied.Number-m.Stream.Number), "commit"),
			time.UnixMicro(done.Applied.Time).Local().Format(time.DateTime))
	}
	switch {
	case commits.Beyond.IsZero():
	case p.text("copy") != "" && p.text("at") == "" && !p.flags.Changed("before"):
		fmt.Fprintf(p.out, "commits until %s are stored, too, and are left out: they are applied with --at\n", commits.Beyond.Local().Format(time.DateTime))
	default:
		fmt.Fprintf(p.out, "commits until %s are stored, too, but this copy does not lead to them: an older one may, with --copy and --at\n", commits.Beyond.Local().Format(time.DateTime))
	}
	return nil
}
