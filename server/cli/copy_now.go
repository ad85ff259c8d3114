package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"filippo.io/age"

	"reeve/server/backup"
	"reeve/server/config"
	"reeve/server/local"
	"reeve/store/disk"
	"reeve/store/kv"
)

// copyTarget is a target in the answer of the server.
type copyTarget struct {
	Name     string     `json:"name"`
	Kind     string     `json:"kind"`
	Place    string     `json:"place"`
	Phase    string     `json:"phase"`
	Done     int64      `json:"done_bytes"`
	Total    int64      `json:"total_bytes"`
	Newest   *time.Time `json:"newest_at"`
	Proven   *time.Time `json:"proven_at"`
	Next     *time.Time `json:"next_at"`
	Attempts int        `json:"attempts"`
	Copies   int        `json:"copies"`
	Error    string     `json:"error"`
	Warnings []string   `json:"warnings"`

	StoredAt    *time.Time                     `json:"stored_at"`
	CommitError string                         `json:"commit_error"`
	Moments     []struct{ From, To time.Time } `json:"moments"`
}

// prepareBackups makes the targets known to what answers while no server runs, and reads their lists.
func (p *program) prepareBackups(c *client) error {
	if c.running {
		return nil
	}
	c.server.Backups.Examine = p.examinerOf(c.server.DB)
	if err := p.configureBackups(c.server); err != nil {
		return err
	}
	c.server.Backups.Refresh(context.Background())
	return nil
}

// targets returns the targets.
func (c *client) targets() ([]copyTarget, error) {
	var out struct{ Data []copyTarget }
	return out.Data, c.get("/system/backup-target", nil, &out)
}

func (p *program) listTargets(c *client) error {
	if err := p.prepareBackups(c); err != nil {
		return err
	}
	all, err := c.targets()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return p.listNone("targets of copies")
	}
	if p.json {
		return p.printJSON(all)
	}
	when := func(at *time.Time) string {
		if at == nil {
			return "-"
		}
		return at.Local().Format(time.DateTime)
	}
	w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tPLACE\tCOPIES\tNEWEST\tPROVEN\tANY MOMENT SINCE\tNEXT\tSTATE")
	for _, t := range all {
		state := t.Phase
		if t.Error != "" {
			state = "failed: " + oneLine(t.Error)
		}
		since := (*time.Time)(nil)
		if n := len(t.Moments); n > 0 {
			since = &t.Moments[n-1].From
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", t.Name, t.Kind, t.Place, t.Copies, when(t.Newest), when(t.Proven), when(since), when(t.Next), state)
	}
	for _, t := range all {
		for _, m := range t.Moments[:max(0, len(t.Moments)-1)] {
			fmt.Fprintf(w, "%s: and any moment from %s to %s\n", t.Name, when(&m.From), when(&m.To))
		}
		if t.CommitError != "" {
			fmt.Fprintf(w, "%s: commits since the last copy could not be stored: %s\n", t.Name, oneLine(t.CommitError))
		}
		for _, warning := range t.Warnings {
			fmt.Fprintf(w, "%s: %s\n", t.Name, warning)
		}
	}
	return w.Flush()
}

// copyNow lets the running server make a copy, or makes one while none runs, and waits. An interrupt cancels it.
func (p *program) copyNow(c *client, name string) error {
	if err := p.needsServer(c); err != nil {
		return err
	}
	if err := p.prepareBackups(c); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // before the copy is asked for
	defer stop()
	var before copyTarget
	if err := c.call("POST", "/system/backup-file", nil, map[string]string{"target": name}, &before); err != nil {
		return err
	}
	cancelled := context.AfterFunc(ctx, func() {
		err := c.call("POST", "/system/backup-target/cancel", nil, map[string]string{"target": name}, nil)
		if err != nil {
			fmt.Fprintf(p.err, "reeve: the copy goes on: %v\n", err)
		}
	})
	defer cancelled()
	if !c.running {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.server.Backups.CopyOnce(context.Background(), name)
		}()
		defer func() { <-done }()
	}
	for {
		all, err := c.targets()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(t copyTarget) bool { return t.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no target %s any more", name)
		}
		now := all[i]
		p.progress.step(now.Phase, now.Done, now.Total)
		if ctx.Err() != nil && now.Phase == backup.Waiting {
			p.progress.end()
			return errors.New("interrupted: the copy was cancelled")
		}
		if now.Phase != backup.Waiting || now.Attempts <= before.Attempts {
			time.Sleep(askEvery)
			continue
		}
		p.progress.end()
		if now.Error != "" {
			return errors.New(now.Error)
		}
		proven := "stored"
		if now.Newest != nil && now.Proven != nil && !now.Proven.Before(*now.Newest) {
			proven = "stored and proven"
		}
		return p.show(now, "the copy at %s is %s", name, proven)
	}
}

// addRecipient makes an identity in a new file or takes the one in an existing file, proves that it
// decrypts what is encrypted to its recipient, and names the recipient in the configuration.
func (p *program) addRecipient() error {
	if _, err := kv.Holder(p.config.DataDir); err != nil {
		return err
	}
	if err := p.needsDatabase(); err != nil {
		return fmt.Errorf("%w: start the server first", err)
	}
	path := p.args[0]
	identity, err := readIdentity(path)
	if errors.Is(err, fs.ErrNotExist) {
		if identity, err = newIdentityFile(path); err == nil {
			fmt.Fprintf(p.out, "%s has a new identity: move it away from this machine, and keep two copies; without it no copy can be restored\n", path)
		}
	}
	if err != nil {
		return err
	}
	recipient := identity.Recipient().String()
	if err := backup.Challenge(recipient, []age.Identity{identity}); err != nil {
		return err
	}
	if !slices.Contains(p.config.Recipients(), recipient) { // before the process becomes the service's user, who may not write it
		file := cmp.Or(p.config.File, config.DefaultFile)
		if err := writeRecipient(file, recipient); err != nil {
			return fmt.Errorf("%w; set backup.recipients = [%q] in the configuration, and run this again", err, recipient)
		}
		fmt.Fprintf(p.out, "added to backup.recipients in %s\n", file)
	}

	if err := local.Become(p.config.DataDir); err != nil {
		return err
	}
	if err := backup.Confirm(p.config.DataDir, recipient); err != nil {
		return err
	}
	fmt.Fprintln(p.out, "confirmed:", recipient)
	return p.reloadRunning()
}

// reloadRunning lets a running server read its configuration again.
func (p *program) reloadRunning() error {
	pid, err := kv.Holder(p.config.DataDir)
	if err != nil || pid == 0 {
		return err
	}
	c, err := p.connect()
	if err != nil {
		return err
	}
	return errors.Join(c.call("POST", "/local/reload", nil, nil, nil), c.close())
}

// readIdentity reads the one identity in a file.
func readIdentity(path string) (*age.X25519Identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading only, so Close loses nothing
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); strings.HasPrefix(line, "AGE-SECRET-KEY-1") {
			if identity, err := age.ParseX25519Identity(line); err == nil {
				return identity, nil
			}
		}
	}
	return nil, fmt.Errorf("%s has no age identity, AGE-SECRET-KEY-…", path) // without its lines, which are secret
}

func newIdentityFile(path string) (*age.X25519Identity, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("# Keep this file away from the server; only it decrypts the copies.\n# recipient: %s\n%s", identity.Recipient(), identity)
	if err := writeSecretFile(path, text); err != nil {
		return nil, err
	}
	return readIdentity(path)
}

var (
	backupTable   = regexp.MustCompile(`(?m)^[ \t]*\[backup\][ \t]*(#.*)?$`)
	recipientsKey = regexp.MustCompile(`(?m)^[ \t]*(recipients|backup\.recipients)[ \t]*=`)
	emptyList     = regexp.MustCompile(`(?m)^([ \t]*recipients[ \t]*=[ \t]*)\[[ \t]*\]`)
)

// writeRecipient adds backup.recipients to a configuration file, whose other lines stay as they are.
func writeRecipient(path, recipient string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	line := fmt.Sprintf("recipients = [%q]", recipient)
	next := string(text)
	switch at := backupTable.FindStringIndex(next); {
	case emptyList.MatchString(next):
		next = emptyList.ReplaceAllString(next, fmt.Sprintf("${1}[%q]", recipient))
	case recipientsKey.MatchString(next):
		return fmt.Errorf("%s has other recipients", path)
	case at != nil:
		next = next[:at[1]] + "\n" + line + next[at[1]:]
	default:
		if next != "" && !strings.HasSuffix(next, "\n") {
			next += "\n"
		}
		next += "\n[backup]\n" + line + "\n"
	}

	part := path + ".new"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a run that was killed
		return err
	}
	if err := writeSecretFile(part, strings.TrimSuffix(next, "\n")); err != nil {
		return err
	}
	if _, err = config.Load(part, nil); err == nil {
		err = disk.CopyOwner(path, part)
	}
	if err == nil {
		err = disk.MoveFile(part, path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(part))
	}
	return err
}
