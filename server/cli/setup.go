package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"reeve/server/setup"
	"reeve/store/disk"
	"reeve/store/errs"
)

// change is the change of an object in the answer of the server.
type change struct {
	Kind      string `json:"kind"`
	Key       string `json:"key"`
	Operation string `json:"operation"`
	Fields    []struct {
		Name   string `json:"name"`
		Old    any    `json:"old"`
		New    any    `json:"new"`
		Secret int    `json:"secret"`
	} `json:"fields"`
}

func setupFlags(f *pflag.FlagSet, _ *program) {
	f.Bool("prune", false, "delete what these files have created and no longer have")
}

// plan prints what apply would change. The exit code is 2 if that is something.
func (p *program) plan(c *client) error {
	_, planned, err := p.planFiles(c, p.args)
	if err != nil {
		return err
	}
	if err := p.printPlan(planned.raw, planned.changes); err != nil {
		return err
	}
	if n := len(planned.changes); n > 0 {
		return exit{errors.New(errs.Count(n, "change")), foundCode}
	}
	return nil
}

// planFiles reads files, with the secrets that an earlier run has written for them, and asks the
// server what they change.
func (p *program) planFiles(c *client, paths []string) (files []*setupFile, planned *setupAnswer, err error) {
	if files, err = readSetup(paths); err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if err := f.readSecrets(); err != nil {
			return nil, nil, err
		}
	}
	planned, err = p.askSetup(c, "plan", files)
	return files, planned, err
}

// apply makes the installation as the files say, and prints what it has changed.
func (p *program) apply(c *client) error {
	done, err := p.applyFiles(c, p.args)
	if err != nil {
		return err
	}
	if p.json {
		all := record{}
		if err := json.Unmarshal(done.raw, &all); err != nil {
			return err
		}
		all["applied"] = json.RawMessage(strconv.Itoa(len(done.changes)))
		if done.entry > 0 {
			all["entry"] = json.RawMessage(strconv.FormatUint(done.entry, 10))
		}
		return p.printJSON(all)
	}

	if err := p.printPlan(done.raw, done.changes); err != nil || len(done.changes) == 0 {
		return err
	}
	_, err = fmt.Fprintf(p.out, "applied %s%s\n", errs.Count(len(done.changes), "change"), undoHint(done.entry, c.reason))
	return err
}

// undoHint returns how an entry of the change log is undone; "" for none.
func undoHint(entry uint64, reason string) string {
	if entry == 0 {
		return ""
	}
	if reason != "" {
		reason = " (" + oneLine(reason) + ")"
	}
	return fmt.Sprintf(": entry %d of the change log%s; to undo: reeve audit undo %[1]d", entry, reason)
}

func (p *program) applyFiles(c *client, paths []string) (done *setupAnswer, err error) {
	files, planned, err := p.planFiles(c, paths)
	if err == nil {
		err = writeSecrets(files, planned.changes)
	}
	if err != nil {
		return nil, err
	}
	return p.askSetup(c, "apply", files)
}

// applyAtStart applies the setup files of --apply before the server is ready.
func (p *program) applyAtStart(c *client, paths []string) error {
	done, err := p.applyFiles(c, paths)
	if err != nil {
		return fmt.Errorf("apply the setup: %w", err)
	}
	p.log.Info().Int("changes", len(done.changes)).Uint64("entry", done.entry).Strs("files", paths).Msg("the setup was applied")
	return nil
}

// setupAnswer is what the server says about a plan, or about applying it.
type setupAnswer struct {
	raw     json.RawMessage
	changes []change
	entry   uint64 // an entry of the change log, which undoes all changes; 0 if there is none
}

func (p *program) askSetup(c *client, what string, files []*setupFile) (*setupAnswer, error) {
	prune, _ := p.flags.GetBool("prune")
	in, err := json.Marshal(map[string]any{"files": files, "prune": prune})
	if err == nil && len(in) > setup.MaxBody {
		err = fmt.Errorf("the files have more than %d bytes as JSON, without comments: divide them, and apply the parts one after the other", setup.MaxBody)
	}
	if err != nil {
		return nil, err
	}
	done := &setupAnswer{}
	err = p.besideJob(c, func() error {
		return p.patiently(func() (err error) {
			done.entry, err = c.write("POST", "/system/setup/"+what, nil, json.RawMessage(in), &done.raw)
			return err
		})
	})
	if err != nil {
		return nil, named(files, err)
	}
	var out struct {
		Changes []change
		Job     *struct{ ID uint64 }
	}
	if err := json.Unmarshal(done.raw, &out); err != nil {
		return nil, err
	}
	done.changes = out.Changes
	if out.Job == nil {
		return done, nil
	}

	if err := p.besideJob(c, func() error { return c.finishJob(out.Job.ID) }); err != nil {
		return nil, err
	}
	done.entry = 0 // that of the request
	query := url.Values{"job": {fmt.Sprint(out.Job.ID)}, "pageSize": {"1"}}
	if entries, _, err := logPage(c, query); err == nil && len(entries) > 0 { // on error, only the hint is missing
		done.entry = entries[0].Seq
	}
	return done, nil
}

// patience is the time for which a command waits for a server that is busy, such as with another large setup.
const patience = 2 * time.Minute

// patiently calls do, and calls it again while the server is busy.
func (p *program) patiently(do func() error) error {
	for begun, said := time.Now(), false; ; said = true {
		err := do()
		var busy *apiError
		if !errors.As(err, &busy) || busy.Retry == 0 || time.Since(begun)+busy.Retry > patience {
			return err
		}
		if !said {
			fmt.Fprintf(p.err, "reeve: %s: it is tried again for %.0f minutes\n", oneLine(busy.Msg), patience.Minutes())
		}
		time.Sleep(busy.Retry)
	}
}

// besideJob shows how far the job of a setup is, of which there is at most one, until do returns.
func (p *program) besideJob(c *client, do func() error) error {
	if !c.running && p.node != nil {
		fmt.Fprintln(p.err, "reeve: this node is stopped, and a node that runs does the rest: the command waits for it")
	}
	unfinished := url.Values{"filter": {`{"state":["running","undoing"]}`}}
	return p.progress.beside(do, func() {
		var jobs struct {
			Data []struct {
				Kind        string
				Done, Total int64
			}
		}
		c.get("/system/job", unfinished, &jobs) // an error shows in do, too
		for _, job := range jobs.Data {
			if job.Kind == setup.JobKind {
				p.progress.step("apply", job.Done, job.Total)
			}
		}
	})
}

// finishJob waits for a job, and returns an error if it has failed.
func (c *client) finishJob(id uint64) error {
	for {
		var j struct{ State, Msg string }
		if err := c.get(fmt.Sprint("/system/job/", id), nil, &j); err != nil {
			return err
		}
		switch j.State {
		case "done":
			return nil
		case "failed":
			return errors.New("nothing was changed: " + j.Msg)
		}
		time.Sleep(askEvery)
	}
}

var marks = map[string]string{"create": "+", "update": "~", "delete": "-"}

func (p *program) printPlan(raw json.RawMessage, changes []change) error {
	if p.json {
		return p.printJSON(raw)
	}
	var text strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&text, "%s %s %s\n", marks[c.Operation], c.Kind, oneLine(c.Key))
		for _, f := range c.Fields {
			switch {
			case f.Secret == 1:
				fmt.Fprintf(&text, "    %s: changed (secret)\n", f.Name)
			case c.Operation == "create":
				fmt.Fprintf(&text, "    %s: %s\n", f.Name, shortJSON(f.New))
			default:
				fmt.Fprintf(&text, "    %s: %s → %s\n", f.Name, shortJSON(f.Old), shortJSON(f.New))
			}
		}
	}
	if len(changes) == 0 {
		text.WriteString("no changes\n")
	}
	_, err := fmt.Fprint(p.out, text.String())
	return err
}

// shortJSON returns a value as a line shows it.
func shortJSON(value any) string {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if value == nil || out.Encode(value) != nil {
		return "nothing"
	}
	text := strings.TrimSpace(b.String())
	const most = 300 // bytes
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// exportSetup writes all objects to files in a directory, one for each table.
func (p *program) exportSetup(c *client) error {
	var out struct {
		Values map[string]json.RawMessage `json:"values"`
	}
	if err := c.get("/system/setup", url.Values{}, &out); err != nil {
		return err
	}
	dir, texts := p.args[0], map[string][]byte{}
	for table, rows := range out.Values {
		if !slices.Contains(setup.Tables(), table) { // it becomes the name of a file
			return fmt.Errorf("the server has exported the unknown table %q", table)
		}
		text, err := setup.TOML(map[string]any{table: rows})
		if err != nil {
			return err
		}
		texts[table] = text
	}
	if len(texts) == 0 { // a directory without files can't be planned: it may be the wrong one
		texts["settings"] = []byte("# This installation has only the objects that every installation has.\n")
	}

	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(texts)) {
		if err := disk.WriteFile(filepath.Join(dir, table+".toml"), texts[table]); err != nil {
			return err
		}
	}
	for _, table := range setup.Tables() { // of an earlier export, whose objects are gone
		if texts[table] == nil {
			if err := disk.RemoveFile(filepath.Join(dir, table+".toml")); err != nil {
				return err
			}
		}
	}
	return p.show(map[string]any{"dir": dir, "files": len(texts)}, "wrote %s to %s", errs.Count(len(texts), "file"), dir)
}
