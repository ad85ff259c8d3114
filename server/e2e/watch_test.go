package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

const metricsToken = "a-token-of-the-metrics"

// systemHealth returns the overall state and the components by name.
func (c *client) systemHealth() (state string, parts map[string]string, since map[string]*string) {
	c.t.Helper()
	var out struct {
		State string
		Parts []struct {
			Name, State string
			Since       *string
		}
	}
	if err := json.Unmarshal(c.want(200, "GET", "/system/health", "").Data, &out); err != nil {
		c.t.Fatal(err)
	}

	parts, since = map[string]string{}, map[string]*string{}
	for _, p := range out.Parts {
		parts[p.Name], since[p.Name] = p.State, p.Since
	}

	return out.State, parts, since
}

func TestEffectiveConfig_NoSecrets(t *testing.T) {
	t.Parallel()
	file := configFile(t,
		"[log]\nlevel = \"warn\"\n[server]\ntrusted_proxies = [\"10.0.0.0/8\", \"192.0.2.1\"]\n")
	dir := t.TempDir()
	p := begin(t,
		program(t, "--listen", "127.0.0.1:0", "--data", dir, "REEVE_LOG__LEVEL=info", "--config",
			file, "REEVE_METRICS__TOKEN="+metricsToken, "REEVE_ADMIN_PASSWORD="+password))
	p.ready()
	c := signedIn(t, p)
	a := c.want(200, "GET", "/system/info", "")
	for _, secret := range []string{metricsToken, password, c.token} {
		if strings.Contains(string(a.raw), secret) {
			t.Errorf("%q is in %s", secret, a.raw)
		}
	}

	var out struct {
		Config []struct{ Key, Value, Source string }
	}
	if err := json.Unmarshal(a.Data, &out); err != nil {
		t.Fatal(err)
	}

	got := map[string]string{}
	for _, v := range out.Config {
		got[v.Key] = v.Value + " from " + v.Source
	}

	for key, want := range map[string]string{
		"metrics.token": "****** from environment", "data.dir": dir + " from flag",
		"server.listen":          "127.0.0.1:0 from flag",
		"server.trusted_proxies": "10.0.0.0/8, 192.0.2.1 from file",
		"log.level":              "info from environment",
		"auth.bcrypt_cost":       "10 from environment", "server.tls_key": " from default",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}

	metrics := newClient(t, p)
	metrics.want(401, "GET", "/metrics", "")
	metrics.token = metricsToken
	if text := string(metrics.want(200, "GET", "/metrics", "").raw); !strings.Contains(text,
		"\nreeve_store_writable 1\n") {
		t.Errorf("metrics: %s", text)
	}

	p.stop()
	if strings.Contains(p.log.String(), metricsToken) {
		t.Error("the token is in the log")
	}
}

func TestFailingDisk_Reported(t *testing.T) {
	p := start(t, t.TempDir(), "REEVE_METRICS__TOKEN="+metricsToken)
	c := signedIn(t, p)
	if state, parts, _ := c.systemHealth(); parts["database"] != "ok" {
		t.Errorf("%s: %v", state, parts)
	}

	inject(t, p, "fdatasync:error=EIO")
	c.want(503, "PUT", "/system/setting", `{"values":{"site.title":"after"}}`)
	if state, parts, since := c.systemHealth(); state != "failed" ||
		parts["database"] != "failed" ||
		since["database"] == nil {
		t.Errorf("%s: %v", state, parts)
	}

	c.want(503, "GET", "/health", "")
	c.token = metricsToken
	text := string(c.want(200, "GET", "/metrics", "").raw)
	for _, line := range []string{"\nreeve_store_writable 0\n",
		"\nreeve_store_commit_failures_total 1\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in the metrics", line)
		}
	}

	p.kill()
}
