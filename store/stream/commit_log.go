package stream

import (
	"context"
	"errors"
)

// SealedEntry is an entry of a CommitLog: a commit, encrypted.
type SealedEntry struct {
	Epoch  string
	Number uint64 // the first entry of an epoch has 1
	Prev   Hash   // hash of the entry before it; zero for the first one
	Hash   Hash   // hash of the encoded commit
	Nonce  []byte // random; tells the commits of two processes apart
	Sealed []byte // see Sealer
	Urgent bool   // whether it takes something away: its author waits until other processes have applied it
}

// Outcome is the result of CommitLog.Append.
type Outcome int

// The outcomes of an append.
const (
	Unknown Outcome = iota // it could not be found out
	Won                    // the log has the entry
	Lost                   // the log will never have the entry: another one has its number
	Refused                // the log will never have the entry
)

// CommitLog is a log to which several processes append. Its methods may be called concurrently, except
// Append and GiveUp.
type CommitLog interface {
	// Append adds an entry after the one before it, if that is still the last one. It returns within
	// about twenty seconds. The error says why the outcome is unknown or why the entry was refused; it is
	// nil for Won and Lost.
	Append(e SealedEntry) (Outcome, error)
	// GiveUp is called when an entry that was lost, or refused after that, is not appended again.
	GiveUp()
	// Head returns the position of the last entry, including every append that has succeeded before
	// the call. Time is not set.
	Head(ctx context.Context) (Head, error)
	// Follow calls yield for the entries after a position, in order and without a gap, also for those
	// that are appended later, until ctx ends, yield returns an error, or contact is lost. Its error
	// wraps ErrNeedsCopy or ErrSetBack if it can't continue after the position.
	Follow(ctx context.Context, after Head, yield func(SealedEntry) error) error
	// Applied is called after an urgent entry of another process was applied. It does not block.
	Applied(number uint64)
	// Confirm returns when each other process that may answer requests has applied an entry, and
	// within about two seconds: after that, one that has not answers no more.
	Confirm(number uint64)
}

var (
	// ErrNeedsCopy is wrapped by errors of a log that no longer continues what a process has: it has
	// to begin again with a copy.
	ErrNeedsCopy = errors.New("the log of commits does not continue what this node has")
	// ErrSetBack is wrapped by errors of a log that lacks entries that a process has seen in it:
	// nothing may be taken from it.
	ErrSetBack = errors.New("the log of commits is another one, or was set back")
	// ErrEntryTooLarge is wrapped by the error of Append for an entry that the log can't store.
	ErrEntryTooLarge = errors.New("the entry is too large for the log of commits")
	// ErrNoSpace is wrapped by the error of Append while the log has no space for entries.
	ErrNoSpace = errors.New("the log of commits has no space")
)
