package e2e

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ofBlock prepares a run of a block of the manual with a directory of programs, whose processes end with the test.
func ofBlock(t *testing.T, dir, block, programs string, words ...string) *exec.Cmd {
	t.Helper()
	needs(t, "bash")
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", block)
	cmd.Dir, cmd.Env = dir, append(program(t, words...).Env, "PATH="+programs+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// end ends the processes of ofBlock.
func end(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails if they have ended
	}
}

// TestManualStart starts the program as the first pages say, from the source and after it was built.
func TestManualStart(t *testing.T) {
	t.Parallel()
	onlyInCI(t, "it builds the program")
	source, err := filepath.Abs(repository)
	noErr(t, err)
	for _, c := range []struct {
		page, text string
		replace    []string
		password   string // that the block does not set
	}{
		{"../../README.md", "go run .", nil, ""},
		{"getting-started.md", "one' ./reeve", []string{"./reeve", binary}, ""},
		{"getting-started.md", "go build", []string{"-trimpath -o reeve .", "-o DIR/reeve .", "\n./reeve", "\nDIR/reeve"}, manualPassword}, // as it is compiled already
	} {
		t.Run(c.text, func(t *testing.T) {
			dir := t.TempDir()
			for i := range c.replace {
				c.replace[i] = strings.ReplaceAll(c.replace[i], "DIR", dir)
			}
			block := strings.NewReplacer(c.replace...).Replace(manualBlock(t, c.page, "TestManualStart", c.text))
			cmd := ofBlock(t, source, block, filepath.Dir(binary), "REEVE_ADMIN_PASSWORD="+c.password,
				"REEVE_SERVER__LISTEN=127.0.0.1:0", "REEVE_DATA__DIR="+filepath.Join(dir, "data"))
			p := begin(t, cmd)
			t.Cleanup(func() { end(cmd) })
			p.ready()
			newClient(t, p).signIn(manualPassword)
		})
	}
}

// TestManualCodeByEmail signs an app user in with a code by email as the page says.
func TestManualCodeByEmail(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	server, c, post := withMail(t)
	at := strings.TrimPrefix(server.url, "http://")
	block := func(text string) string {
		return strings.ReplaceAll(manualBlock(t, "app-users.md", "TestManualCodeByEmail", text), "localhost:8080", at)
	}
	runBlock(t, t.TempDir(), "TOKEN="+c.token+"\n"+block("app.code_sign_in"))
	newClient(t, server).want(200, "POST", "/api/password/link", object("token", post.find(t, linkInMail), "password", manualPassword))

	cmd := ofBlock(t, t.TempDir(), "json='Content-Type: application/json'\n"+block("login_token"), filepath.Dir(binary))
	code, err := cmd.StdinPipe()
	noErr(t, err)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	noErr(t, cmd.Start())
	defer end(cmd)
	fmt.Fprintln(code, post.find(t, codeInMail))
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), `"token":"rv_`) {
		t.Errorf("%v %s", err, &out)
	}
}

// TestManualTrial runs three nodes on one machine as the page says.
func TestManualTrial(t *testing.T) {
	t.Parallel()
	programs := t.TempDir()
	reeve, err := several()
	noErr(t, err)
	for name, path := range map[string]string{"reeve": reeve, "etcd": os.Getenv("REEVE_TEST_ETCD"), "versitygw": os.Getenv("REEVE_TEST_S3")} {
		if path == "" {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is missing", name)
			}
			t.Skipf("%s is missing", name)
		}
		noErr(t, os.Symlink(path, filepath.Join(programs, name)))
	}
	var listeners []net.Listener
	port := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		noErr(t, err)
		listeners = append(listeners, l)
		_, port, err := net.SplitHostPort(l.Addr().String())
		noErr(t, err)
		return port
	}
	block := manualBlock(t, "several-nodes.md", "TestManualTrial", "versitygw")
	block = strings.NewReplacer("238$n", "${clients[$n]}", "239$n", "${peers[$n]}", "808$n", "${ports[$n]}", "7070", port(),
		"members='", "members=\"", "2391", "${peers[1]}", "2392", "${peers[2]}", "2393'", "${peers[3]}\"",
		"2381", "${clients[1]}", "2382", "${clients[2]}", "2383", "${clients[3]}").Replace(block)
	three := func() string { return strings.Join([]string{"0", port(), port(), port()}, " ") }
	block = "clients=(" + three() + ") peers=(" + three() + ") ports=(" + three() + ")\n" + block
	for _, l := range listeners {
		l.Close()
	}

	cmd := ofBlock(t, t.TempDir(), block, programs)
	log, err := os.Create(filepath.Join(t.TempDir(), "log")) // a file: the script ends before its background jobs
	noErr(t, err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	noErr(t, cmd.Start())
	t.Cleanup(func() { end(cmd) })
	err = cmd.Wait()
	if out := readText(t, log.Name()); err != nil || strings.Count(out, " equal") != 3 {
		t.Errorf("%v\n%s", err, out)
	}
}
