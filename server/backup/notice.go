package backup

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"reeve/store"
	"reeve/store/errs"
)

// Owners are told by mail when a target has no proven copy within the limit, each week while that
// lasts, and when each target has one again. Their mails in the database say what they were told, so
// a restart tells nothing twice.

const (
	watchEvery = 5 * time.Minute
	settle     = time.Hour // after a start, in which a copy that was missed is made
)

// rule is what decides whether a copy is recent enough.
type rule struct {
	now, installed time.Time
	limit          time.Duration
}

func (b *Service) rule(tx *store.Tx) (rule, error) {
	r := rule{now: b.now(), limit: time.Duration(store.BackupProofHours.Get(tx)) * time.Hour}
	install, err := store.Installs.Get(tx, 1)
	if err == nil {
		r.installed = install.CreatedAt.Std()
	}
	return r, err
}

func (b *Service) readRule() (r rule, err error) {
	err = b.s.DB.View(store.System, func(tx *store.Tx) error {
		r, err = b.rule(tx)
		return err
	})
	return r, err
}

// unproven reports whether the target has no proven copy within the limit. A target that was not
// read since the start may have one.
func (w *worker) unproven(r rule) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	good := newestGood(w.copies, r.now)
	if good.IsZero() {
		return (w.listed || w.now.fault != nil) && r.now.Sub(r.installed) > r.limit
	}
	return r.now.Sub(good) > r.limit
}

// settled reports whether a missing proof is worth telling: the first attempt since the start has
// had time, and so has a target that may have a copy, but was not read yet. last is the time of the
// last copy to any target.
func (w *worker) settled(r rule, last time.Time) bool {
	wait := settle
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.now.attempts == 1 && w.now.phase != Waiting
	if first || newestGood(w.copies, r.now).IsZero() && r.now.Sub(last) <= r.limit {
		wait = max(settle, r.limit)
	}
	return r.now.Sub(w.made) > wait
}

// standing returns the notice that owners are to have got; "" while that can't be said. Without any
// target it is "", since copies were turned off in the configuration.
func (b *Service) standing() (purpose string, err error) {
	r, err := b.readRule()
	if err != nil {
		return "", err
	}
	last, err := b.s.DB.LastBackup()
	if err != nil {
		return "", err
	}
	known := true
	for _, w := range b.all() {
		if w.unproven(r) && w.settled(r, last.Std()) {
			return store.BackupUnproven, nil
		}
		known = known && !w.unproven(r) && !w.good().IsZero()
		purpose = store.BackupProven
	}
	if !known {
		return "", nil
	}
	return purpose, nil
}

// told is what was queued since the start, so that an owner whose mail was deleted does not get it
// again.
type told struct {
	purpose string
	at      map[store.ID]time.Time // times, by owner
}

// watch tells the owners about missing proofs until ctx ends.
func (b *Service) watch(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := b.tell(); err != nil {
			b.s.Failures.Report(b.s.Log, "backup notice", err, func(line *zerolog.Event) {
				line.Msg("owners could not be told about backups")
			})
		}
	}
}

// tell queues the notices that are due. Without a mail server, none is.
func (b *Service) tell() error {
	purpose, err := b.standing()
	if err != nil || purpose == "" {
		return err
	}
	if b.told.purpose != purpose {
		b.told = told{purpose, map[store.ID]time.Time{}}
	}

	var owners []store.ID
	now := b.now()
	err = b.s.DB.View(store.System, func(tx *store.Tx) (err error) {
		if b.MailsSent != nil && b.MailsSent(tx) {
			owners, err = store.BackupNoticesDue(tx, purpose, now)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range owners {
		at, before := b.told.at[id]
		if before && (purpose == store.BackupProven || now.Sub(at) < store.BackupNoticeAgain) {
			continue
		}
		err := b.s.DB.Update(store.System, func(tx *store.Tx) error { return store.QueueBackupNotice(tx, purpose, id) })
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
		b.told.at[id] = now
	}
	return nil
}

// mailTime is the layout of times in mails, which is the same in each language.
const mailTime = "2006-01-02 15:04 UTC"

// Unproven returns what a mail says about the targets without a proven copy within the limit; none if
// each has one. It names no cause: that can have what is not for mails.
func (b *Service) Unproven(tx *store.Tx) (all []errs.Message, err error) {
	r, err := b.rule(tx)
	if err != nil {
		return nil, err
	}
	for _, w := range b.all() {
		if w.unproven(r) {
			all = append(all, w.mailLine())
		}
	}
	return all, nil
}

func (w *worker) mailLine() errs.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	good, name := newestGood(w.copies, w.b.now()), errs.Say("%s", w.target.Name)
	if w.target.Name == LocalName {
		name = errs.Say("the data directory")
	}
	line := errs.Say("there is no proven copy at %s", name)
	if !good.IsZero() {
		line = errs.Say("the last proven copy at %s is of %s", name, good.UTC().Format(mailTime))
	}
	if w.now.failures > 0 {
		line = errs.Say("%s; the last attempt failed", line)
	}
	return line
}
