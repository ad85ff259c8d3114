package copies

import (
	"context"
	"errors"
	"io"
	"strings"

	"filippo.io/age"

	"reeve/store/stream"
)

// leftEpoch returns the epoch of this process if another one with the same data has continued it, see
// kv.DB.LeaveEpoch: one that goes on beside it, or this machine before it was set back. It has stored
// commits after the position at which this process has begun or, if this machine was restarted since it
// was set back, others than those in the log here. "" for none.
func (r *Repository) leftEpoch(ctx context.Context, parts []part) (string, error) {
	opened := r.db.StreamOpened()
	newest := map[string]part{} // by start: each entry has the hash of the one before it
	for _, p := range parts {
		start := startOf(p.object.Name)
		if p.Epoch != opened.Epoch || strings.HasPrefix(start, r.process) {
			continue
		}
		if p.Last > opened.Number {
			return p.Epoch, nil
		}
		if p.Last > max(newest[start].Last, r.compared[start]) {
			newest[start] = p
		}
	}
	for start, p := range newest {
		same, err := r.hasCommit(ctx, p)
		if err != nil {
			return "", err
		}
		if !same {
			return p.Epoch, nil
		}
		r.compared[start] = p.Last
	}
	return "", nil
}

// hasCommit reports whether the last commit of a part is the one in the log with this number. It is also
// true if the log does not have it any more, or one of them can't be read.
func (r *Repository) hasCommit(ctx context.Context, p part) (bool, error) {
	log, _ := r.db.Stream()
	if log == nil {
		return true, nil
	}
	for _, s := range log.Segments() {
		if s.Epoch != p.Epoch || p.Last < s.First || p.Last > s.Last {
			continue
		}
		own, err := entryIn(log, &s, p.Last, r.server)
		if err != nil || own == nil {
			return true, err
		}
		identities := []age.Identity{r.server}
		for e, err := range entriesIn(ctx, r.target, p, identities) {
			switch {
			case ctx.Err() != nil:
				return false, ctx.Err()
			case err != nil: // damage, which a restore reports
				return true, nil
			case e.Number == p.Last:
				return e.Head() == own.Head(), nil
			}
		}
	}
	return true, nil
}

// entryIn returns an entry of a segment of the log; nil if it was removed, or has another key.
func entryIn(log *stream.Log, s *stream.Segment, number uint64, identity age.Identity) (*stream.Entry, error) {
	p, err := log.Part(s.Path, number)
	if errors.Is(err, stream.ErrRemoved) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer p.Close() // read only: nothing can be lost
	in, err := stream.NewReader(p.Open(), []age.Identity{identity})
	if err == nil {
		var e *stream.Entry
		if e, err = in.Next(); err == nil && e.Number == number {
			return e, nil
		}
	}
	if err == nil || err == io.EOF || errors.Is(err, stream.ErrOtherKey) {
		return nil, nil
	}
	return nil, err
}
