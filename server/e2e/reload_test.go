package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reeve/store"
)

// awaits waits until the log has a text, and returns the lines with it.
func (p *process) awaits(text string) string {
	p.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		var found []string
		for line := range strings.Lines(p.log.String()) {
			if strings.Contains(line, text) {
				found = append(found, line)
			}
		}
		if len(found) > 0 {
			return strings.Join(found, "")
		}
		if time.Now().After(end) {
			p.t.Fatalf("the log does not say %q:\n%s", text, &p.log)
		}
	}
}

// TestReload changes the file of a running server: some keys are in force at once, others are named
// as waiting for a restart, and a file with a fault changes nothing.
func TestReload(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) { noErr(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("[server]\nlisten = \"127.0.0.1:0\"\n")
	p := begin(t, program(t, "serve", "--config", file, "--data", dir))
	p.ready()
	get := func(path, origin, token string) *http.Response {
		r, err := http.NewRequest("GET", p.url+path, nil)
		noErr(t, err)
		r.Header.Set("Origin", origin)
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		noErr(t, err)
		resp.Body.Close()
		return resp
	}
	const friend, token = "https://friend.example.org", "a-token-of-metrics"
	if resp := get("/metrics", friend, token); resp.StatusCode != 404 ||
		resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("before: %s %v", resp.Status, resp.Header)
	}

	write("[server]\nlisten = \"127.0.0.1:1\"\ncors_origins = [\"" + friend + "\"]\n[metrics]\ntoken = \"" + token + "\"\n")
	if r := run(t, "reload", "--data", dir); r.code != 0 {
		t.Fatalf("reeve reload: %+v", r)
	}
	said := p.awaits("the configuration was reloaded")
	if !strings.Contains(said, `"changed":["metrics.token","server.cors_origins"]`) ||
		!strings.Contains(said, `"needs_restart":["server.listen"]`) ||
		strings.Contains(said, token) {
		t.Errorf("the log says %s", said)
	}
	if resp := get("/metrics", friend, token); resp.StatusCode != 200 ||
		resp.Header.Get("Access-Control-Allow-Origin") != friend {
		t.Errorf("after: %s %v", resp.Status, resp.Header)
	}

	write("[server]\ncors_origins = [\"not an origin\"]\n")
	p.signal(syscall.SIGHUP)
	if said := p.awaits("was not reloaded"); !strings.Contains(said, "server.cors_origins") {
		t.Errorf("the log says %s", said)
	}
	if resp := get("/metrics", friend, token); resp.StatusCode != 200 ||
		resp.Header.Get("Access-Control-Allow-Origin") != friend {
		t.Errorf("after a fault: %s %v", resp.Status, resp.Header)
	}
	p.stop()
	if r := run(t, "reload", "--data", dir); r.code != 1 ||
		!strings.Contains(r.err, "no server is running") {
		t.Errorf("without a server: %+v", r)
	}
}

// TestReload_InForce changes every key that a reload can change, and asks the running server as its
// clients would.
func TestReload_InForce(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	file, dir, hook := filepath.Join(at, "config.toml"), filepath.Join(at, "data"), "https://app.example.org"
	cert, key, first := selfSigned(t)
	newCert, newKey, second := selfSigned(t)
	write := func(level, server, forward string) {
		noErr(t, os.WriteFile(file, []byte("[log]\nlevel = \""+level+"\"\n[server]\nlisten = \"127.0.0.1:0\"\npublic_url = \"https://reeve.example.org\"\ntls_cert = \""+
			cert+"\"\ntls_key = \""+key+"\"\n"+server+"[forward_auth]\nurl = \"https://reeve.example.org\"\norigins = ["+forward+"]\n"), 0o600))
	}
	write("info", "", "")
	p := begin(t, program(t, "serve", "--config", file, "--data", dir))
	p.ready()

	// seen returns what clients see of each key.
	rounds := 0
	seen := func() (all []string) {
		t.Helper()
		r, err := http.NewRequest("GET", p.url+"/api/home", nil)
		noErr(t, err)
		for i, pool := range []*x509.CertPool{first, second} {
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
			resp, err := (&http.Client{Transport: transport}).Do(r)
			if err == nil {
				resp.Body.Close()
				all = append(all, fmt.Sprintf("certificate %d", i+1))
			}
			transport.CloseIdleConnections()
		}

		c := newClient(t, p)
		c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
		c.extra["X-Forwarded-For"] = "203.0.113.9"
		c.signIn(password)
		var sessions struct {
			Data []struct {
				IP      string
				Current store.Flag
			}
		}
		noErr(t, json.Unmarshal(c.want(200, "GET", "/admin/session", "").Data, &sessions))
		for _, s := range sessions.Data {
			if s.Current {
				all = append(all, "client "+s.IP)
			}
		}

		r.Host = "reeve.lan.example.net"
		resp, err := c.http.Do(r)
		noErr(t, err)
		resp.Body.Close()
		all = append(all, fmt.Sprintf("host %d", resp.StatusCode))

		c.extra = map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": strings.TrimPrefix(hook, "https://"),
			"X-Forwarded-Uri": "/", "X-Forwarded-Method": "GET"}
		all = append(all, fmt.Sprintf("program %d", c.call("GET", "/auth/verify", "").status))
		rounds++
		c.extra = nil
		c.call("GET", fmt.Sprintf("/round/%d", rounds), "") // a line of the log at the level debug
		return all
	}

	was := []string{"certificate 1", "client 127.0.0.1", "host 400", "program 403"}
	if got := seen(); !slices.Equal(got, was) {
		t.Errorf("before: %q", got)
	}
	for from, to := range map[string]string{newCert: cert, newKey: key} { // as a renewal replaces them
		noErr(t, os.Rename(from, to))
	}
	write("debug", "trusted_proxies = [\"127.0.0.1/32\"]\nallowed_hosts = [\"reeve.lan.example.net\"]\n", `"`+hook+`"`)
	if r := run(t, "reload", "--data", dir); r.code != 0 {
		t.Fatalf("reeve reload: %+v", r)
	}
	is := []string{"certificate 2", "client 203.0.113.9", "host 200", "program 401"}
	if got := seen(); !slices.Equal(got, is) {
		t.Errorf("after: %q", got)
	}
	write("info", "", "")
	if r := run(t, "reload", "--data", dir); r.code != 0 {
		t.Fatalf("reeve reload: %+v", r)
	}
	was[0] = is[0]
	if got := seen(); !slices.Equal(got, was) {
		t.Errorf("taken back: %q", got)
	}
	p.stop()
	for round := 1; round <= rounds; round++ {
		logged := strings.Contains(p.log.String(), fmt.Sprintf(`"path":"/round/%d"`, round))
		if want := round == 2; logged != want {
			t.Errorf("round %d is in the log: %v, want %v", round, logged, want)
		}
	}
}

// TestReload_WarnsLikeStart gives a running server a configuration that a start warns about, in every
// part that a reload can change, and compares the warnings.
func TestReload_WarnsLikeStart(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	file, dir := filepath.Join(at, "config.toml"), filepath.Join(at, "data")
	cert, key, _ := selfSigned(t)
	write := func(origins string) {
		noErr(t, os.WriteFile(file, []byte("[server]\nlisten = \"127.0.0.1:0\"\npublic_url = \"https://reeve.example.org\"\ntls_cert = \""+cert+
			"\"\ntls_key = \""+key+"\"\n[forward_auth]\nurl = \"https://reeve.example.org\"\norigins = ["+origins+"]\n"), 0o600))
	}

	write("")
	p := begin(t, program(t, "serve", "--config", file, "--data", dir))
	p.ready()
	if got := p.log.messages(t, "warn"); len(got) != 0 {
		t.Errorf("before: %q", got)
	}
	write(`"https://reeve.example.org:8443", "https://reeve.example.org:9443", "https://app.example.org"`)
	r := run(t, "reload", "--data", dir)
	reloaded := p.log.messages(t, "warn")
	p.stop()
	p = begin(t, program(t, "serve", "--config", file, "--data", dir))
	p.ready()
	started := p.log.messages(t, "warn")
	p.stop()
	if len(started) != 2 || !slices.Equal(started, reloaded) {
		t.Errorf("a start warns %q, a reload %q", started, reloaded)
	}
	for _, warning := range started {
		if r.code != 0 || !strings.Contains(r.out, "warning: "+warning) {
			t.Errorf("the command does not warn %q: %+v", warning, r)
		}
	}
}

// TestReload_SparesOtherCommands sends SIGHUP, as `reeve reload` does, to a command that has begun to
// work. It reads its identities from a pipe, which keeps it waiting.
func TestReload_SparesOtherCommands(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "identities")
	noErr(t, syscall.Mkfifo(pipe, 0o600))
	p := begin(t, program(t, "restore", "backup", "--identity", pipe, "--data", t.TempDir()))
	opened := make(chan *os.File, 1)
	go func() {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the command to read
		if err != nil {
			t.Error(err)
		}
		opened <- f
	}()

	select {
	case f := <-opened:
		p.signal(syscall.SIGHUP)
		noErr(t, f.Close())
	case <-p.done:
		t.Fatalf("it has ended:\n%s", &p.log)
	}
	p.wait()
	if code := p.cmd.ProcessState.ExitCode(); code != 1 ||
		!strings.Contains(p.log.String(), "must hold age identities") {
		t.Errorf("it ended with %d:\n%s", code, &p.log)
	}
}
