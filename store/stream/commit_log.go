package stream

import (
	"context"
	"errors"
)

// SealedEntry is an entry of a CommitLog: a commit, encrypted.
type SealedEntry struct {
	Epoch  string
	Number uint64 // the first entry of an epoch has 1
	Hash   Hash   // hash of the encoded commit
	Nonce  []byte // random; tells the commits of two processes apart
	Sealed []byte // see Sealer
}

// Outcome is the result of CommitLog.Append.
type Outcome int

// The outcomes of an append.
const (
	Unknown Outcome = iota // it could not be found out
	Won                    // the log has the entry
	Lost                   // the log will never have the entry: another one has its number
)

// CommitLog is a log to which several processes append. Its methods may be called concurrently, except
// Append.
type CommitLog interface {
	// Append adds an entry after the one before it, if that is still the last one. It returns within
	// about ten seconds. The error says why the outcome is unknown, or that the log refuses the entry
	// (ErrEntryTooLarge); it is nil for Won and Lost.
	Append(e SealedEntry) (Outcome, error)
	// Head returns the epoch and the number of the last entry, including every append that has
	// succeeded before the call.
	Head(ctx context.Context) (epoch string, number uint64, err error)
	// Follow calls yield for the entries after a number, in order and without a gap, also for those
	// that are appended later, until ctx ends, yield returns an error, or contact is lost. It returns
	// an error that wraps ErrEntriesGone if it can't continue after the number.
	Follow(ctx context.Context, after uint64, yield func(SealedEntry) error) error
}

var (
	// ErrEntriesGone is wrapped by the error of a log that no longer has the next entry of a process:
	// it has to begin with a copy.
	ErrEntriesGone = errors.New("the log of commits no longer has the next entry")
	// ErrEntryTooLarge is wrapped by the error of Append for an entry that the log can't store.
	ErrEntryTooLarge = errors.New("the entry is too large for the log of commits")
)
