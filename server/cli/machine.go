package cli

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"reeve/store/errs"
)

// part is a part of the server in the report of its health.
type part struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // advice; only of doctor's own checks
}

type health struct {
	State string `json:"state"`
	Parts []part `json:"parts"`
}

// printStatus prints what runs on the data directory and how it is.
func (p *program) printStatus(c *client) error {
	var s status
	var h health
	var info struct {
		LastBackup *time.Time `json:"last_backup_at"`
	}
	if err := c.get("/local/status", nil, &s); err != nil {
		return err
	}
	if err := c.get("/system/health", nil, &h); err != nil {
		return err
	}
	if err := c.get("/system/info", nil, &info); err != nil {
		return err
	}

	if p.json {
		out := map[string]any{"running": c.running, "health": h.State, "last_backup_at": info.LastBackup}
		if c.running {
			out["server"] = s
		}
		return p.printJSON(out)
	}

	w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(w, "%s:\t%s\n", name, text) }
	if c.running {
		state := "running, process " + fmt.Sprint(s.PID)
		if s.Draining {
			state = "stopping, process " + fmt.Sprint(s.PID)
		}
		row("server", state)
		row("version", s.Commit)
		row("address", s.Listen)
		row("running for", time.Since(s.Started).Round(time.Second).String())
		row("log level", s.LogLevel)
	} else {
		row("server", "not running")
		row("version", s.Commit+" (this program)")
	}
	row("data", s.Data)
	row("health", h.State)
	for _, part := range h.Parts {
		if part.State != "ok" {
			row("  "+part.Name, part.State+": "+oneLine(part.Text))
		}
	}
	backup := "never"
	if info.LastBackup != nil {
		backup = info.LastBackup.Local().Format(time.DateTime)
	}
	row("last backup", backup)
	return w.Flush()
}

// askReload lets the running server read its configuration again.
func (p *program) askReload(c *client) error {
	if !c.running {
		return errNotRunning
	}
	var done reloaded
	if err := c.call("POST", "/local/reload", nil, nil, &done); err != nil {
		return fmt.Errorf("the configuration was not reloaded: %w", err)
	}

	list := func(keys []string) string {
		if len(keys) == 0 {
			return "nothing"
		}
		return strings.Join(keys, ", ")
	}
	text := "changed: " + list(done.Changed) + "\nneeds a restart: " + list(done.NeedsRestart)
	for _, warning := range done.Warnings {
		text += "\nwarning: " + warning
	}
	return p.show(done, "%s", text)
}

// logLevel prints the level of the running server's log, or changes it.
func (p *program) logLevel(c *client) error {
	if !c.running {
		return errNotRunning
	}
	if len(p.args) > 0 {
		err := c.call("PUT", "/local/log-level", nil, map[string]string{"level": p.args[0]}, nil)
		if err != nil {
			return err
		}
	}
	var s status
	if err := c.get("/local/status", nil, &s); err != nil {
		return err
	}
	return p.show(map[string]string{"level": s.LogLevel}, "%s", s.LogLevel)
}

const (
	topEvery  = 2 * time.Second
	topWindow = 5 * time.Minute // period of the slowest routes
	topLines  = 15
)

// top prints what the server does now, and the routes that have taken most time: again and again on
// a terminal, else once.
func (p *program) top(c *client) error {
	if !c.running {
		return errNotRunning
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	for {
		var now load
		if err := c.get("/local/requests", nil, &now); err != nil {
			return err
		}
		var stats map[string]any
		query := url.Values{"from": {time.Now().Add(-topWindow).UTC().Format(time.RFC3339)}}
		if err := c.get("/system/monitor/stats", query, &stats); err != nil {
			return err
		}
		if p.json {
			return p.printJSON(map[string]any{"now": now, "routes": stats["routes"], "total": stats["total"]})
		}

		if isTerminal(p.out) {
			fmt.Fprint(p.out, "\x1b[H\x1b[2J")
		}
		if err := p.printLoad(now, stats); err != nil || !isTerminal(p.out) {
			return err
		}
		select {
		case <-stop:
			return nil
		case <-time.After(topEvery):
		}
	}
}

func (p *program) printLoad(now load, stats map[string]any) error {
	fmt.Fprintf(p.out, "%s, %s and %s waiting\n\n", errs.Count(len(now.Requests), "request"),
		errs.Count(now.WritesWaiting, "write"), errs.Count(now.HashesWaiting, "password"))
	w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
	if len(now.Requests) > 0 {
		fmt.Fprintln(w, "RUNNING FOR\tREQUEST\tOPERATION")
	}
	for _, r := range now.Requests[:min(len(now.Requests), topLines)] {
		fmt.Fprintf(w, "%s\t%s\t%s\n", time.Since(r.Begun).Round(time.Millisecond), r.ID, r.Operation)
	}

	routes, _ := stats["routes"].([]any)
	if len(routes) == 0 {
		fmt.Fprintf(w, "no requests in the last %.0f minutes\n", topWindow.Minutes())
		return w.Flush()
	}
	if len(now.Requests) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "REQUESTS\tMEAN MS\tSLOWEST MS\tROUTE, last %.0f minutes\n", topWindow.Minutes())
	for _, r := range routes[:min(len(routes), topLines)] {
		if r, ok := r.(map[string]any); ok {
			fmt.Fprintf(w, "%v\t%.1f\t%.1f\t%v\n", r["requests"], r["mean_ms"], r["slowest_ms"], r["route"])
		}
	}
	return w.Flush()
}

// errUnhealthy is the error of a check that has found something to do.
var errUnhealthy = exit{errors.New("something needs attention"), foundCode}
