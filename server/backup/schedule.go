package backup

import (
	"time"

	"reeve/store"
)

// schedule returns the settings, and the time of the installation.
func (w *worker) schedule() (hour int, hourly bool, installed time.Time, err error) {
	err = w.b.s.DB.View(store.System, func(tx *store.Tx) error {
		hour, hourly = store.BackupHour.Get(tx), store.BackupHourly.Get(tx) > 0 && w.target.Name != LocalName
		install, err := store.Installs.Get(tx, 1)
		if err == nil {
			installed = install.CreatedAt.Std()
		}
		return err
	})
	return hour, hourly, installed, err
}

// nextCopy returns the time of the next copy.
func (w *worker) nextCopy(begun time.Time) (next time.Time, err error) {
	hour, hourly, installed, err := w.schedule()
	if err != nil {
		return next, err
	}
	provable, proven := w.provable(), w.proven()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.cancelled {
		return after(w.now.begun, hour, hourly), nil
	}
	if n := w.now.failures; n > 0 {
		return w.now.begun.Add(min(retryMax, retryMin<<min(n-1, 10))), nil
	}
	switch c := newest(w.copies); {
	case c != nil:
		last := c.At.Std()
		if now := w.b.now(); last.After(now) { // the clock was ahead
			last = now
		}
		next = after(last, hour, hourly)
		if provable && c.State != Proven && c.At.Std().Before(w.made) && w.b.now().Sub(proven) > proofEvery {
			next = begun // the server ended before the proof, and only the process that has made a copy can prove it
		}
	case w.target.Name == LocalName:
		next = installed.Add(firstDelay)
	default:
		return begun, nil
	}
	if !next.After(begun) {
		next = begun.Add(startDelay)
	}
	return next, nil
}

// after returns the first time after another one at which a copy is due.
func after(last time.Time, hour int, hourly bool) time.Time {
	last = last.Local()
	at := time.Date(last.Year(), last.Month(), last.Day(), last.Hour(), 0, 0, 0, time.Local)
	for {
		at = at.Add(time.Hour)
		if hourly || at.Hour() == hour {
			return at
		}
	}
}
