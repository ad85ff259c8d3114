package backup

import (
	"slices"
	"strings"

	"reeve/server/target"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

const (
	access = "system.copy.query"
	making = "system.copy.create"
)

func init() {
	web.Enums(map[string][]string{
		"target_kind":  {target.Directory, target.Bucket, target.Command},
		"backup_phase": {Waiting, Storing, Proving, Pruning},
		"copy_state":   {Proven, Stored, Sent, Foreign, Previous, Damaged},
	})
}

// Routes returns the operations of copies.
func Routes(b *Service) []web.Route {
	return []web.Route{
		web.Action("GET", "/system/backup-target", access, "List the targets of backups", b.listTargets, web.Options{
			Note: "Where copies are kept, what is being done there, and what has failed. Targets are named " +
				"in the configuration only.",
		}),
		web.Action("GET", "/system/backup-file", access, "List backups", b.listCopies, web.Options{
			Note: "The copies at all targets, the newest first, as they were when the target was last read. " +
				"At the target of a command, only the last one since the start is known.",
		}),
		web.Action("POST", "/system/backup-file", making, "Back up now", b.begin, web.Options{
			LoggedAs: "backup_now",
			Note:     "Starts a copy to a target, which is then proven, and returns at once. If one is being made, the new one follows it.",
		}),
		web.Action("POST", "/system/backup-target/cancel", making, "Cancel a backup", b.cancel, web.Options{
			LoggedAs: "backup_cancel",
			Note:     "Ends the copy to a target that is being made, or its proof. What was stored so far is used by the next one. If none is, nothing changes.",
		}),
		web.Action("POST", "/system/backup-target/check", making, "Check the newest copy", b.check, web.Options{
			LoggedAs: "backup_check",
			Note: "Starts a proof of the newest copy that this server has made since its start, as each day: it is read back, restored and compared. " +
				"Returns at once; attempts grows when it begins, and phase is waiting when it has ended.",
		}),
	}
}

type backupTargetsOut struct {
	Data []backupTargetOut `json:"data"`
}

type backupTargetOut struct {
	Name       string     `json:"name" doc:"Name of its table in the configuration; local for the data directory"`
	Kind       string     `json:"kind" enum:"target_kind" doc:"directory, bucket or command"`
	Place      string     `json:"place" doc:"Path of the directory, URL of the bucket, or program"`
	Phase      string     `json:"phase" enum:"backup_phase" doc:"waiting, storing, proving or deleting"`
	Done       int64      `json:"done_bytes" doc:"Bytes that were sent and read back"`
	Total      int64      `json:"total_bytes" doc:"Bytes to send and to read back; 0 while unknown"`
	Attempts   int        `json:"attempts" doc:"Number of attempts since the start of the server, with several nodes those of all; in the answer to a request for a copy, of those before it"`
	StartedAt  store.Time `json:"started_at" null:"true" doc:"Time of the last attempt; null before the first"`
	NextAt     store.Time `json:"next_at" null:"true" doc:"Time of the next copy; null while unknown"`
	NewestAt   store.Time `json:"newest_at" null:"true" doc:"Time of the newest copy since the data were restored, if ever; null for none"`
	ProvenAt   store.Time `json:"proven_at" null:"true" doc:"Time of the newest copy that is proven; null for none"`
	Unproven   store.Flag `json:"unproven" doc:"1 if no copy of the last backup.proof_hours hours is proven or, at a command, was sent"`
	Copies     int        `json:"copies" doc:"Number of copies"`
	Encrypted  store.Flag `json:"encrypted" doc:"1 if a restore needs the identity of a recipient"`
	Deletes    store.Flag `json:"deletes" doc:"1 if copies that are no longer kept are deleted"`
	Error      string     `json:"error" doc:"Reason for which the last attempt failed; empty for none"`
	Moments    []rangeOut `json:"moments" doc:"Ranges of time of which each moment can be restored, the oldest first"`
	StoredAt   store.Time `json:"stored_at" null:"true" doc:"Last time at which all commits were stored there; null if they never were"`
	CommitErr  string     `json:"commit_error" doc:"Reason for which commits could not be stored at the last attempt; empty for none"`
	Warnings   []string   `json:"warnings" doc:"What is to be known about the target"`
	Recipients []string   `json:"recipients" doc:"Recipients whose identities open the copies"`
}

// rangeOut is a range of time.
type rangeOut struct {
	From store.Time `json:"from" doc:"Time of the copy with which it begins"`
	To   store.Time `json:"to" doc:"Time of its last commit"`
}

func (b *Service) listTargets(req *web.Request, _ *web.None) (*backupTargetsOut, error) {
	if b.elsewhere() {
		r, err := b.reported(req)
		return &backupTargetsOut{append([]backupTargetOut{}, r.Targets[req.Language()]...)}, err
	}
	r, err := b.readRule()
	if err != nil {
		return nil, err
	}
	out := &backupTargetsOut{Data: []backupTargetOut{}}
	for _, w := range b.all() {
		out.Data = append(out.Data, w.describe(r, req.Language()))
	}
	return out, nil
}

func (w *worker) describe(r rule, language errs.Language) backupTargetOut {
	unproven := w.unproven(r)
	warnings := []string{}
	for _, m := range slices.Concat(w.losses(), w.keeper.warnings()) {
		warnings = append(warnings, m.In(language))
	}
	if ahead, _ := w.ahead(r.now); !ahead.IsZero() {
		warnings = append(warnings, saysAhead(w.target.Name, ahead).In(language))
	}
	w.b.mu.Lock()
	recipients := append([]string{}, w.b.set.Recipients...)
	w.b.mu.Unlock()
	if w.target.Name != LocalName {
		for _, r := range w.b.unconfirmed(recipients) {
			warnings = append(warnings, errs.Say("it is unknown whether the identity of the recipient %s exists: `reeve backup recipient` confirms it", r).In(language))
		}
	}
	commits, ranges, _ := w.commits()
	moments := []rangeOut{}
	for _, r := range ranges {
		moments = append(moments, rangeOut{timeOf(r.From), timeOf(r.To)})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	local := w.target.Name == LocalName
	out := backupTargetOut{
		Name:       w.target.Name,
		Kind:       w.target.Kind(),
		Place:      w.target.Place(),
		Phase:      w.now.phase,
		Done:       w.now.done,
		Total:      w.now.total,
		Attempts:   w.now.attempts,
		StartedAt:  timeOf(w.now.begun),
		NextAt:     timeOf(w.now.next),
		ProvenAt:   timeOf(newestGood(w.copies, w.b.now())),
		Unproven:   store.Flag(unproven),
		Copies:     len(w.copies),
		Encrypted:  store.Flag(!local),
		Deletes:    store.Flag(!w.target.NoDelete && w.target.Kind() != target.Command),
		Error:      text(w.now.fault),
		Moments:    moments,
		StoredAt:   timeOf(commits.current),
		CommitErr:  text(commits.fault),
		Warnings:   warnings,
		Recipients: recipients,
	}
	if c := newest(w.copies); c != nil {
		out.NewestAt = c.At
	}
	if local {
		out.Recipients = []string{}
	}
	if w.target.Kind() == target.Command {
		out.ProvenAt = 0
	}
	return out
}

type backupCopiesOut struct {
	Data []backupCopyOut `json:"data"`
}

type backupCopyOut struct {
	Target    string     `json:"target" doc:"Name of the target"`
	Name      string     `json:"name" doc:"Name of the copy at the target"`
	At        store.Time `json:"at" doc:"Time of the data in the copy"`
	Size      int64      `json:"size" doc:"Bytes of the records and the change log, as they are stored"`
	Files     int        `json:"files" doc:"Number of contents of files that belong to it, which are stored once for all copies"`
	State     string     `json:"state" enum:"copy_state" doc:"proven: restored and examined; stored: read back; sent: taken by a command; foreign: of an earlier secret.key, only the identity opens it; previous: from before the data were restored; damaged"`
	ProvenAt  store.Time `json:"proven_at" null:"true" doc:"Time of the proof; null for none"`
	Records   int        `json:"records" doc:"Number of records that the proof found; 0 without one"`
	Fault     string     `json:"fault" doc:"Damage that was found; empty for none"`
	Checkable bool       `json:"checkable" doc:"Whether the server that makes the copies can prove it: at other targets than local, what it has made since its start"`
}

func (b *Service) listCopies(req *web.Request, _ *web.None) (*backupCopiesOut, error) {
	if b.elsewhere() {
		r, err := b.reported(req)
		return &backupCopiesOut{append([]backupCopyOut{}, r.Copies...)}, err
	}
	return &backupCopiesOut{b.listed()}, nil
}

// listed returns the copies at all targets.
func (b *Service) listed() []backupCopyOut {
	all := []backupCopyOut{}
	for _, w := range b.all() {
		w.mu.Lock()
		for _, c := range w.copies {
			all = append(all, backupCopyOut(c))
		}
		w.mu.Unlock()
	}
	return all
}

type targetIn struct {
	Target string `json:"target" check:"required,max=64" doc:"Name of the target"`
}

func (b *Service) begin(req *web.Request, in *targetIn) (*backupTargetOut, error) {
	w, r, err := b.named(in.Target)
	if err != nil {
		return nil, err
	}
	if b.elsewhere() {
		return b.request(req, makeNote, in.Target)
	}
	before := w.ask()
	out := w.describe(r, req.Language())
	out.Attempts = before
	return &out, nil
}

func (b *Service) cancel(req *web.Request, in *targetIn) (*backupTargetOut, error) {
	w, r, err := b.named(in.Target)
	if err != nil {
		return nil, err
	}
	if b.elsewhere() {
		return b.request(req, cancelNote, in.Target)
	}
	w.interrupt()
	out := w.describe(r, req.Language())
	return &out, nil
}

func (b *Service) check(req *web.Request, in *targetIn) (*backupTargetOut, error) {
	w, r, err := b.named(in.Target)
	if err != nil {
		return nil, err
	}
	if b.elsewhere() {
		told, err := b.reported(req)
		if err == nil && !slices.ContainsFunc(told.Copies, func(c backupCopyOut) bool { return c.Checkable && c.Target == in.Target }) {
			err = nothingToCheck()
		}
		if err != nil {
			return nil, err
		}
		return b.request(req, checkNote, in.Target)
	}
	before, err := w.askCheck()
	if err != nil {
		return nil, err
	}
	out := w.describe(r, req.Language())
	out.Attempts = before
	return &out, nil
}

func (b *Service) named(name string) (w *worker, r rule, err error) {
	if w = b.worker(name); w == nil {
		return nil, r, errs.Field(errs.Invalid, "target", "there is no such target")
	}
	r, err = b.readRule()
	return w, r, err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
