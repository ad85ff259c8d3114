package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An encrypted backup as an administrator takes and restores it: the program creates the
// identity, the configuration names the recipient, and a secret setting is restored with
// the data.
func TestEncryptedBackup_EndToEnd(t *testing.T) {
	t.Parallel()
	made := run(t, "backup", "identity")
	lines := strings.Split(strings.TrimSpace(made.out), "\n")
	recipient := strings.Trim(strings.TrimPrefix(lines[1], "# backup.recipients = ["), `"]`)
	if made.code != 0 || len(lines) != 3 || !strings.HasPrefix(recipient, "age1") ||
		!strings.HasPrefix(lines[2], "AGE-SECRET-KEY-") {
		t.Fatalf("%+v", made)
	}

	identity, dir := filepath.Join(t.TempDir(), "identity"), t.TempDir()
	if err := os.WriteFile(identity, []byte(made.out), 0o600); err != nil {
		t.Fatal(err)
	}

	config := filepath.Join(t.TempDir(), "reeve.toml")
	if err := os.WriteFile(config, []byte("[backup]\nrecipients = ["+`"`+recipient+`"`+"]\n"),
		0o600); err != nil {
		t.Fatal(err)
	}

	filled(t, dir, "what is there")
	p := start(t, dir, "--config", config)
	c := signedIn(t, p)
	c.want(200, "POST", "/system/setting-group", `{"key":"shop","title":"Shop"}`)
	c.want(200, "POST", "/system/setting",
		`{"key":"password","title":"P","type":"secret","group_id":8,"values":"hunter2 and more"}`)
	a := c.want(200, "GET", "/system/backup", "")
	if !strings.Contains(a.header.Get("Content-Disposition"), `.tar.age"`) ||
		!bytes.HasPrefix(a.raw, []byte("age-encryption.org/v1\n")) {
		t.Errorf("%v", a.header)
	}

	p.stop()
	file, target := filepath.Join(t.TempDir(), "backup.tar.age"), t.TempDir()
	if err := os.WriteFile(file, a.raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "restore", file, "--data", target); r.code == 0 ||
		!strings.Contains(r.err, "--identity") {
		t.Errorf("without the identity: %+v", r)
	}
	if r := run(t, "restore", file, "--data", target, "--identity", config); r.code == 0 ||
		strings.Contains(r.err, recipient) {
		t.Errorf("with another file: %+v", r)
	}
	if r := run(t, "restore", file, "--data", target, "--identity", identity); r.code != 0 ||
		strings.Contains(r.out, "entered again") {
		t.Errorf("with the identity: %+v", r)
	}

	sound(t, target)
	if r := run(t, "secret", "rotate", "--data", target); r.code != 0 ||
		!strings.Contains(r.out, "1 secret value") {
		t.Errorf("rotate: %+v", r)
	}

	sound(t, target)
	p = start(t, target)
	if body := string(signedIn(t, p).want(200, "GET", "/system/health", "").raw); !strings.Contains(body, `"name":"secrets","state":"ok"`) {
		t.Errorf("health: %s", body)
	}

	p.stop()

	flipped := filepath.Join(target, "secret.key")
	key, err := os.ReadFile(flipped)
	if err != nil {
		t.Fatal(err)
	}

	key[7] = map[bool]byte{true: '1', false: '0'}[key[7] == '0']
	if err := os.WriteFile(flipped, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "verify", "--data", target); r.code == 0 ||
		!strings.Contains(r.out, "secret.key is not the key of this database") {
		t.Errorf("verify: %+v", r)
	}

	p = start(t, target)
	if body := string(signedIn(t, p).want(200, "GET", "/system/health", "").raw); !strings.Contains(body, `"name":"secrets","state":"degraded"`) {
		t.Errorf("health: %s", body)
	}

	p.stop()
	if warnings := p.log.messages(t, "warn"); len(warnings) == 0 ||
		!strings.Contains(warnings[0], "is not the key of this database") {
		t.Errorf("the log: %q", warnings)
	}
}
