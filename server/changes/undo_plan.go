package changes

import (
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// undoing is an undo of some entries.
type undoing struct {
	entries   []*audit.Entry            // the newest first
	part      undoPart                  // steps are added to it
	left      map[store.UndoRecord]bool // records that stay as they are; nil if all must be undone
	conflicts []UndoDifference
}

// plan returns the steps that the caller may carry out.
func (u *undoing) plan(tx *store.Tx) (*store.UndoPlan, error) {
	plan, err := store.PlanUndo(tx, u.entries)
	if err == nil {
		err = permitUndo(tx, plan)
	}
	if err != nil {
		return nil, err
	}
	conflicts, err := plan.Conflicts(tx)
	if err == nil {
		u.conflicts, err = differences(tx, conflicts)
	}
	if u.left == nil || err != nil && errs.Of(err).Code != "changed_since" {
		return plan, err
	}
	for _, c := range conflicts {
		u.left[store.UndoRecord{Collection: c.Collection, ID: c.ID}] = true
	}
	plan.Leave(u.left)
	if len(plan.Steps) == 0 {
		return nil, errNothingToUndo()
	}
	return plan, nil
}

// undoPart is the part of an undo that one transaction applies.
type undoPart struct {
	Seq   uint64           `json:"seq,omitempty"` // number of the entry that is undone
	All   *undoRange       `json:"all,omitempty"` // entries, if there are several
	Steps []store.UndoStep `json:"steps"`
	Leave bool             `json:"leave,omitempty"` // records that have changed since stay as they are

	failed *store.UndoRecord // record of the step that could not be applied
}

// several reports the records that have more than one step.
func (p *undoPart) several() map[store.UndoRecord]bool {
	seen, several := map[store.UndoRecord]bool{}, map[store.UndoRecord]bool{}
	for i := range p.Steps {
		record := p.Steps[i].Record()
		several[record], seen[record] = seen[record], true
	}
	return several
}

// apply applies the steps, each if its record has not changed since, and returns the steps that
// revert them.
func (p *undoPart) apply(tx *store.Tx) (inverse []store.UndoStep, err error) {
	if p.All != nil {
		details := p.All.details()
		if p.Leave {
			details["leave_changed"] = 1
		}
		tx.LogAction("undo", details)
	} else {
		tx.LogAction("undo", map[string]uint64{"seq": p.Seq})
	}
	faults, several, left := errs.Faults{}, p.several(), map[store.UndoRecord]bool{}
	check := func(step *store.UndoStep) error {
		if err := permitStep(tx, step); err != nil { // first, since conflicts quote values
			return err
		}
		conflicts, err := step.Conflicts(tx)
		for _, c := range conflicts {
			if p.Leave {
				left[step.Record()] = true
			} else {
				addConflict(faults, &c)
			}
		}
		return err
	}

	for i := range p.Steps { // before any is applied: deleting a record changes those that refer to it
		if step := &p.Steps[i]; !several[step.Record()] {
			if err := check(step); err != nil {
				return nil, err
			}
		}
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		if several[step.Record()] { // an earlier step makes it as this one expects it
			if err := check(step); err != nil {
				return nil, err
			}
		}
		if len(faults) > 0 || left[step.Record()] {
			continue
		}

		back, err := step.Inverse(tx)
		if err == nil {
			err = step.Apply(tx)
		}
		if err != nil {
			failed := step.Record()
			p.failed = &failed
			return nil, err
		}

		inverse = append(inverse, back)
	}

	return inverse, changedSince(faults)
}
