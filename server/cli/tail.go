package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"reeve/store"
	"reeve/store/errs"
)

// logEntry is an entry of the change log, as far as a line shows it.
type logEntry struct {
	raw       json.RawMessage
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Actor     logActor  `json:"actor"`
	Operation struct {
		Title string `json:"title"`
	} `json:"operation"`
	Reason  string `json:"reason"`
	Action  string `json:"action"`
	Changes []struct {
		Collection string `json:"collection"`
		ID         uint64 `json:"id"`
		Name       string `json:"name"`
		Operation  string `json:"operation"`
	} `json:"changes"`
}

type logActor struct {
	Kind string `json:"kind"`
	ID   uint64 `json:"id"`
	Name string `json:"name"`
}

// label returns the name, or else the kind and the ID.
func (a logActor) label() string {
	switch {
	case a.Name != "":
		return oneLine(a.Name)
	case a.ID != 0:
		return fmt.Sprintf("%s:%d", a.Kind, a.ID)
	}
	return a.Kind
}

const shownChanges = 3 // changes in the line of an entry

func (e *logEntry) line() string {
	what := e.Operation.Title
	if what == "" { // no request: what the server or a command has done itself, such as a restore
		what = strings.ReplaceAll(e.Action, "_", " ")
	}
	text := fmt.Sprintf("%d  %s  %s  %s", e.Seq, e.At.Local().Format(time.DateTime), e.Actor.label(),
		oneLine(what))
	for i, c := range e.Changes {
		if i == shownChanges {
			text += fmt.Sprintf(", and %d more", len(e.Changes)-i)
			break
		}
		name := c.Name
		if name == "" {
			name = fmt.Sprint(c.ID)
		}
		sep := ": "
		if i > 0 {
			sep = ", "
		}
		text += fmt.Sprintf("%s%s %s %s", sep, c.Operation, c.Collection, oneLine(name))
	}
	if e.Reason != "" {
		text += " (" + oneLine(e.Reason) + ")"
	}
	return text
}

func tailFlags(f *pflag.FlagSet, _ *program) {
	f.IntP("lines", "n", 20, "print this `NUMBER` of entries first")
	f.BoolP("follow", "f", false, "go on with new entries until interrupted")
}

// followEvery is how often tailLog looks for new entries.
const followEvery = time.Second

// tailLog prints the last entries of the change log, the oldest first, and follows it.
func (p *program) tailLog(c *client) error {
	lines, _ := p.flags.GetInt("lines")
	follow, _ := p.flags.GetBool("follow")
	if lines < 0 || lines > 1000 {
		return errors.New("--lines must be 0 to 1000")
	}
	if follow && !c.running {
		return errNotRunning
	}

	entries, _, err := logPage(c, url.Values{"pageSize": {fmt.Sprint(max(lines, 1))}})
	if err != nil {
		return err
	}
	var last uint64
	if lines == 0 && len(entries) > 0 {
		last = entries[0].Seq
	}
	for {
		for _, e := range slices.Backward(entries) {
			if e.Seq <= last {
				continue
			}
			last = e.Seq
			if p.json {
				_, err = fmt.Fprintf(p.out, "%s\n", e.raw)
			} else {
				_, err = fmt.Fprintln(p.out, e.line())
			}
			if err != nil {
				return err
			}
		}

		if !follow {
			return nil
		}
		time.Sleep(followEvery)
		if entries, err = newerThan(c, last); err != nil {
			return err
		}
	}
}

// newerThan returns the entries after one, the newest first.
func newerThan(c *client, last uint64) (all []logEntry, err error) {
	asked := url.Values{"pageSize": {"1000"}}
	for {
		entries, next, err := logPage(c, asked)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
		if len(entries) == 0 || next == 0 || entries[len(entries)-1].Seq <= last+1 {
			return all, nil
		}
		asked.Set("before", fmt.Sprint(next))
	}
}

// logPage returns a page of the change log, the newest entries first, and the position of the next one; 0 for none.
func logPage(c *client, asked url.Values) (entries []logEntry, next uint64, err error) {
	var page struct {
		Data []json.RawMessage
		Next uint64
	}
	if err := c.get("/system/audit", asked, &page); err != nil {
		return nil, 0, err
	}
	for _, raw := range page.Data {
		e := logEntry{raw: raw}
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, 0, err
		}
		entries = append(entries, e)
	}
	return entries, page.Next, nil
}

var errNotRunning = errors.New("no server is running with this data")

// undoLog undoes an entry of the change log.
func (p *program) undoLog(c *client) error {
	var done record
	path := "/system/audit/" + url.PathEscape(p.args[0]) + "/undo"
	if err := c.call("POST", path, nil, nil, &done); err != nil {
		return c.nameRecords(p.args[0], err)
	}

	var lost []store.UndoLost
	if raw := done["lost"]; raw != nil {
		if err := json.Unmarshal(raw, &lost); err != nil {
			return err
		}
	}
	text := ""
	for _, l := range lost {
		if what := strings.ReplaceAll(l.What, "_", " "); !strings.Contains(text, what) {
			text += ", " + what
		}
	}
	if text != "" {
		text = "; not brought back: " + text[2:]
	}
	var n int
	if err := json.Unmarshal(done["records"], &n); err != nil {
		return err
	}
	return p.show(done, "entry %s is undone: %s%s", p.args[0], errs.Count(n, "record"), text)
}

// nameRecords adds to the error of an undo the names that the entry has for the records in it.
func (c *client) nameRecords(entry string, err error) error {
	var fault *apiError
	var e logEntry
	if !errors.As(err, &fault) || len(fault.Errors) == 0 || c.get("/system/audit/"+url.PathEscape(entry), nil, &e) != nil {
		return err
	}
	named := map[string]string{}
	for field, text := range fault.Errors {
		for _, change := range e.Changes {
			record := fmt.Sprintf("%s.%d", change.Collection, change.ID)
			if rest, found := strings.CutPrefix(field+".", record+"."); found && change.Name != "" {
				field = strings.TrimSuffix(fmt.Sprintf("%s %s (%d) %s", change.Collection, change.Name, change.ID, rest), ".")
				break
			}
		}
		named[strings.TrimSpace(field)] = text
	}
	fault.Errors = named
	return err
}

// tailEvents prints events of the server as they are committed, until interrupted.
func (p *program) tailEvents(c *client) error {
	if !c.running {
		return errNotRunning
	}
	query := url.Values{}
	if types := p.texts("type"); types != nil {
		query.Set("types", strings.Join(types, ","))
	}
	resp, err := c.do("GET", "/system/event", query, nil)
	if err != nil {
		return err
	}

	defer resp.Body.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	go func() {
		<-stop
		resp.Body.Close()
	}()

	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if err := p.printEvent(data); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, os.ErrClosed) &&
		!strings.Contains(err.Error(), "closed") {
		return err
	}
	return nil
}

// printEvent prints an event: whole with --json, else as a line.
func (p *program) printEvent(data string) error {
	if p.json {
		_, err := fmt.Fprintln(p.out, data)
		return err
	}
	var e struct {
		Type   string   `json:"type"`
		At     string   `json:"at"`
		Actor  logActor `json:"actor"`
		Record uint64   `json:"record"`
		Name   string   `json:"name"`
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return err
	}
	if e.Type == "" { // the stream itself, such as open
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, e.At)
	if err != nil {
		return nil // neither has access.changed a time
	}
	_, err = fmt.Fprintf(p.out, "%s  %s  %s  %d %s\n", at.Local().Format(time.DateTime), e.Type,
		e.Actor.label(), e.Record, oneLine(e.Name))
	return err
}
