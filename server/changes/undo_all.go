package changes

import (
	"slices"
	"strconv"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// maxUndone is the most changes of records that one undo can have.
const maxUndone = 5000

// undoAllIn selects the changes of one actor since a time.
type undoAllIn struct {
	undoRange
	LeaveChanged store.Flag `json:"leave_changed" doc:"1 to leave records as they are that have been changed since, or that cannot be as before: one that is in use now, say. An undo by a job leaves only those that have been changed since, and otherwise undoes nothing"`
	DryRun       store.Flag `query:"dry_run" doc:"1 to run the same checks and undo nothing; of an undo by a job only whether anything has been changed since"`
}

// undoRange selects entries, and is in the log of the undo.
type undoRange struct {
	By    string      `json:"by" check:"required" doc:"Actor whose changes are undone: a kind and an ID, such as user:7 or key:3"`
	Since store.Time  `json:"since" check:"required" doc:"Time of the first change that is undone"`
	Until *store.Time `json:"until" check:"filled" doc:"Time of the last one; now by default"`
}

// UndoneAll is the result of undoing changes of one actor.
type UndoneAll struct {
	Undone
	Left      int              `json:"left" doc:"Number of records that stay as they are"`
	Conflicts []UndoDifference `json:"conflicts" doc:"Fields that have been changed since, or in between by others, at most 100: without leave_changed nothing is undone"`
}

// undoAll undoes the changes of one actor since a time, the last one first. Where the actor changed
// a record several times, it must be as the last change left it, and becomes what it was before
// the first.
func (u entryUndo) undoAll(req *web.Request, in *undoAllIn) (*UndoneAll, error) {
	if !u.one.TryLock() {
		return nil, errs.New(errs.Busy, "another undo of this kind is at work; try again in a moment")
	}
	defer u.one.Unlock()
	entries, err := entriesOf(req, &in.undoRange)
	if err != nil {
		return nil, err
	}
	of := &undoing{entries: entries, part: undoPart{All: &in.undoRange, Leave: bool(in.LeaveChanged)}}
	if in.LeaveChanged {
		of.left = map[store.UndoRecord]bool{}
	}
	out := &UndoneAll{}
	err = u.run(req, of, &out.Undone, bool(in.DryRun))
	out.Left, out.Conflicts = len(of.left), of.conflicts
	return out, err
}

// entriesOf returns the entries of an actor since a time that have changes, the newest first: not those of others
// who acted as the actor.
func entriesOf(req *web.Request, of *undoRange) (entries []*audit.Entry, err error) {
	kind, number, _ := strings.Cut(of.By, ":")
	id, err := strconv.ParseUint(number, 10, 64)
	if !slices.Contains([]string{"user", "app_user", "key"}, kind) || err != nil || id == 0 {
		return nil, errs.Field(errs.Invalid, "by", "must be a kind and an ID, such as user:7 or key:3")
	}
	q := audit.Query{All: [][]string{{actorTerm(of.By)}}, From: int64(max(of.Since, 1))}
	if of.Until != nil {
		q.To = int64(max(*of.Until, 1))
	}
	left := maxUndone
	failed := req.DB.DB.SearchLog(q, 0, func(row audit.Row) bool {
		e, fault := row.Decode()
		if err = fault; err != nil {
			return false
		}
		if e.Actor.Kind == kind && e.Actor.ID == id && len(e.Changes) > 0 {
			entries = append(entries, &e)
			left -= len(e.Changes)
		}
		if left < 0 {
			err = errs.Field(errs.Invalid, "since", "the changes since then are more than one undo can have; choose a later time")
		}
		return err == nil
	})
	if err == nil {
		err = failed
	}
	return entries, err
}

// details are what the change log has of an undo.
func (of *undoRange) details() map[string]any {
	all := map[string]any{"by": of.By, "since": of.Since}
	if of.Until != nil {
		all["until"] = *of.Until
	}
	return all
}
