package backup

import (
	"slices"

	"reeve/store/errs"
)

// cause is why a worker does something.
type cause int

const (
	due    cause = iota // a copy is due, or only its proof
	wanted              // a user has asked for a copy
	check               // a user has asked for a proof of the newest copy
)

// begins returns the phase in which an attempt begins.
func (c cause) begins() string {
	if c == check {
		return Proving
	}
	return Storing
}

// done returns the message of the log.
func (c cause) done() string {
	if c == check {
		return "the newest copy was proven"
	}
	return "a copy was made"
}

// askCheck asks for a proof of the newest copy, and returns the number of attempts before it.
func (w *worker) askCheck() (before int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.b.Examine == nil || !slices.ContainsFunc(w.copies, func(c Copy) bool { return c.Checkable }) {
		return 0, nothingToCheck()
	}
	select {
	case w.checks <- struct{}{}:
	default:
	}
	return w.now.attempts, nil
}

func nothingToCheck() error {
	return errs.Field(errs.Invalid, "target", "it has no copy that this server has made since its start: `reeve backup check` proves older ones")
}
