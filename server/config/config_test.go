package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/server/web"
)

// fileOf writes a configuration file and returns its path.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reeve.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load loads a configuration that must be valid.
func load(t *testing.T, path string, flags map[string]string) (*Config, web.Config) {
	t.Helper()
	c, err := Load(path, flags)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Server()
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// TestExample_HasDefaults: loading the example changes only the sources of the
// values.
func TestExample_HasDefaults(t *testing.T) {
	t.Chdir(t.TempDir()) // without a config.toml
	_, defaults := load(t, "", nil)
	_, example := load(t, fileOf(t, Example()), nil)
	if len(defaults.Effective) != len(keys) {
		t.Fatalf("%d values are in effect, want %d", len(defaults.Effective), len(keys))
	}

	for i, want := range defaults.Effective {
		if want.Source != "default" {
			t.Errorf("without a file: %+v", want)
		}
		want.Source = "file"
		if got := example.Effective[i]; got != want {
			t.Errorf("with the example: %+v, want %+v", got, want)
		}
	}
}

func TestExample_Current(t *testing.T) {
	text, err := os.ReadFile("../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	if Example() != string(text) {
		t.Error("config.example.toml is not current: go run . config > config.example.toml")
	}
}

func TestSources_Precedence(t *testing.T) {
	path := fileOf(t,
		"[server]\nlisten = \":1\"\ntls_cert = \"file\"\ntls_key = \"file\"\n[data]\ndir = \"file\"\n")
	t.Setenv("REEVE_SERVER__LISTEN", ":2")
	t.Setenv("REEVE_SERVER__TLS_KEY", "environment")
	t.Setenv("REEVE_SERVER__CORS_ORIGINS", "http://a.example, http://b.example")
	t.Setenv("REEVE_SERVER__PORT", "3")
	t.Setenv("REEVE_TEST_NAME", "x")
	c, s := load(t, path, map[string]string{"server.listen": ":3"})
	if c.File != path || c.DataDir != "file" || s.Listen != ":3" || s.TLSCert != "file" ||
		s.TLSKey != "environment" || c.BcryptCost != 12 {
		t.Errorf("%+v\n%+v", c, s)
	}
	if want := []string{"http://a.example", "http://b.example"}; !slices.Equal(s.CORSOrigins, want) {
		t.Errorf("the origins are %q, want %q", s.CORSOrigins, want)
	}
	if want := []string{"the environment variable REEVE_SERVER__PORT is not known and is ignored"}; !slices.Equal(c.Warnings, want) {
		t.Errorf("the warnings are %q, want %q", c.Warnings, want)
	}

	for name, want := range map[string]string{
		"server.listen":    "flag",
		"server.tls_cert":  "file",
		"server.tls_key":   "environment",
		"auth.bcrypt_cost": "default",
	} {
		if !slices.ContainsFunc(s.Effective, func(v web.ConfigValue) bool {
			return v.Key == name && v.Source == want
		}) {
			t.Errorf("the source of %s is not %s: %+v", name, want, s.Effective)
		}
	}
}

func TestEffectiveValues_NoSecrets(t *testing.T) {
	t.Setenv("REEVE_METRICS__TOKEN", "secret-of-sixteen")
	t.Setenv("REEVE_MONITOR__REDIS__TARGETS",
		"a=redis://u:secret@127.0.0.1:6379,b=rediss://u:secret@127.0.0.1:6380")
	_, s := load(t, "", nil)
	want := map[string]string{
		"metrics.token":         "******",
		"monitor.redis.targets": "a=redis://u:xxxxx@127.0.0.1:6379, b=rediss://u:xxxxx@127.0.0.1:6380",
	}
	for _, v := range s.Effective {
		if text, secret := want[v.Key]; secret && v.Value != text ||
			strings.Contains(v.Value, "secret") {
			t.Errorf("%+v", v)
		}
	}

	if s.MetricsToken != "secret-of-sixteen" || len(s.RedisTargets) != 2 ||
		!strings.Contains(s.RedisTargets[1], "u:secret@") {
		t.Errorf("the server is given %q and %q", s.MetricsToken, s.RedisTargets)
	}
}

// TestInvalidValues covers every checked value, with its full message.
func TestInvalidValues(t *testing.T) {
	for _, tc := range []struct{ name, value, want string }{
		{"auth.bcrypt_cost", "16", "auth.bcrypt_cost must be a number from 10 to 15"},
		{"security.login_log_days", "3651",
			"security.login_log_days must be 0 or a number from 1 to 3650"},
		{"security.login_log_rows", "999",
			"security.login_log_rows must be 0 or a number from 1000 to 10000000"},
		{"metrics.token", "a token with spaces",
			"metrics.token must be at least 16 printable ASCII characters without spaces"},
		{"log.level", "trace", "log.level must be debug, info, warn or error"},
		{"backup.recipients", "age1", "backup.recipients must be age recipients like age1…: "},
		{"monitor.redis.targets", "cache", "monitor.redis.targets: "},
		{"server.tls_cert", "x",
			"server.tls_cert and server.tls_key belong together: set both or neither"},
		{"server.max_connections", "15",
			"server.max_connections must be 0 or a number from 16 to 1000000"},
		{"server.listen", "8080", "server.listen must be like 127.0.0.1:8080: "},
		{"monitor.max_age", "59s",
			"monitor.max_age must be a duration of at least one minute, such as 168h or 30m"},
		{"monitor.max_age", "7d",
			"monitor.max_age must be a duration of at least one minute, such as 168h or 30m"},
		{"monitor.max_bytes", "4194303", "monitor.max_bytes must be 0 or at least 4194304"},
		{"monitor.min_free", "-1", "monitor.min_free must be 0 or more"},
		{"server.trusted_proxies", "10.0.0.0/33",
			`server.trusted_proxies: "10.0.0.0/33" is neither an address nor a network like 10.0.0.0/8`},
		{"webhooks.allow", "10.0.0.300",
			`webhooks.allow: "10.0.0.300" is neither an address, nor a network like 10.0.0.0/8, nor a host name like app.internal`},
		{"server.cors_origins", "ftp://a.example",
			`server.cors_origins: "ftp://a.example" is not an origin like https://app.example.org`},
	} {
		t.Run(tc.name+"="+tc.value, func(t *testing.T) {
			t.Setenv(prefix+strings.ToUpper(strings.ReplaceAll(tc.name, ".", "__")), tc.value)
			c, err := Load("", nil)
			if err == nil {
				_, err = c.Server()
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) ||
				!strings.HasSuffix(tc.want, ": ") && err.Error() != tc.want {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// TestKeys_SameTypeFromEverySource: a value that has not the type of its key is refused in the
// file, in the environment and as a flag, and an empty variable counts as not set.
func TestKeys_SameTypeFromEverySource(t *testing.T) {
	t.Chdir(t.TempDir()) // without a config.toml
	for _, k := range keys {
		t.Run(k.name, func(t *testing.T) {
			variable := prefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "__"))
			t.Setenv(variable, "")
			c, s := load(t, "", nil)
			for _, v := range s.Effective {
				if v.Source != "default" {
					t.Errorf("with an empty variable, %+v", v)
				}
			}

			if len(c.Warnings) > 0 {
				t.Errorf("warnings: %q", c.Warnings)
			}

			head, name, _ := cutLast(k.name, ".")
			for _, literal := range wrongLiterals(k) {
				path := fileOf(t, "["+head+"]\n"+name+" = "+literal+"\n")
				if _, err := Load(path, nil); err == nil ||
					!strings.Contains(err.Error(), k.name+" must be ") {
					t.Errorf("file, %s: %v", literal, err)
				}
			}

			if _, number := k.value.(int64); !number {
				return
			}

			for _, text := range []string{"abc", "256MB", "16 connections", "0x10000000", "1.6e1",
				"16.7", "1_6", " 16", "12345678901234567890"} {
				t.Setenv(variable, text)
				if _, err := Load("", nil); err == nil ||
					err.Error() != variable+": "+k.name+" must be a whole number" {
					t.Errorf("environment, %q: %v", text, err)
				}
				os.Unsetenv(variable) // Setenv restores it
				if _, err := Load("", map[string]string{k.name: text}); err == nil ||
					err.Error() != k.name+" must be a whole number" {
					t.Errorf("flag, %q: %v", text, err)
				}
			}

			if _, err := Load("", map[string]string{k.name: ""}); err == nil {
				t.Error("an empty flag was accepted")
			}
		})
	}
}

// wrongLiterals returns values of TOML that have not the type of a key.
func wrongLiterals(k key) []string {
	switch k.value.(type) {
	case string:
		return []string{"1", "true", `["a"]`, "1.5", "2026-01-01"}
	case int64:
		return []string{`"16"`, `""`, "true", "[16]", "16.0"}
	default:
		return []string{`"a"`, "1", "[1]", `["a", 1]`, `[["a"]]`}
	}
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	return text[:i], text[i+len(sep):], true
}

// TestFile_ByteOrderMark: a file that begins with a byte order mark is read.
func TestFile_ByteOrderMark(t *testing.T) {
	const text = "[server]\nlisten = \":7\"\n"
	little := "\xff\xfe"
	for _, c := range []byte(text) {
		little += string([]byte{c, 0})
	}
	for _, file := range []string{"\ufeff" + text, little} {
		if _, s := load(t, fileOf(t, file), nil); s.Listen != ":7" {
			t.Errorf("%q: listens on %s", file, s.Listen)
		}
	}
}

// TestBasePath_PublicURL: the base path and the URLs of this server agree, or the error says how.
func TestBasePath_PublicURL(t *testing.T) {
	t.Chdir(t.TempDir()) // without a config.toml
	for _, c := range []struct{ base, public, forward, want string }{
		{"/a", "https://x.example/a", "", ""},
		{"/a/", "https://x.example/a/", "https://x.example/a", ""},
		{"/a.b/c-d_~", "", "", ""},
		{"", "https://x.example", "", ""},
		{"", "https://x.example/a", "",
			`server.public_url: "https://x.example/a" has a path, below which a proxy must serve this server: set server.base_path to it`},
		{"/a", "https://x.example", "",
			`server.public_url: "https://x.example" must end with server.base_path: https://x.example/a`},
		{"/a", "https://x.example/b", "",
			`server.public_url: "https://x.example/b" is not a URL like https://reeve.example.org/a`},
		{"/a", "https://x.example/a", "https://x.example",
			`forward_auth.url: "https://x.example" must end with server.base_path: https://x.example/a`},
		{"a", "", "",
			`server.base_path: "a" is not a path like /admin-tool, of letters, digits and ._~-`},
		{"/a//b", "", "",
			`server.base_path: "/a//b" is not a path like /admin-tool, of letters, digits and ._~-`},
		{"/../a", "", "",
			`server.base_path: "/../a" is not a path like /admin-tool, of letters, digits and ._~-`},
		{`/"a`, "", "",
			`server.base_path: "/\"a" is not a path like /admin-tool, of letters, digits and ._~-`},
	} {
		flags := map[string]string{"server.base_path": c.base, "server.public_url": c.public}
		if c.forward != "" {
			flags["forward_auth.url"], flags["forward_auth.origins"] = c.forward, "https://app.example"
		}
		config, err := Load("", flags)
		if err == nil {
			_, err = config.Server()
		}
		if err == nil && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestFile_UnknownKeys(t *testing.T) {
	for text, want := range map[string]string{
		"[server]\nlisen = \"x\"":                       "unknown key server.lisen; did you mean server.listen?",
		"max_age = \"1h\"":                              "unknown key max_age; did you mean monitor.max_age, in the table [monitor]?",
		"[server]\n[server.forward_auth]\norigins = []": "unknown key server.forward_auth.origins; did you mean forward_auth.origins, in the table [forward_auth]?",
		"[forward]\ncross_origin = []":                  "unknown key forward.cross_origin; did you mean forward_auth.cross_origin, in the table [forward_auth]?",
		"[redis]\ntargets = []":                         "unknown key redis.targets; did you mean monitor.redis.targets, in the table [monitor.redis]?",
		"[server.backup.home]\ncommand = []":            "unknown key server.backup.home.command; did you mean backup.home.command, in the table [backup.home]?",
		"foo = 1":                                       "unknown key foo; `reeve config` lists all keys",
		"[server]\nlisten = 1":                          "server.listen must be a quoted string",
		"[monitor]\nmin_free=\"\"":                      "monitor.min_free must be a whole number",
		"[backup]\nrecipients=1":                        "backup.recipients must be a list of strings",
	} {
		path := fileOf(t, text)
		if _, err := Load(path, nil); err == nil || err.Error() != path+": "+want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestUnknownKey_InOtherTable puts each key into a table that has others, around its own table and
// instead of it.
func TestUnknownKey_InOtherTable(t *testing.T) {
	for _, k := range keys {
		last := k.name[strings.LastIndex(k.name, ".")+1:]
		for _, wrong := range []string{"nothing." + k.name, "nothing." + last} {
			near := nearest(wrong)
			if near != k.name && (wrong == "nothing."+k.name || !strings.HasSuffix(near, "."+last)) {
				t.Errorf("%s: the hint is %q, want %s", wrong, near, k.name)
			}
		}
	}
}
