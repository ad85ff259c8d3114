package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// sdkDir has the TypeScript client.
const sdkDir = repository + "/embed/sdk/typescript"

// nodeScript prepares a run of a script of testdata/sdk with node, which finds the client as
// @reeve/client.
func nodeScript(t *testing.T, name string, env ...string) *exec.Cmd {
	t.Helper()
	needs(t, "node")
	dir := t.TempDir()
	noErr(t, os.MkdirAll(filepath.Join(dir, "node_modules", "@reeve"), 0o700))
	client, err := filepath.Abs(sdkDir)
	noErr(t, err)
	noErr(t, os.Symlink(client, filepath.Join(dir, "node_modules", "@reeve", "client")))
	noErr(t,
		os.WriteFile(filepath.Join(dir, name), []byte(readText(t, "testdata/sdk/"+name)), 0o600))
	cmd := exec.Command("node", name)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	return cmd
}

// runScript runs a script to its end; it fails if something is not as expected.
func runScript(t *testing.T, name string, env ...string) {
	t.Helper()
	if out, err := nodeScript(t, name, env...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// runningScript is a script that prints lines while a test goes on.
type runningScript struct {
	t     *testing.T
	lines chan string
	stdin io.WriteCloser
	done  chan error
}

func startScript(t *testing.T, name string, env ...string) *runningScript {
	t.Helper()
	cmd := nodeScript(t, name, env...)
	s := &runningScript{t: t, lines: make(chan string, 1000), done: make(chan error, 1)}
	out, err := cmd.StdoutPipe()
	noErr(t, err)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	s.stdin, err = cmd.StdinPipe()
	noErr(t, err)
	noErr(t, cmd.Start())
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.lines <- lines.Text()
		}
		close(s.lines)
		s.done <- cmd.Wait()
	}()

	t.Cleanup(func() {
		cmd.Process.Kill()
		for range s.lines { // until it has ended
		}
		if t.Failed() {
			t.Logf("%s: %s", name, errOut.String())
		}
	})
	return s
}

// until reads lines up to one with a text, and returns that one.
func (s *runningScript) until(text string) string {
	s.t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				s.t.Fatalf("the script has ended before it printed %q", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-late:
			s.t.Fatalf("the script has not printed %q", text)
		}
	}
}

// programKey creates an API key with permissions, and returns its token.
func (c *client) programKey(name string, permissions ...string) string {
	c.t.Helper()
	role := c.roleWith("Role of the key "+name, permissions...)
	return into[grant](c.t,
		c.want(200, "POST", "/admin/key", object("name", name, "role_ids", []int64{role}))).Token
}

func TestTypeScriptClientCalls(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	c := signedIn(t, p)
	key := c.programKey("program", "auth.check", "system.dict.query", "system.dict.create",
		"system.dict.update", "system.dict.delete")
	c.create("/user/list", "username", "zoe", "password", password)
	proxy := newPlanned(t, p.url)
	runScript(t, "calls.mjs", "SERVER="+p.url, "PROXY="+proxy.URL, "KEY="+key, "PASSWORD="+password)
	if sent := proxy.requests("pass.address"); len(sent) != 2 || // the key lacks the permission
		sent[1].Header.Get("X-Forwarded-For") != "203.0.113.7" {
		t.Errorf("the address of the client is not passed on: %+v", sent)
	}
}

func TestTypeScriptWebhooks(t *testing.T) {
	t.Parallel()
	runScript(t, "webhook.mjs")
}

func TestTypeScriptClient_FollowsConfig(t *testing.T) {
	t.Parallel()
	dir, listen := t.TempDir(), freeAddress(t)
	serve := func() (*process, *client) {
		p := begin(t, program(t, "serve", "--listen", listen, "--data", dir))
		p.ready()
		return p, signedIn(t, p)
	}
	p, c := serve()
	c.define(c.group("shop"), "title", "input", "One")
	key := c.programKey("program", "system.setting.read.shop")
	s := startScript(t, "follow.mjs", "SERVER="+p.url, "KEY="+key)
	s.until("first One")
	c.want(200, "PUT", "/system/setting", values("shop.title", "Two"))
	s.until("changed Two")
	s.until("failed a listener fails")
	p.stop()
	s.until("failed unreachable")
	p, c = serve()
	c.want(200, "PUT", "/system/setting", values("shop.title", "Three"))
	s.until("changed Three")
	p.kill()
	_, c = serve()
	c.want(200, "PUT", "/system/setting", values("shop.title", "Four"))
	s.until("changed Four")
	noErr(t, s.stdin.Close())
	select {
	case err := <-s.done:
		noErr(t, err)
	case <-time.After(patience):
		t.Error("after close, the process does not end")
	}
}

// TestTypeScriptClient_Size counts all that index.js imports, since every user of the client loads
// it.
func TestTypeScriptClient_Size(t *testing.T) {
	t.Parallel()
	imports := regexp.MustCompile(`from '\./([\w.]+)'`)
	size := func(entry string, without ...string) (total int) {
		todo, seen := []string{entry}, map[string]bool{}
		for _, name := range without {
			seen[name] = true
		}

		for ; len(todo) > 0; todo = todo[1:] {
			if seen[todo[0]] {
				continue
			}
			seen[todo[0]] = true
			text := readText(t, sdkDir+"/dist/"+todo[0])
			total += len(text)
			for _, match := range imports.FindAllStringSubmatch(text, -1) {
				todo = append(todo, match[1])
			}
		}

		return total
	}

	client := []string{"index.js", "client.js", "config.js", "events.js", "flag.js", "send.js", "webhook.js"}
	for name, c := range map[string]struct{ bytes, most int }{
		"the client": {size("index.js"), 17 << 10},
		"a sign-in":  {size("index.js") + size("login.js", client...), 19 << 10}, // loaded when it is used
		"Express":    {size("express.js", client...), 18 << 10},
		"Hono":       {size("hono.js", client...), 18 << 10},
	} {
		if c.bytes >= c.most || c.bytes < 1<<10 {
			t.Errorf("%s has %d bytes", name, c.bytes)
		}
	}
}

// The declarations compile in a strict program, and reject what the OpenAPI document does not know.
func TestTypeScriptClientTypes(t *testing.T) {
	t.Parallel()
	cmd := nodeScript(t, "types.ts")
	compileTypeScript(t, cmd.Dir, "types.ts")
}

// compileTypeScript checks the types of files in a directory of nodeScript.
func compileTypeScript(t *testing.T, dir string, files ...string) {
	t.Helper()
	tsc, err := filepath.Abs(repository + "/embed/console/node_modules/.bin/tsc")
	noErr(t, err)
	if _, err := os.Stat(tsc); err != nil && os.Getenv("CI") != "true" {
		t.Skip("the packages of the console are not installed")
	}

	noErr(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600))
	check := exec.Command(tsc, append([]string{"--noEmit", "--strict", "--noUncheckedIndexedAccess",
		"--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext", "--types", ""}, files...)...)
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A message that Reeve sends is verified; the answer to one that the program cannot process is no
// success, and does not pause the webhook.
func TestTypeScriptWebhooks_Program(t *testing.T) {
	t.Parallel()
	for _, framework := range []string{"express", "hono"} {
		t.Run(framework, func(t *testing.T) {
			t.Parallel()
			p := start(t, t.TempDir(), allowLocal)
			c := signedIn(t, p)
			origin := "http://" + freeAddress(t)
			out := into[struct{ Secret string }](t,
				c.want(200, "POST", "/system/webhook",
					fmt.Sprintf(`{"url":"%s/hook","types":["dict.*"]}`, origin)))
			s := startScript(t, "program.mjs", "SERVER="+p.url, "ORIGIN="+origin,
				"FRAMEWORK="+framework, "SECRET="+out.Secret, "KEY=")
			s.until("listening")
			c.create("/system/dict", "code", "colour", "name", "Größen")
			if line := s.until("event "); !strings.HasSuffix(line, " dict.changed Größen") {
				t.Errorf("it has received %q", line)
			}

			for name, a := range map[string]struct {
				body   string
				status int
			}{"without a signature": {"{}", 401}, "too long": {strings.Repeat(" ", 1<<20+1), 413}} {
				resp, err := http.Post(origin+"/hook", "application/json",
					strings.NewReader(a.body))
				noErr(t, err)
				resp.Body.Close()
				if resp.StatusCode != a.status {
					t.Errorf("%s: %s", name, resp.Status)
				}
			}
			// The handler fails with an error whose status is 410, which would pause the webhook.
			signer, err := standardwebhooks.NewWebhook(out.Secret)
			noErr(t, err)
			now, body := time.Now(), []byte(`{"type":"fail"}`)
			signature, err := signer.Sign("msg", now, body)
			noErr(t, err)
			r, err := http.NewRequest("POST", origin+"/hook", bytes.NewReader(body))
			noErr(t, err)
			r.Header = http.Header{
				"Webhook-Id":        {"msg"},
				"Webhook-Timestamp": {fmt.Sprint(now.Unix())},
				"Webhook-Signature": {signature},
			}

			resp, err := http.DefaultClient.Do(r)
			noErr(t, err)
			resp.Body.Close()
			if resp.StatusCode != 500 {
				t.Errorf("a handler that fails: %s", resp.Status)
			}
		})
	}
}
