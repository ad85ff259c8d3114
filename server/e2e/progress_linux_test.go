package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// pseudoTerminal returns a terminal for a command, and a function that returns what was written to it.
func pseudoTerminal(t *testing.T) (terminal *os.File, screen func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	noErr(t, err)
	t.Cleanup(func() { master.Close() })
	var number, unlock int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, fault := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value))); fault != 0 {
			t.Fatal(fault)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	noErr(t, err)
	t.Cleanup(func() { terminal.Close() })
	var shown printed
	go func() {
		for b := make([]byte, 4096); ; {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			shown.Write(b[:n])
		}
	}()
	return terminal, shown.String
}

// TestProgress_OnTerminal slows down commands, which then show on a terminal how far they are. Where
// their messages go to a file, they show nothing.
func TestProgress_OnTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backup := filepath.Join(t.TempDir(), "backup.tar")
	p := start(t, dir)
	if r := run(t, "backup", "now", backup, "--data", dir); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	signedIn(t, p).upload("film", strings.Repeat("some bytes ", 1<<21))
	setup := func(text string) string {
		var b strings.Builder
		b.WriteString("[roles]\n")
		for i := range 500 {
			fmt.Fprintf(&b, "\"Role %d\" = { description = %q }\n", i, text)
		}
		file := filepath.Join(t.TempDir(), "roles.toml")
		noErr(t, os.WriteFile(file, []byte(b.String()), 0o600))
		return file
	}
	older := func() string {
		dir := t.TempDir()
		if out, err := exec.Command("tar", "-xzf", "../../store/testdata/schema-19.tar.gz", "-C", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return dir
	}
	for _, test := range []struct {
		fault string   // of the server, or of the command itself if there are paths
		paths []string // on which it is; empty for all
		words []string
		want  string
	}{
		{"fdatasync:delay_enter=60000", nil, []string{"apply", setup("on a terminal"), "--data", dir}, `apply \[#+\.+\] +\d+ %`},
		{"fdatasync:delay_enter=60000", nil, []string{"apply", setup("to a file"), "--data", dir}, ""},
		{"fdatasync:delay_enter=80000", nil, []string{"compact", "--data", dir}, `compact `},
		{"pread64:delay_enter=20000", nil, []string{"verify", "--data", dir}, `\d+ MiB verified`},
		{"read:delay_enter=100000", []string{backup}, []string{"restore", backup, "--data", t.TempDir()}, `restore \[#+\.*\] +\d+ %`},
		{"fdatasync,fsync:delay_enter=200000", []string{}, []string{"user", "list", "--data", older()}, `migrate \[#+\.*\] +\d+ %`},
		{"fdatasync,fsync:delay_enter=200000", []string{}, []string{"user", "list", "--data", older()}, ""},
	} {
		cmd := program(t, test.words...)
		terminal, screen := pseudoTerminal(t)
		slow := p.pid()
		if test.paths != nil {
			heldBack(cmd)
		}
		file, err := os.Create(filepath.Join(t.TempDir(), "messages"))
		noErr(t, err)
		defer file.Close()
		cmd.Stderr = file
		if test.want != "" {
			cmd.Stderr = terminal
		}
		var takeBack func()
		if test.paths == nil {
			takeBack = injectInto(t, slow, test.fault)
		}
		begun := time.Now()
		noErr(t, cmd.Start())
		if test.paths != nil {
			takeBack = injectInto(t, cmd.Process.Pid, test.fault, test.paths...)
			noErr(t, cmd.Process.Signal(syscall.SIGCONT))
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q: %v %s", test.words, err, screen())
		}
		takeBack()
		messages, err := os.ReadFile(file.Name())
		noErr(t, err)
		if strings.Contains(string(messages), "\r") || strings.Contains(string(messages), "\x1b") {
			t.Errorf("%q writes to a file: %q", test.words, messages)
		}
		if test.want == "" {
			continue
		}
		t.Logf("%s took %s", test.words[0], time.Since(begun).Round(time.Millisecond))
		eventually(t, fmt.Sprintf("%q removes its bar", test.words), func() bool { return strings.HasSuffix(screen(), "\r\x1b[K") })
		if !regexp.MustCompile(test.want).MatchString(screen()) {
			t.Errorf("%q shows %q, want %s", test.words, screen(), test.want)
		}
	}

	top := program(t, "top", "--data", dir)
	terminal, screen := pseudoTerminal(t)
	top.Stdout = terminal
	noErr(t, top.Start())
	const home = "\x1b[H\x1b[2J"
	eventually(t, "top to begin again", func() bool { return strings.Count(screen(), home) > 1 })
	noErr(t, top.Process.Signal(os.Interrupt))
	if err := top.Wait(); err != nil || !strings.Contains(screen(), "ROUTE, last 5 minutes") {
		t.Errorf("top: %v %q", err, screen())
	}
	p.stop()
}
