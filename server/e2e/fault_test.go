package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// unless skips a test for a reason, and fails it in continuous integration.
func unless(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// inject makes a system call of a running process fail, on all files or those of paths,
// until the test stops it. It uses strace (Debian package strace), which must be allowed to
// trace the process.
func inject(t *testing.T, p *process, fault string, paths ...string) (takeBack func()) {
	t.Helper()
	return injectInto(t, p.pid(), fault, paths...)
}

// injectInto is inject for any process.
func injectInto(t *testing.T, pid int, fault string, paths ...string) (takeBack func()) {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		unless(t, "strace is missing: no way to make the disk fail")
	}

	call, _, _ := strings.Cut(fault, ":")
	cmd := exec.Command(path, "-f", "-p", strconv.Itoa(pid), "-o", os.DevNull, "-e",
		"trace="+call, "-e", "inject="+fault)
	for _, path := range paths {
		cmd.Args = append(cmd.Args, "-P", path)
	}

	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	ended := make(chan struct{})
	takeBack = func() {
		cmd.Process.Signal(os.Interrupt) // it detaches; an error means that the process has ended
		<-ended
	}
	t.Cleanup(takeBack)
	attached := make(chan bool, 1)
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if strings.Contains(lines.Text(), "attached") {
				select {
				case attached <- true:
				default:
				}
			}
		}
		cmd.Wait() // its exit status does not matter
		close(attached)
	}()

	if !<-attached {
		unless(t, "strace may not trace a process here")
	}

	return takeBack
}

// sound checks that verify reports nothing.
func sound(t *testing.T, dir string) {
	t.Helper()
	if r := run(t, "verify", "--data", dir); r.code != 0 {
		t.Errorf("verify: %s%s", r.out, r.err)
	}
}

func TestFailedSync_EndsWritingOnly(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", `{"values":{"site.title":"before"}}`)
	inject(t, p, "fdatasync:error=EIO")
	for _, code := range []string{"write_outcome_unknown", "writing_stopped"} {
		if a := c.want(503, "PUT", "/system/setting", `{"values":{"site.title":"after"}}`); a.ErrorCode != code {
			t.Errorf("errorCode is %s, want %s", a.ErrorCode, code)
		}
	}

	for range 50 {
		c.want(503, "PUT", "/system/setting", `{"values":{"site.title":"after"}}`)
	}

	if n := strings.Count(p.log.String(), "writing_stopped") + strings.Count(p.log.String(),
		"writing to data.db has stopped"); n > 3 {
		t.Errorf("the log has %d lines about it", n)
	}
	if now := c.title(); now != "before" {
		t.Errorf("reading goes on with what was acknowledged, not with %s", now)
	}

	c.want(503, "GET", "/health", "")
	p.kill()
	again := start(t, dir)
	if now := signedIn(t, again).title(); now != "before" && now != "after" {
		t.Errorf("after a restart the title is %s", now) // a write whose sync failed may be stored or not
	}

	again.stop()
	sound(t, dir)
}

func TestFullDisk_WritingResumes(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	takeBack := inject(t, p, "pwrite64:error=ENOSPC")
	for range 3 {
		c.want(507, "PUT", "/system/setting", `{"values":{"site.title":"full"}}`)
	}

	if now := c.title(); now == "full" {
		t.Errorf("a refused write is read: %s", now)
	}

	takeBack()
	eventually(t, "writing goes on", func() bool { // once the reserve is refilled
		return c.call("PUT", "/system/setting", `{"values":{"site.title":"room"}}`).status == 200
	})
	p.kill()
	again := start(t, dir)
	if now := signedIn(t, again).title(); now != "room" {
		t.Errorf("after a restart the title is %s, want room", now)
	}

	again.stop()
	sound(t, dir)
}
