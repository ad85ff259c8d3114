package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
	"reeve/store/s3/s3test"
)

// TestRestore_TwoAtOnce begins a restore to an empty directory while another one fetches its copy: it is refused,
// and the first one goes on.
func TestRestore_TwoAtOnce(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	o := newOffsite(t, fmt.Sprintf("path = %q\n", target))
	p := start(t, o.data, "--config", o.config)
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	p.stop()
	all, err := filepath.Glob(filepath.Join(target, "*", "*", "*", "copies", "*.data"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	text, err := os.ReadFile(all[0])
	noErr(t, err)
	noErr(t, os.Remove(all[0]))
	noErr(t, syscall.Mkfifo(all[0], 0o600)) // whoever reads it waits

	to := &offsite{o.config, filepath.Join(t.TempDir(), "data"), o.identity}
	first := begin(t, program(t, "restore", "offsite", "--identity", o.identity, "--config", o.config, "--data", to.data))
	fetched := func() []string {
		left, err := filepath.Glob(filepath.Join(to.data, kv.FetchedPattern))
		noErr(t, err)
		return left
	}
	eventually(t, "the first one fetches the copy", func() bool { return len(fetched()) == 1 })
	before := fetched()
	if r := to.run(t, "restore", "offsite", "--identity", o.identity); r.code == 0 || !strings.Contains(r.err, fmt.Sprint("process ", first.pid())) {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(fetched(), before) {
		t.Errorf("the second one has left %q of %q", fetched(), before)
	}
	pipe, err := os.OpenFile(all[0], os.O_WRONLY, 0)
	noErr(t, err)
	_, err = pipe.Write(text)
	noErr(t, err)
	noErr(t, pipe.Close())
	first.wait()
	if code := first.cmd.ProcessState.ExitCode(); code != 0 || len(fetched()) > 0 {
		t.Fatalf("%d, %q: %s", code, fetched(), &first.log)
	}
	sound(t, to.data)
}

// TestRestore_InterruptedWhileItWaits interrupts restores from a bucket that answers no more after some bytes: they
// end, and leave what was there.
func TestRestore_InterruptedWhileItWaits(t *testing.T) {
	t.Parallel()
	s := s3test.Start(t)
	table := "endpoint = \"http://%s\"\nbucket = \"bucket\"\nregion = \"us-east-1\"\nstyle = \"path\"\naccess_key = %q\nsecret_key = %q\n"
	o := newOffsite(t, fmt.Sprintf(table, strings.TrimPrefix(s.URL, "http://"), s.AccessKey, s.SecretKey))
	p := start(t, o.data, "--config", o.config)
	c := signedIn(t, p)
	o.must(t, "backup", "recipient", o.identity)
	c.keepsText("file", strings.Repeat("content ", 20_000))
	o.must(t, "backup", "now", "offsite")
	p.stop()

	v := newValve(t, strings.TrimPrefix(s.URL, "http://"))
	v.stalled = make(chan struct{}, 1000)
	slow := newOffsite(t, fmt.Sprintf(table, v.Addr(), s.AccessKey, s.SecretKey))
	old := t.TempDir()
	filled(t, old, "what is there")
	stood := 0
	for i := range disktest.Size(6, 20, 100) {
		v.most.Store([]int64{0, 5_000, 60_000, 120_000, 240_000, rand.Int64N(300_000)}[min(i, 5)])
		dir := copyDir(t, old)
		before := names(t, dir)
		restoring := begin(t, program(t, "restore", "offsite", "--identity", o.identity, "--config", slow.config, "--data", dir))
		select {
		case <-v.stalled:
			stood++
		case <-restoring.done:
		}
		restoring.signal(syscall.SIGINT)
		restoring.wait()
		for len(v.stalled) > 0 {
			<-v.stalled
		}
		code := restoring.cmd.ProcessState.ExitCode()
		left := slices.DeleteFunc(names(t, dir), func(name string) bool { return code == 0 && strings.HasPrefix(name, "kept-") })
		if code == 0 && i < 5 || code < 0 || !slices.Equal(left, before) {
			t.Errorf("after %d bytes: code %d, %q: %s", v.most.Load(), code, left, &restoring.log)
		}
		if code != 0 && !strings.Contains(restoring.log.String(), "interrupted") {
			t.Errorf("%s", &restoring.log)
		}
		sound(t, dir)
	}
	if stood < 5 {
		t.Errorf("only %d of the restores have waited", stood)
	}
	v.most.Store(1 << 40)
	slow.must(t, "restore", "offsite", "--identity", o.identity)
	sound(t, slow.data)
}

// TestBackupNow_Interrupted interrupts a copy that would take hours, beside a server and without one: it is cancelled.
func TestBackupNow_Interrupted(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	o := newOffsite(t, fmt.Sprintf("path = %q\nbandwidth = 10\n", at))
	p := start(t, o.data, "--config", o.config)
	o.must(t, "backup", "recipient", o.identity)
	sent := func() []string {
		found, err := filepath.Glob(filepath.Join(at, "*", "*", "*", "copies", "*.new"))
		noErr(t, err)
		return found
	}
	eventually(t, "the first copy is being made", func() bool { return len(sent()) > 0 })
	for _, running := range []bool{true, false} {
		begun := func() bool { return strings.Contains(o.run(t, "audit", "tail", "--json").out, `"backup_now"`) }
		if !running {
			p.stop()
			for _, left := range sent() {
				noErr(t, os.Remove(left))
			}
			begun = func() bool { return len(sent()) > 0 }
		}
		command := begin(t, program(t, "backup", "now", "offsite", "--config", o.config, "--data", o.data))
		eventually(t, "the copy is asked for", begun)
		command.signal(syscall.SIGINT)
		command.wait()
		if code := command.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(command.log.String(), "the copy was cancelled") {
			t.Errorf("running %v: code %d: %s", running, code, &command.log)
		}
	}
}
