package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"reeve/server"
	"reeve/server/backup"
	"reeve/store"
	"reeve/store/disk"
	"reeve/store/errs"
)

// doctor examines the server, its machine and its configuration, and says what to do. The exit code
// is 2 if something needs attention. A node is examined even if it does not serve.
func (p *program) doctor() error {
	parts := p.checkNode()
	examined, err := p.examineServer()
	switch {
	case err == nil:
		parts = append(examined, parts...)
	case store.IsDamage(err):
		parts = append(parts, part{"database", "failed", disk.OneLine(err), wayOut})
	case parts == nil:
		return err
	default:
		parts = append(parts, part{"server", "failed", err.Error(), "see the checks above, and the log of the server"})
	}
	found := slices.ContainsFunc(parts, func(p part) bool { return p.State != "ok" && p.State != "checking" })
	if err := p.printParts(parts); err != nil {
		return err
	}
	if found {
		return errUnhealthy
	}
	return nil
}

// examineServer returns the checks of any server.
func (p *program) examineServer() (parts []part, err error) {
	c, err := p.connect()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var s status
	if err := c.get("/local/status", nil, &s); err != nil {
		return nil, err
	}
	var h health
	if err := c.get("/system/health", nil, &h); err != nil {
		return nil, err
	}
	var info struct {
		LastBackup *time.Time `json:"last_backup_at"`
	}
	if err := c.get("/system/info", nil, &info); err != nil {
		return nil, err
	}

	parts = append(h.Parts, checkSync(p.config.DataDir), checkFileSystem(p.config.DataDir),
		checkBackup(info.LastBackup, p.config.Targets(), p.config.Recipients()), p.checkCertificate(), p.checkProxies(), p.checkConfig())
	if len(p.config.Targets()) > 0 && len(p.config.Recipients()) > 0 {
		parts = append(parts, p.checkRecipients())
	}
	parts = append(append(parts, p.checkPlaces()...), p.checkHourly(c)...)
	if c.running {
		parts = append(parts, p.checkVersion(s))
	}
	return parts, nil
}

func (p *program) printParts(parts []part) error {
	if p.json {
		return p.printJSON(parts)
	}
	w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
	for _, part := range parts {
		fmt.Fprintf(w, "%s\t%s\t%s\n", part.State, part.Name, oneLine(part.Text))
		if part.Do != "" {
			fmt.Fprintf(w, "\t\t→ %s\n", part.Do)
		}
	}
	return w.Flush()
}

const (
	syncs    = 16
	slowSync = 20 * time.Millisecond // time from which each write waits noticeably
)

// checkSync measures how long the disk takes to make a write durable.
func checkSync(dir string) part {
	out := part{Name: "sync", State: "ok"}
	path := filepath.Join(dir, "doctor.new")
	took, err := measureSync(path)
	if e := os.Remove(path); err == nil {
		err = e
	}
	if err != nil {
		return part{"sync", "failed", "a file could not be written: " + err.Error(),
			"see that the data directory can be written and the disk has room"}
	}

	slices.Sort(took)
	median := took[len(took)/2]
	out.Text = fmt.Sprintf("a durable write takes %s, at most %s", shortTime(median), shortTime(took[len(took)-1]))
	if median > slowSync {
		out.State = "degraded"
		out.Do = "use a disk with a faster sync, such as an SSD with power-loss protection"
	}
	return out
}

// shortTime returns a duration with about two digits.
func shortTime(d time.Duration) string {
	least := 10 * time.Microsecond
	if d < least {
		return "less than " + least.String()
	}
	for d >= 100*least {
		least *= 10
	}
	return d.Round(least).String()
}

func measureSync(path string) (took []time.Duration, err error) {
	f, err := disk.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	block := make([]byte, os.Getpagesize())
	for range syncs {
		start := time.Now()
		if _, err := f.WriteAt(block, 0); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// checkFileSystem reports a file system that loses what was synced, or has unreliable locks.
func checkFileSystem(dir string) part {
	name, risk := disk.FileSystem(dir)
	if risk == "" {
		return part{Name: "file system", State: "ok", Text: name}
	}
	return part{"file system", "degraded", name + ": " + risk,
		"keep the data directory on a local disk, such as ext4, XFS, btrfs or ZFS"}
}

// backupAge is the age from which the last backup is too old.
const backupAge = 48 * time.Hour

func checkBackup(last *time.Time, targets, recipients []string) part {
	out := part{Name: "last backup", State: "degraded"}
	switch {
	case last == nil:
		out.Text = "there has been none"
	case time.Since(*last) > backupAge:
		out.Text = "the last one is from " + last.Local().Format(time.DateTime)
	default:
		return part{Name: "last backup", State: "ok", Text: "the last one is from " + last.Local().Format(time.DateTime)}
	}

	switch {
	case len(targets) == 0:
		out.Do = "name a target of copies in the configuration: `reeve help backups` says how"
	case len(recipients) == 0:
		out.Do = "the target " + targets[0] + " gets no copies without a recipient: run `reeve backup recipient FILE`"
	default:
		out.Do = "run `reeve backup now`, which says why there are no copies"
	}
	return out
}

// checkPlaces reports the directories of targets whose disk seems not to be mounted.
func (p *program) checkPlaces() (parts []part) {
	set, err := p.config.Backups()
	if err != nil { // which the configuration says
		return nil
	}
	for _, t := range set.Targets {
		if t.Kind() != "directory" {
			continue
		}
		if err := backup.CheckPlace(p.config.DataDir, t.Path); err != nil {
			parts = append(parts, part{"target " + t.Name, "failed", err.Error(), "mount the disk of " + t.Path})
		}
	}
	return parts
}

// checkHourly reports targets of commands that get a whole backup each hour.
func (p *program) checkHourly(c *client) (parts []part) {
	set, err := p.config.Backups()
	if err != nil { // which the configuration says
		return nil
	}
	for _, t := range set.Targets {
		if t.Kind() != "command" {
			continue
		}
		hourly, err := c.setting("setting", "backup.hourly")
		if err == nil && hourly.text("values") != "0" {
			parts = append(parts, part{"target " + t.Name, "degraded", "the command gets a whole backup each hour, with all contents of files",
				"set backup.hourly to 0, or name a directory or a bucket, which gets each content once"})
		}
	}
	return parts
}

// checkRecipients reports recipients of copies that this server has not confirmed, without which it makes none. Each
// of several nodes confirms them, and each does so again after a restore.
func (p *program) checkRecipients() part {
	known, err := backup.Confirmed(p.config.DataDir)
	if err != nil {
		return part{"recipients", "failed", err.Error(), "see the file backup-recipients in the data directory"}
	}
	unconfirmed := slices.DeleteFunc(slices.Clone(p.config.Recipients()), func(r string) bool { return slices.Contains(known, r) })
	switch names := strings.Join(unconfirmed, ", "); {
	case len(unconfirmed) == len(p.config.Recipients()):
		return part{"recipients", "degraded", "this server has not confirmed " + names + ", and makes no copies", "run `reeve backup recipient FILE` here"}
	case len(unconfirmed) > 0:
		return part{"recipients", "degraded", "copies are made, but this server has not confirmed " + names + ", whose identity may not exist", "run `reeve backup recipient FILE` here"}
	}
	return part{Name: "recipients", State: "ok", Text: "confirmed"}
}

// certificateTime is the remaining life of a certificate from which it should have been renewed.
const certificateTime = 14 * 24 * time.Hour

func (p *program) checkCertificate() part {
	settings, err := p.config.Server()
	if err == nil && settings.TLSCert == "" {
		return part{Name: "certificate", State: "ok", Text: "none: a proxy has it, or there is no encryption"}
	}
	var cert tls.Certificate
	if err == nil {
		cert, err = tls.LoadX509KeyPair(settings.TLSCert, settings.TLSKey)
	}
	if err != nil {
		return part{"certificate", "failed", err.Error(), "see server.tls_cert and server.tls_key"}
	}

	ends := cert.Leaf.NotAfter
	out := part{Name: "certificate", State: "ok", Text: "ends at " + ends.Local().Format(time.DateTime)}
	switch left := time.Until(ends); {
	case left < 0:
		out.State, out.Text = "failed", "has expired at "+ends.Local().Format(time.DateTime)
	case left < certificateTime:
		out.State = "degraded"
	}
	if out.State != "ok" {
		out.Do = "renew it, then run `reeve reload`"
	}
	return out
}

// checkProxies reports proxies that are trusted and may be anyone.
func (p *program) checkProxies() part {
	settings, err := p.config.Server()
	if err != nil {
		return part{"proxies", "failed", err.Error(), "see server.trusted_proxies"}
	}
	if wide := settings.WideProxies(); len(wide) > 0 {
		return part{"proxies", "degraded", server.ProxyWarning(strings.Join(wide, ", ")), "name the addresses of the proxies"}
	}
	return part{Name: "proxies", State: "ok", Text: errs.Count(len(settings.TrustedProxies), "trusted network")}
}

func (p *program) checkConfig() part {
	if len(p.config.Warnings) == 0 {
		return part{Name: "configuration", State: "ok", Text: "no warnings"}
	}
	text := ""
	for i, w := range p.config.Warnings {
		if i > 0 {
			text += "; "
		}
		text += w
	}
	return part{"configuration", "degraded", text, "change the configuration"}
}

// checkVersion compares this program with the running one.
func (p *program) checkVersion(s status) part {
	if s.Commit == p.build() {
		return part{Name: "version", State: "ok", Text: s.Commit}
	}
	return part{"version", "degraded", "the server is " + s.Commit + ", this program " + p.build(),
		"restart the server to run the installed version"}
}
