package setup

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"sort"
	"time"

	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// JobKind is the kind of jobs that apply a setup.
const JobKind = "setup"

// Applied is what applying a setup has changed.
type Applied struct {
	Plan
	Job     *store.Job  `json:"job,omitempty" doc:"Job of a setup with many changes; it is still running if it takes longer than 30 seconds"`
	Secrets []NewSecret `json:"secrets,omitempty" doc:"Secrets of new API keys and webhooks of files that are sent as text; no other response has them"`
}

// NewSecret is the secret of an object that was created.
type NewSecret struct {
	Kind   string `json:"kind" doc:"Kind of the object: API key or webhook"`
	Key    string `json:"key" doc:"Name of the object"`
	Secret string `json:"secret"`
}

// operation is what is done for one change. A change can have two: references to objects that are
// created after it are set by a later one.
type operation struct {
	Kind      string   `json:"kind"`
	Key       string   `json:"key"`
	Operation string   `json:"operation"`
	Names     []string `json:"names"` // fields to set
	Want      *wanted  `json:"want"`  // nil for a deletion
	ID        store.ID `json:"id"`    // record to delete
}

// step is the part of a setup that one transaction applies, and how to revert it once it has been
// applied.
type step struct {
	Operations []operation `json:"operations"`
	Inverse    []inverse   `json:"inverse,omitempty"`
}

// applier applies setups, by a job if there is much to do.
type applier struct{ jobs *jobs.Runner }

func (a applier) apply(req *web.Request, files *filesIn) (*Applied, error) {
	in, err := read(req, files)
	if err != nil {
		return nil, err
	}
	plan, err := a.planOf(req, in)
	if err != nil {
		return nil, err
	}
	if len(plan.Changes) == 0 {
		return &Applied{Plan: *plan}, nil
	}

	if parts := partsOf(plan.operations()); len(parts) > 1 {
		id, ended, err := a.jobs.Begin(req, JobKind, jobSteps(parts))
		if err != nil {
			return nil, err
		}
		job, err := a.jobs.Wait(req, id, ended)
		return in.applied(plan, job), err
	}

	known := plan.compared
	err = req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
		req.Committed = nil // discard those of an earlier run
		if err := requireSettled(tx); err != nil {
			return err
		}
		if err := requireOwner(tx); err != nil {
			return err
		}
		same := false
		if known != nil {
			if same, err = known.still(tx); err != nil {
				return err
			}
		}
		if !same { // rare, since other writers wait for it
			if plan, err = newPlan(tx, req.Server.Routes, files, false); err != nil {
				return err
			}
		}
		known = nil // its state gets the new objects, which a second run would find
		_, err = runIn(plan.compared.state.in(tx), req, plan.operations())
		return err
	})
	if err != nil {
		return nil, in.located(err)
	}
	for _, fn := range req.Committed {
		fn()
	}
	return in.applied(plan, nil), nil
}

// jobSteps returns the steps of a job.
func jobSteps(parts []*step) (steps []jobs.Step) {
	for _, part := range parts {
		steps = append(steps, jobs.Step{Records: len(part.Operations), Input: part})
	}
	return steps
}

// requireSettled returns an error while a setup is being applied by a job. Another one would be
// compared with a state between the old and the new, and what it creates could be refused to the
// job, which would then take back the objects that the other one relies on.
func requireSettled(tx *store.Tx) error {
	all, err := jobs.Unfinished(tx, JobKind)
	if err == nil && len(all) > 0 {
		err = errs.New(errs.Busy, "a setup is being applied by job %s; try again when it has ended",
			all[0].ID).After(10 * time.Second)
	}
	return err
}

// operations returns the operations of a plan in their order.
func (p *Plan) operations() (all []operation) {
	for _, c := range p.Changes {
		k, op := kindOf(c.Kind), operation{Kind: c.Kind, Key: c.Key, Operation: c.Operation, Want: c.want, ID: c.id}
		late := []string{}
		for _, name := range c.names() {
			if name == k.late {
				late = append(late, name)
			} else {
				op.Names = append(op.Names, name)
			}
		}
		if c.Operation != "update" || len(op.Names) > 0 {
			all = append(all, op)
		}
		if len(late) > 0 {
			op.Operation, op.Names = "update", late
			all = append(all, op)
		}
	}

	// References to objects of the same kind are set when all of these exist.
	sort.SliceStable(all, func(i, j int) bool { return all[i].round() < all[j].round() })
	return all
}

// round orders operations: a reference to objects of the same kind is set after these are created,
// and before other kinds, which stay in their order.
func (o *operation) round() int {
	round := 2 * rank(o.Kind)
	switch {
	case o.losesValues():
		return 2*len(kinds) + 1 // after everything else that can fail
	case o.Operation == "delete":
		return 2 * len(kinds) // in their own order
	case len(o.Names) == 1 && o.Names[0] == kindOf(o.Kind).late:
		return round + 1
	}
	return round
}

// Job returns the kind of jobs that apply a setup.
func Job(s *web.Server) jobs.Kind {
	return jobs.Kind{
		Secret: true,
		Access: "system.setup.apply",
		Before: requireSettled,
		Apply: func(tx *store.Tx, input json.RawMessage) (made []store.ID, undo json.RawMessage, err error) {
			var part step
			read := json.NewDecoder(bytes.NewReader(input))
			read.UseNumber() // as the inputs of routes have them
			if err := read.Decode(&part); err != nil {
				return nil, nil, err
			}
			if err := requireOwner(tx); err != nil {
				return nil, nil, err
			}
			r, err := http.NewRequest(http.MethodPost, "/system/setup/apply", nil)
			if err != nil {
				return nil, nil, err
			}

			req := &web.Request{Server: s, HTTP: r, Actor: store.ActorOf(tx), DB: s.DB.WithRecorder(nil)}
			if part.Inverse, err = run(tx, req, part.Operations); err != nil {
				return nil, nil, err
			}
			for i := range part.Inverse {
				made = append(made, store.ID(i+1)) // positions, since they are of several collections
			}
			undo, err = json.Marshal(part)
			return made, undo, err
		},
		Undo: func(tx *store.Tx, input json.RawMessage, position store.ID) error {
			var part step
			if err := json.Unmarshal(input, &part); err != nil {
				return err
			}
			return part.Inverse[position-1].apply(tx)
		},
	}
}

// runner runs operations in a transaction.
type runner struct {
	*state
	req     *web.Request
	inverse []inverse
}

// run runs operations, and returns how to revert them.
func run(tx *store.Tx, req *web.Request, all []operation) ([]inverse, error) {
	s, err := readState(tx, req.Server.Routes, usedBy(all), true)
	if err != nil {
		return nil, err
	}
	return runIn(s, req, all)
}

// runIn is run for a state that has been read.
func runIn(s *state, req *web.Request, all []operation) ([]inverse, error) {
	r := &runner{state: s, req: req}
	for i := range all {
		if err := r.do(&all[i]); err != nil {
			return nil, placed(&all[i], err)
		}
	}
	return r.inverse, nil
}

// usedBy reports the kinds of the objects that operations look up. A step of a large setup looks up few,
// and would otherwise read all objects again.
func usedBy(all []operation) func(*kind) bool {
	used := map[string]bool{}
	for i := range all {
		op := &all[i]
		used[op.Kind] = used[op.Kind] || op.Operation == "update"
		switch {
		case op.Kind == itemKind:
			used["dictionary"] = true // whose ID is in the path
		case op.Kind == providerKind:
			used["role"], used["app role"], used["department"] = true, true, true // named by mappings
		case op.Kind == "setting":
			used["setting group"] = true // whose key is in those of settings
		}
	}
	return func(k *kind) bool { return used[k.name] }
}

// placed returns an error with the object that it is about.
func placed(op *operation, err error) error {
	e := errs.Of(err)
	if e.Kind == errs.Internal {
		return err
	}
	about := *e
	about.Msg = errs.Say("%s %s: %s", errs.Noun(kindOf(op.Kind).records.Noun()), op.Key, e.Msg)
	about.Fields = nil
	at := op.Key
	if op.Want != nil {
		at = op.Want.At
	}
	for name, fault := range e.Fields {
		if about.Fields == nil {
			about.Fields = errs.Faults{}
		}
		if op.Kind == "setting" && name == "values" {
			name = "value" // in files
		}
		about.Fields.Add(at+"."+name, "%s", fault)
	}
	return &about
}

func (r *runner) do(op *operation) error {
	k := kindOf(op.Kind)
	switch op.Operation {
	case "create":
		return r.create(k, op)
	case "delete":
		return r.remove(k, op)
	}
	had := r.find(k, op.Key)
	if had == nil {
		return errs.New(errs.NotFound, "%s %q not found", errs.Noun(k.records.Noun()), op.Key)
	}
	return r.update(k, op, had.id)
}

// create creates an object and marks it as one of the file.
func (r *runner) create(k *kind, op *operation) error {
	body, err := r.bodyOf(k, op.Want, op.Names, true)
	if err != nil {
		return err
	}
	if k.late != "" {
		delete(body, k.late)
	}
	made, err := r.routes[k.create].Within(r.tx, r.req, r.pathIDs(k, op.Key, 0), body)
	if err != nil {
		return err
	}
	id, err := idOf(made)
	if err != nil {
		return err
	}

	r.add(k.name, id, op.Key, object{})
	if err := r.setRefs(k, op, id); err != nil {
		return err
	}
	if k.name == "API key" {
		if err := r.setKeySecret(op.Want, id); err != nil {
			return err
		}
	}
	if err := store.MarkSetup(r.tx, op.Want.Owner, k.name, id); err != nil {
		return err
	}
	mark, err := store.SetupMarkOf(r.tx, k.name, id)
	r.inverse = append(r.inverse, inverse{
		UndoStep: store.UndoStep{Collection: k.records.Name(), ID: id, Operation: "delete"},
		With:     []store.UndoStep{{Collection: store.SetupMarks.Name(), ID: mark, Operation: "delete"}},
	})
	return err
}

// idOf returns the ID in the response of a route.
func idOf(made any) (store.ID, error) {
	text, err := json.Marshal(made)
	if err != nil {
		return 0, err
	}
	var record struct{ ID store.ID }
	return record.ID, json.Unmarshal(text, &record)
}

// setRefs sets references that have a route of their own.
func (r *runner) setRefs(k *kind, op *operation, id store.ID) error {
	for _, ref := range k.refs {
		if ref.route == "" || !slices.Contains(op.Names, ref.field) {
			continue
		}
		body := map[string]any{ref.field: op.Want.Fields[ref.field]}
		if _, err := r.routes[ref.route].Within(r.tx, r.req, map[string]store.ID{"id": id}, body); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) update(k *kind, op *operation, id store.ID) error {
	before, err := k.records.FieldsOf(r.tx, id)
	if err != nil {
		return err
	}
	body, err := r.bodyOf(k, op.Want, op.Names, false)
	if err != nil {
		return err
	}
	secrets, err := secretSteps(r.tx, k, id)
	if err != nil {
		return err
	}
	if len(body) > 0 {
		if _, err := r.routes[k.update].Within(r.tx, r.req, r.pathIDs(k, op.Key, id), body); err != nil {
			return err
		}
	}
	if k.name == "webhook" && slices.Contains(op.Names, "url") {
		if err := keepSecret(r.tx, secrets); err != nil {
			return err
		}
	}
	if err := r.setRefs(k, op, id); err != nil {
		return err
	}

	after, err := k.records.FieldsOf(r.tx, id)
	if err != nil {
		return err
	}
	with, err := secretBack(r.tx, k, id, secrets)
	r.inverse = append(r.inverse, inverse{UndoStep: reversal(k, id, before, after), With: with})
	return err
}

func (r *runner) remove(k *kind, op *operation) error {
	if op.losesValues() {
		if err := requireStillNoValues(r.tx, op.Key, op.ID); err != nil {
			return err
		}
	}
	changes, err := r.tx.Track(func() error {
		_, err := r.routes[k.remove].Within(r.tx, r.req, r.pathIDs(k, op.Key, op.ID), nil)
		if err != nil {
			return err
		}
		return store.UnmarkSetup(r.tx, k.name, op.ID)
	})
	r.inverse = append(r.inverse, inverse{Deleted: changes})
	return err
}
