package e2e

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// reloadCase is a group of keys that a reload changes together, and how the running server shows that.
type reloadCase struct {
	set     map[string]string // values in TOML, by key
	was, is string            // what see returns before and after
	see     func(r *reloading) string
}

// reloading is a server whose file of the configuration changes.
type reloading struct {
	*testing.T
	p            *process
	c            *client // of the first user
	at, dir      string
	certificates [2]string // serial numbers
	cookies      []*http.Cookie
	pings        atomic.Int32
	rounds       int
}

const reloadOrigin = "https://app.example.org"

// reloadBase are the keys that the file always has.
var reloadBase = map[string]string{
	"server.listen": `"127.0.0.1:0"`, "server.public_url": `"https://reeve.example.org"`, "server.tls_cert": `"AT/cert1"`,
	"server.tls_key": `"AT/key1"`, "forward_auth.url": `"https://reeve.example.org"`, "auth.bcrypt_cost": "10", "data.dir": `"AT/data"`,
}

// reloadCases have every key that a reload puts in force.
func reloadCases() map[string]reloadCase {
	target := map[string]string{"backup.offsite.path": `"AT/offsite"`}
	bucket := map[string]string{
		"backup.bucket.endpoint": `"http://127.0.0.1:9"`, "backup.bucket.bucket": `"bucket"`, "backup.bucket.region": `"here"`,
		"backup.bucket.prefix": `"below"`, "backup.bucket.access_key": `"key"`, "backup.bucket.secret_key": `"secret"`,
		"backup.bucket.style": `"path"`, "backup.bucket.ca": `"AT/cert1"`, "backup.bucket.bandwidth": "1000000", "backup.bucket.delete": "false",
	}
	return map[string]reloadCase{
		"log level":      {map[string]string{"log.level": `"debug"`}, "no line", "a line", (*reloading).requestInLog},
		"metrics":        {map[string]string{"metrics.token": `"a-token-of-metrics"`}, "404", "200", (*reloading).metrics},
		"proxies":        {map[string]string{"server.trusted_proxies": `["127.0.0.1/32"]`}, "127.0.0.1", "203.0.113.9", (*reloading).clientAddress},
		"hosts":          {map[string]string{"server.allowed_hosts": `["reeve.lan.example.net"]`}, "400", "200", (*reloading).otherHost},
		"origins":        {map[string]string{"server.cors_origins": `["https://friend.example.org"]`}, "", "https://friend.example.org", (*reloading).allowedOrigin},
		"certificate":    {map[string]string{"server.tls_cert": `"AT/cert2"`, "server.tls_key": `"AT/key2"`}, "first", "second", (*reloading).certificate},
		"programs":       {map[string]string{"forward_auth.origins": `["` + reloadOrigin + `"]`}, "403 unknown_origin", "204", (*reloading).program},
		"cross origin":   {map[string]string{"forward_auth.origins": `["` + reloadOrigin + `"]`, "forward_auth.cross_origin": `["` + reloadOrigin + `"]`}, "403", "204", (*reloading).crossOrigin},
		"local backups":  {map[string]string{"backup.local": "false"}, "local", "", (*reloading).targets},
		"target":         {target, "local", "offsite directory AT/offsite deletes 1", (*reloading).targets},
		"recipients":     {map[string]string{"backup.recipients": `["RECIPIENT"]`}, "tar", "age", (*reloading).backup},
		"bucket":         {bucket, "local", "bucket bucket http://127.0.0.1:9/bucket/below deletes 0", (*reloading).targets},
		"command":        {map[string]string{"backup.sender.command": `["AT/send", "x"]`}, "local", "sender command AT/send deletes 0", (*reloading).targets},
		"ping of a copy": {map[string]string{"backup.offsite.path": `"AT/offsite"`, "backup.recipients": `["RECIPIENT"]`, "backup.ping_url": `"PING"`}, "no ping", "a ping", (*reloading).ping},
	}
}

// reloadKept are the keys that keep their values until a restart, with other values.
var reloadKept = map[string]string{
	"server.listen": `"127.0.0.1:1"`, "server.public_url": `"https://other.example.org/x"`, "server.base_path": `"/x"`, "server.max_connections": "100",
	"server.ignored_fields": `["x"]`, "server.drain": `"1s"`, "server.stop_timeout": `"5s"`, "data.dir": `"AT/elsewhere"`,
	"auth.bcrypt_cost": "11", "auth.breached_passwords": `"AT/leaked"`, "security.login_log_days": "7", "security.login_log_rows": "2000",
	"files.s3.endpoint": `"http://127.0.0.1:9"`, "files.s3.bucket": `"bucket"`, "files.s3.region": `"here"`, "files.s3.prefix": `"below"`,
	"files.s3.access_key": `"key"`, "files.s3.secret_key": `"secret"`, "files.s3.path_style": "true", "files.s3.ca": `"AT/cert1"`,
	"files.s3.cache": "1000000000", "files.s3.keep": `"9d"`, "cluster.etcd": `["https://127.0.0.1:1"]`, "cluster.node": `"one"`,
	"cluster.prefix": `"other"`, "cluster.etcd_ca": `"AT/cert1"`, "cluster.etcd_cert": `"AT/cert1"`, "cluster.etcd_key": `"AT/key1"`,
	"cluster.etcd_user": `"user"`, "cluster.etcd_password": `"secret"`, "monitor.max_bytes": "100000000", "monitor.min_free": "1000000",
	"monitor.max_age": `"24h"`, "monitor.redis.targets": `["cache=redis://127.0.0.1:1/0"]`, "audit.max_age": `"300d"`, "audit.max_size": "100000000",
	"audit.min_age": `"80d"`, "webhooks.allow": `["10.0.0.0/8"]`, "providers.allow": `["10.0.0.0/8"]`, "forward_auth.url": `"https://other.example.org/x"`,
}

// configurationKeys returns all keys of the example, and those of a target without its name.
func configurationKeys(t *testing.T) (all []string) {
	t.Helper()
	table := ""
	for line := range strings.Lines(readText(t, "../../config.example.toml")) {
		if m := regexp.MustCompile(`^(?:# )?\[([a-z_.]+)\]\n$`).FindStringSubmatch(line); m != nil {
			table = m[1]
		}
		prefix := "" // of a comment
		if table == "backup.offsite" {
			prefix = "# "
		}
		if m := regexp.MustCompile(`^` + prefix + `([a-z0-9_.]+) = `).FindStringSubmatch(line); m != nil {
			all = append(all, targetKey(table+"."+m[1]))
		}
	}
	slices.Sort(all)
	return all
}

// targetKey returns a key, which has no name if it is that of a target.
func targetKey(key string) string {
	return regexp.MustCompile(`^backup\.[a-z]+\.`).ReplaceAllString(key, "backup.NAME.")
}

// TestReload_EveryKey changes every key of the configuration under a running server: each that a reload
// puts in force by SIGHUP, and back by the command, and looks each time how the server behaves; the
// others are named as waiting for a restart. What the server reports as its configuration follows.
func TestReload_EveryKey(t *testing.T) {
	t.Parallel()
	r := newReloading(t)
	cases := reloadCases()
	tried := slices.Collect(maps.Keys(reloadKept))
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		for key := range c.set {
			tried = append(tried, targetKey(key))
		}
		before := r.values()
		if got := c.see(r); got != r.text(c.was) {
			t.Errorf("%s before: %q, want %q", name, got, c.was)
		}
		r.write(c.set)
		if changed, kept := r.hangUp(); !slices.Equal(changed, slices.Sorted(maps.Keys(c.set))) || len(kept) != 0 {
			t.Errorf("%s: %q changed, %q wait", name, changed, kept)
		}
		if got := c.see(r); got != r.text(c.is) {
			t.Errorf("%s after: %q, want %q", name, got, c.is)
		}
		for key, value := range r.values() {
			if _, set := c.set[key]; set == (value == before[key]) {
				t.Errorf("%s: the value of %s was %s and is %s", name, key, before[key], value)
			}
		}

		r.write(nil)
		if changed, kept := r.command(); !slices.Equal(changed, slices.Sorted(maps.Keys(c.set))) || len(kept) != 0 {
			t.Errorf("%s, back: %q changed, %q wait", name, changed, kept)
		}
		if got := c.see(r); got != r.text(c.was) {
			t.Errorf("%s, back: %q, want %q", name, got, c.was)
		}
	}

	before := r.values()
	r.write(reloadKept)
	for _, reload := range []func() ([]string, []string){r.hangUp, r.command} {
		if changed, kept := reload(); len(changed) != 0 || !slices.Equal(kept, slices.Sorted(maps.Keys(reloadKept))) {
			t.Errorf("%q changed, and these wait: %q", changed, kept)
		}
	}
	if after := r.values(); !maps.Equal(before, after) {
		t.Errorf("the configuration was %v and is %v", before, after)
	}

	slices.Sort(tried)
	if all := configurationKeys(t); len(all) < 50 || !slices.Equal(all, slices.Compact(tried)) {
		t.Errorf("the keys are\n%q, and these were tried:\n%q", all, tried)
	}
	r.p.stop()
}

func newReloading(t *testing.T) *reloading {
	t.Helper()
	r := &reloading{T: t, at: t.TempDir()}
	r.dir = filepath.Join(r.at, "data")
	for i := range 2 {
		cert, key, _ := selfSigned(t)
		noErr(t, os.Rename(cert, fmt.Sprintf("%s/cert%d", r.at, i+1)))
		noErr(t, os.Rename(key, fmt.Sprintf("%s/key%d", r.at, i+1)))
		pair, err := tls.LoadX509KeyPair(fmt.Sprintf("%s/cert%d", r.at, i+1), fmt.Sprintf("%s/key%d", r.at, i+1))
		noErr(t, err)
		r.certificates[i] = string(pair.Leaf.Raw)
	}
	ping := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { r.pings.Add(1) }))
	t.Cleanup(ping.Close)
	noErr(t, os.WriteFile(r.at+"/PING", []byte(ping.URL), 0o600))
	noErr(t, os.Mkdir(r.at+"/offsite", 0o700))
	noErr(t, os.WriteFile(r.at+"/send", []byte("#!/bin/sh\nexec cat >/dev/null\n"), 0o700))

	identity := run(t, "backup", "identity").out
	recipient := regexp.MustCompile(`age1[a-z0-9]+`).FindString(identity)
	noErr(t, os.WriteFile(r.at+"/identity", []byte(identity), 0o600))
	noErr(t, os.WriteFile(r.at+"/RECIPIENT", []byte(recipient), 0o600))
	r.write(nil)
	r.p = begin(t, program(t, "serve", "--config", r.at+"/config.toml", "REEVE_AUTH__BCRYPT_COST="))
	r.p.ready()
	confirm := r.at + "/confirm.toml"
	noErr(t, os.WriteFile(confirm, []byte("[backup]\nrecipients = [\""+recipient+"\"]\n"), 0o600))
	if out := run(t, "backup", "recipient", r.at+"/identity", "--config", confirm, "--data", r.dir); out.code != 0 {
		t.Fatalf("%+v", out)
	}

	r.c = r.client()
	r.c.signIn(password)
	r.write(map[string]string{"forward_auth.origins": `["` + reloadOrigin + `"]`})
	r.hangUp()
	r.signInToProgram()
	r.write(nil)
	r.command()
	return r
}

// client returns a client that uses no connection twice and accepts any certificate.
func (r *reloading) client() *client {
	c := newClient(r.T, r.p)
	c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// text replaces the names in a value by what they stand for here.
func (r *reloading) text(value string) string {
	for _, name := range []string{"PING", "RECIPIENT"} {
		if strings.Contains(value, name) {
			value = strings.ReplaceAll(value, name, readText(r.T, filepath.Join(r.at, name)))
		}
	}
	return strings.ReplaceAll(value, "AT/", r.at+"/")
}

// write writes the file with some keys besides or instead of those of reloadBase.
func (r *reloading) write(set map[string]string) {
	r.Helper()
	all := maps.Clone(reloadBase)
	maps.Copy(all, set)
	text := ""
	for _, key := range slices.Sorted(maps.Keys(all)) {
		text += key + " = " + r.text(all[key]) + "\n"
	}
	noErr(r.T, os.WriteFile(filepath.Join(r.at, "config.toml"), []byte(text), 0o600))
}

// hangUp reloads by a signal, and returns what the log says about it.
func (r *reloading) hangUp() (changed, kept []string) {
	r.Helper()
	reloads := func() (all []map[string]any) {
		for _, e := range r.p.log.entries(r.T) {
			if e["message"] == "the configuration was reloaded" || e["message"] == "the configuration was not reloaded" {
				all = append(all, e)
			}
		}
		return all
	}
	before := len(reloads())
	r.p.signal(syscall.SIGHUP)
	eventually(r.T, "the log to have the reload", func() bool { return len(reloads()) > before })
	e := reloads()[before]
	if e["error"] != nil {
		r.Fatalf("not reloaded: %v", e)
	}
	list := func(name string) (keys []string) {
		for _, key := range e[name].([]any) {
			keys = append(keys, key.(string))
		}
		return keys
	}
	return list("changed"), list("needs_restart")
}

// command reloads by the command.
func (r *reloading) command() (changed, kept []string) {
	r.Helper()
	out := run(r.T, "reload", "--json", "--data", r.dir)
	var done struct {
		Changed []string
		Kept    []string `json:"needs_restart"`
	}
	if out.code != 0 || json.Unmarshal([]byte(out.out), &done) != nil {
		r.Fatalf("%+v", out)
	}
	return done.Changed, done.Kept
}

// values returns the configuration that the server reports.
func (r *reloading) values() map[string]string {
	r.Helper()
	info := into[struct {
		Config []struct{ Key, Value string }
	}](r.T, r.c.want(200, "GET", "/system/info", ""))
	all := map[string]string{}
	for _, v := range info.Config {
		all[v.Key] = v.Value
	}
	return all
}

// get requests a path with headers; the header Host is the host.
func (r *reloading) get(path string, headers ...string) *http.Response {
	r.Helper()
	req, err := http.NewRequest("GET", r.p.url+path, nil)
	noErr(r.T, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	for _, cookie := range r.cookies {
		req.AddCookie(cookie)
	}
	resp, err := r.client().http.Do(req)
	noErr(r.T, err)
	body, err := io.ReadAll(resp.Body)
	noErr(r.T, err)
	resp.Body.Close()
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	return resp
}

func (r *reloading) requestInLog() string {
	r.rounds++
	path := fmt.Sprintf("/round/%d", r.rounds)
	r.get(path)
	for range 20 { // the line is written after the response
		if strings.Contains(r.p.log.String(), `"path":"`+path+`"`) {
			return "a line"
		}
		r.get("/round/next")
	}
	return "no line"
}

func (r *reloading) metrics() string {
	return fmt.Sprint(r.get("/metrics", "Authorization", "Bearer a-token-of-metrics").StatusCode)
}

func (r *reloading) clientAddress() string {
	c := r.client()
	c.extra["X-Forwarded-For"] = "203.0.113.9"
	c.signIn(password)
	var sessions struct {
		Data []struct {
			IP      string
			Current int
		}
	}
	noErr(r.T, json.Unmarshal(c.want(200, "GET", "/admin/session", "").Data, &sessions))
	for _, s := range sessions.Data {
		if s.Current == 1 {
			return s.IP
		}
	}
	return ""
}

func (r *reloading) otherHost() string {
	return fmt.Sprint(r.get("/api/home", "Host", "reeve.lan.example.net").StatusCode)
}

func (r *reloading) allowedOrigin() string {
	return r.get("/api/home", "Origin", "https://friend.example.org").Header.Get("Access-Control-Allow-Origin")
}

func (r *reloading) certificate() string {
	switch string(r.get("/api/home").TLS.PeerCertificates[0].Raw) {
	case r.certificates[0]:
		return "first"
	case r.certificates[1]:
		return "second"
	}
	return "another"
}

// atProgram asks about a request to the program as its proxy does.
func (r *reloading) atProgram(path string, headers ...string) *http.Response {
	return r.get(path, append([]string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", strings.TrimPrefix(reloadOrigin, "https://"),
		"X-Forwarded-Uri", "/", "X-Forwarded-Method", "GET", "Accept", "text/html"}, headers...)...)
}

// signInToProgram gets a cookie for the program.
func (r *reloading) signInToProgram() {
	r.Helper()
	begun := r.atProgram("/auth/verify")
	r.cookies = begun.Cookies()
	to, err := begun.Location()
	noErr(r.T, err)
	q := to.Query()
	out := into[struct{ URL string }](r.T, r.c.want(200, "POST", "/auth/forward", object("origin", q.Get("origin"), "to", q.Get("to"), "state", q.Get("state"))))
	back, err := url.Parse(out.URL)
	noErr(r.T, err)
	r.cookies = r.atProgram(back.RequestURI()).Cookies()
}

// program returns the status at the program and, for an error, its code.
func (r *reloading) program() string {
	resp := r.atProgram("/auth/verify", "X-Forwarded-Method", "HEAD")
	var fault struct{ ErrorCode string }
	json.NewDecoder(resp.Body).Decode(&fault)
	return strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", fault.ErrorCode))
}

func (r *reloading) crossOrigin() string {
	return fmt.Sprint(r.atProgram("/auth/verify", "X-Forwarded-Method", "POST", "Sec-Fetch-Site", "cross-site").StatusCode)
}

// targets returns the names of the targets of copies and, unless it is local, what they are.
func (r *reloading) targets() string {
	var all struct {
		Data []struct {
			Name, Kind, Place string
			Deletes           int
		}
	}
	noErr(r.T, json.Unmarshal(r.c.want(200, "GET", "/system/backup-target", "").Data, &all))
	texts := []string{}
	for _, t := range all.Data {
		if t.Name == "local" {
			texts = append(texts, t.Name)
			continue
		}
		texts = append(texts, fmt.Sprint(t.Name, " ", t.Kind, " ", t.Place, " deletes ", t.Deletes))
	}
	return strings.Join(texts, "; ")
}

// backup returns the end of the name of a backup.
func (r *reloading) backup() string {
	resp := r.get("/system/backup", "Authorization", "Bearer "+r.c.token)
	name := strings.TrimSuffix(resp.Header.Get("Content-Disposition"), `"`)
	return strings.TrimPrefix(filepath.Ext(name), ".")
}

// ping makes a copy at the target, if there is one, and reports whether the monitor hears of it.
func (r *reloading) ping() string {
	before := r.pings.Load()
	if strings.Contains(r.targets(), "offsite") {
		if out := run(r.T, "backup", "now", "offsite", "--config", r.at+"/config.toml"); !strings.Contains(out.out, "proven") {
			r.Errorf("%+v", out)
		}
		eventually(r.T, "the ping", func() bool { return r.pings.Load() > before })
	}
	if r.pings.Load() > before {
		return "a ping"
	}
	return "no ping"
}
