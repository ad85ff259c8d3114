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

// undoAllBytes is the most that the entries of one undo may have.
const undoAllBytes = 16 << 20

// undoAllIn selects the changes of one actor since a time.
type undoAllIn struct {
	undoRange
	LeaveChanged store.Flag `json:"leave_changed" doc:"1 to leave records as they are that have been changed since"`
	DryRun       store.Flag `query:"dry_run" doc:"1 to run the same checks and undo nothing"`
}

// undoRange selects entries, and is in the log of the undo.
type undoRange struct {
	Actor string      `json:"actor" check:"required" doc:"Actor whose changes are undone: a kind and an ID, such as user:7 or key:3"`
	Since store.Time  `json:"since" check:"required" doc:"Time of the first change that is undone"`
	Until *store.Time `json:"until" check:"filled" doc:"Time of the last one; now by default"`
}

// UndoneAll is the result of undoing changes of one actor.
type UndoneAll struct {
	Undone
	Entries   int              `json:"entries" doc:"Number of entries with changes that are undone"`
	Conflicts []UndoDifference `json:"conflicts" doc:"Fields that have been changed since, or in between by others, at most 100: their records stay as they are, and without leave_changed nothing is undone"`
}

// undoAll undoes the changes of one actor since a time, the last one first. Where the actor changed
// a record several times, it must be as the last change left it, and becomes what it was before
// the first.
func (u entryUndo) undoAll(req *web.Request, in *undoAllIn) (*UndoneAll, error) {
	entries, err := entriesOf(req, &in.undoRange)
	if err != nil {
		return nil, err
	}
	part := undoPart{All: &in.undoRange}
	out := &UndoneAll{Entries: len(entries)}
	plan := func(tx *store.Tx) (*store.UndoPlan, error) {
		plan, err := store.PlanUndo(tx, entries)
		if err != nil {
			return nil, err
		}
		if err := permitUndo(tx, plan); err != nil {
			return nil, err
		}
		if out.Conflicts, err = differences(tx, plan); !in.LeaveChanged || errs.Of(err).Code != "changed_since" {
			return plan, err
		}
		conflicts, err := plan.Conflicts(tx)
		plan.Leave(func(collection string, id store.ID) bool {
			return slices.ContainsFunc(conflicts, func(c store.UndoConflict) bool {
				return c.Collection == collection && c.ID == id
			})
		})
		if err == nil && len(plan.Steps) == 0 {
			err = errNothingToUndo()
		}
		return plan, err
	}
	return out, u.run(req, &out.Undone, part, plan, bool(in.DryRun))
}

// entriesOf returns the entries of an actor since a time that have changes, the newest first.
func entriesOf(req *web.Request, of *undoRange) (entries []*audit.Entry, err error) {
	kind, number, _ := strings.Cut(of.Actor, ":")
	id, err := strconv.ParseUint(number, 10, 64)
	if !slices.Contains([]string{"user", "app_user", "key"}, kind) || err != nil || id == 0 {
		return nil, errs.Field(errs.Invalid, "actor", "must be a kind and an ID, such as user:7 or key:3")
	}
	if err := req.HoldAnswer(undoAllBytes); err != nil {
		return nil, err
	}
	q := audit.Query{All: [][]string{{actorTerm(of.Actor)}}, From: int64(max(of.Since, 1))}
	if of.Until != nil {
		q.To = int64(max(*of.Until, 1))
	}
	left := undoAllBytes
	failed := req.DB.DB.SearchLog(q, 0, func(row audit.Row) bool {
		if left -= len(row.Text); left < 0 {
			err = errs.Field(errs.Invalid, "since", "the changes since then are more than one undo can have; choose a later time")
			return false
		}
		e, fault := row.Decode()
		if err = fault; err == nil && len(e.Changes) > 0 {
			entries = append(entries, &e)
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
	all := map[string]any{"actor": of.Actor, "since": of.Since}
	if of.Until != nil {
		all["until"] = *of.Until
	}
	return all
}
