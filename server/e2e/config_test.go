package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// configFile writes a configuration file and returns its path.
func configFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reeve.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each level is observed by two values: the data directory, and the loopback address that
// is listened on.
func TestConfig_Precedence(t *testing.T) {
	t.Parallel()
	const (
		file    = "[server]\nlisten = \"127.0.0.2:0\"\n[data]\ndir = \"from-file\"\n"
		envAddr = "REEVE_SERVER__LISTEN=127.0.0.3:0"
		envDir  = "REEVE_DATA__DIR=from-env"
	)
	for name, tc := range map[string]struct {
		file      string // config.toml in the working directory
		words     []string
		addr, dir string
	}{
		"defaults": {"", []string{"--listen", "127.0.0.1:0"}, "127.0.0.1",
			"data"},
		"the file":              {file, nil, "127.0.0.2", "from-file"},
		"the environment":       {"", []string{envAddr, envDir}, "127.0.0.3", "from-env"},
		"environment over file": {file, []string{envAddr, envDir}, "127.0.0.3", "from-env"},
		"one of two over file":  {file, []string{envDir}, "127.0.0.2", "from-env"},
		"flags over environment": {file,
			[]string{envAddr, envDir, "--listen", "127.0.0.4:0", "--data", "from-flag"},
			"127.0.0.4", "from-flag"},
		"one flag of two": {file, []string{envAddr, envDir, "--data=from-flag"},
			"127.0.0.3", "from-flag"},
		"flags over file": {file,
			[]string{"--listen", "127.0.0.4:0", "--data", "from-flag"}, "127.0.0.4", "from-flag"},
		"another file than the next": {"nonsense", []string{"--config", configFile(t, file)},
			"127.0.0.2", "from-file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := program(t, tc.words...)
			want := []string{tc.dir}
			if tc.file != "" {
				if err := os.WriteFile(filepath.Join(cmd.Dir, "config.toml"), []byte(tc.file),
					0o600); err != nil {
					t.Fatal(err)
				}
				want = append(want, "config.toml")
			}

			p := begin(t, cmd)
			p.ready()
			if !strings.HasPrefix(p.url, "http://"+tc.addr+":") {
				t.Errorf("it serves %s, want %s", p.url, tc.addr)
			}

			p.stop()
			slices.Sort(want)
			if got := names(t, cmd.Dir); !slices.Equal(got, want) {
				t.Errorf("the working directory has %v, want %v", got, want)
			}
		})
	}
}

func TestLogLevel(t *testing.T) {
	t.Parallel()
	file := configFile(t, "[log]\nlevel = \"debug\"\n")
	for name, tc := range map[string]struct {
		words   []string
		request bool
	}{
		"info when nothing is said":  {nil, false},
		"debug in the file":          {[]string{"--config", file}, true},
		"info over debug in a file":  {[]string{"--config", file, "REEVE_LOG__LEVEL=info"}, false},
		"debug from the environment": {[]string{"REEVE_LOG__LEVEL=debug"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, t.TempDir(), tc.words...)
			newClient(t, p).want(200, "GET", "/health", "")
			p.stop()
			if got := slices.Contains(p.log.messages(t, "debug"), "request"); got != tc.request {
				t.Errorf("a line for the request: %t\n%s", got, &p.log)
			}
		})
	}
}

func TestConfig_Refused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file  string
		words []string
		says  []string
	}{
		"unknown key": {
			file: "[server]\nlisen = \"x\"\n",
			says: []string{"server.lisen", "server.listen"},
		},
		"unknown table": {
			file: "[logs]\nlevel = \"info\"\n",
			says: []string{"logs.level", "log.level"},
		},
		"key without its table": {
			file: "bcrypt_cost = 12\n",
			says: []string{"bcrypt_cost", "auth.bcrypt_cost"},
		},
		"key in another case": {
			file: "[server]\nListen = \"x\"\n",
			says: []string{"server.Listen", "server.listen"},
		},
		"a key like no other": {
			file: "foo = 1\n",
			says: []string{"unknown key foo; `reeve config`"},
		},
		"text for a number": {
			file: "[auth]\nbcrypt_cost = \"12\"\n",
			says: []string{"auth.bcrypt_cost", "number"},
		},
		"fraction for a number": {
			file: "[auth]\nbcrypt_cost = 12.5\n",
			says: []string{"auth.bcrypt_cost", "number"},
		},
		"number for a text": {
			file: "[server]\nlisten = 8080\n",
			says: []string{"server.listen", "text"},
		},
		"text for a list": {
			file: "[server]\ncors_origins = \"http://a.example\"\n",
			says: []string{"server.cors_origins", "list"},
		},
		"numbers in a list": {
			file: "[server]\ntrusted_proxies = [10, 20]\n",
			says: []string{"server.trusted_proxies"},
		},
		"table for a text": {
			file: "[server.listen]\nport = 1\n",
			says: []string{"server.listen.port"},
		},
		"not TOML": {file: "server = {", says: []string{"reeve.toml"}},
		"file not there": {
			words: []string{"--config", "/nowhere/reeve.toml"},
			says:  []string{"/nowhere/reeve.toml"},
		},
		"certificate without key": {
			words: []string{"REEVE_SERVER__TLS_CERT=cert.pem"},
			says:  []string{"server.tls_cert", "server.tls_key"},
		},
		"key without certificate": {
			words: []string{"REEVE_SERVER__TLS_KEY=key.pem"},
			says:  []string{"server.tls_cert", "server.tls_key"},
		},
		"certificate not there": {
			words: []string{"REEVE_SERVER__TLS_CERT=/nowhere/c",
				"REEVE_SERVER__TLS_KEY=/nowhere/k"},
			says: []string{"server.tls_cert", "/nowhere/c"},
		},
		"listen without a port": {
			words: []string{"--listen", "127.0.0.1"},
			says:  []string{"server.listen"},
		},
		"listen on a word": {
			words: []string{"--listen", "127.0.0.1:none"},
			says:  []string{"127.0.0.1:none"},
		},
		"listen past the ports": {
			words: []string{"--listen", "127.0.0.1:65536"},
			says:  []string{"127.0.0.1:65536"},
		},
		"cost too low": {
			words: []string{"REEVE_AUTH__BCRYPT_COST=9"},
			says:  []string{"auth.bcrypt_cost", "10", "15"},
		},
		"cost too high": {
			words: []string{"REEVE_AUTH__BCRYPT_COST=16"},
			says:  []string{"auth.bcrypt_cost", "10", "15"},
		},
		"retention too long": {
			words: []string{"REEVE_SECURITY__LOGIN_LOG_DAYS=3651"},
			says:  []string{"security.login_log_days", "3650"},
		},
		"negative retention": {
			words: []string{"REEVE_SECURITY__LOGIN_LOG_DAYS=-1"},
			says:  []string{"security.login_log_days", "3650"},
		},
		"retention in words": {
			words: []string{"REEVE_SECURITY__LOGIN_LOG_ROWS=many"},
			says:  []string{"REEVE_SECURITY__LOGIN_LOG_ROWS", "security.login_log_rows", "number"},
		},
		"too few rows": {
			words: []string{"REEVE_SECURITY__LOGIN_LOG_ROWS=999"},
			says:  []string{"security.login_log_rows", "1000"},
		},
		"cost in words": {
			words: []string{"REEVE_AUTH__BCRYPT_COST=high"},
			says:  []string{"REEVE_AUTH__BCRYPT_COST", "auth.bcrypt_cost", "number"},
		},
		"no data directory": {words: []string{"--data", ""}, says: []string{"data.dir"}},
		"metrics token too short": {
			words: []string{"REEVE_METRICS__TOKEN=fifteen-letters"},
			says:  []string{"metrics.token", "16"},
		},
		"metrics token of words": {
			words: []string{"REEVE_METRICS__TOKEN=a token with spaces"},
			says:  []string{"metrics.token", "16"},
		},
		"unknown level": {
			words: []string{"REEVE_LOG__LEVEL=loud"},
			says:  []string{"log.level", "debug"},
		},
		"proxy that is a name": {
			words: []string{"REEVE_SERVER__TRUSTED_PROXIES=proxy.example"},
			says:  []string{"server.trusted_proxies", "proxy.example"},
		},
		"origin with a path": {
			words: []string{"REEVE_SERVER__CORS_ORIGINS=https://a.example/x"},
			says:  []string{"server.cors_origins", "https://a.example/x"},
		},
		"Redis without a port": {
			words: []string{"REEVE_MONITOR__REDIS__TARGETS=cache=redis://u:p@h"},
			says:  []string{"monitor.redis.targets", "cache", "port"},
		},
		"every origin": {
			words: []string{"REEVE_SERVER__CORS_ORIGINS=*"},
			says:  []string{"server.cors_origins"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := []string{"--listen", "127.0.0.1:0"}
			if tc.file != "" {
				words = append(words, "--config", configFile(t, tc.file))
			}

			cmd := program(t, append(words, tc.words...)...)
			r := finish(t, cmd)
			if r.code != 1 {
				t.Errorf("%+v, want 1", r)
			}

			for _, word := range tc.says {
				if !strings.Contains(r.err, word) {
					t.Errorf("it does not say %q: %s", word, r.err)
				}
			}
			if strings.Contains(r.err, "goroutine ") {
				t.Errorf("it panicked: %s", r.err)
			}
		})
	}
}

// The example with some of its lines commented out is still a valid configuration.
func TestConfig_Empty(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":              "",
		"a comment":          "# nothing\n",
		"a table of nothing": "[server]\n# listen = \"127.0.0.1:8080\"\n",
		"all tables empty":   "[server]\n[data]\n[auth]\n[log]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, "--listen", "127.0.0.1:0", "--config", configFile(t, text))
			if r.code != 0 || !strings.Contains(r.err, "serving http://") {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestConfig_UnknownVariables(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(),
		"REEVE_SERVER__LISEN=x", "REEVE_PORT=tcp://10.0.0.1:80", // platforms inject variables such as the second
		"REEVE_TEST_LONG=0", "REEVE_TEST_ANYTHING=1", "REEVE_ADMIN_USERNAME=admin",
		"REEVE_DATA__DIR=elsewhere")
	p.stop()
	warnings := p.log.messages(t, "warn")
	slices.Sort(warnings)
	if len(warnings) != 2 || !strings.Contains(warnings[0], "REEVE_PORT ") ||
		!strings.Contains(warnings[1], "REEVE_SERVER__LISEN ") {
		t.Errorf("the warnings are %q, want one for REEVE_PORT and one for REEVE_SERVER__LISEN",
			warnings)
	}
}

// TestDataDirectory_ReadableWarning checks that the start warns of data that others can read. The
// server's own files are private.
func TestDataDirectory_ReadableWarning(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(servertest.OpenDir(t), "data")
	p := start(t, dir)
	p.stop()
	if warnings := p.log.messages(t, "warn"); len(warnings) != 0 {
		t.Errorf("a new directory: %q", warnings)
	}

	cmd := program(t, "--listen", "127.0.0.1:0", "--data", dir)
	if err := errors.Join(os.Chmod(dir, 0o711), os.Chmod(filepath.Join(dir, "data.db"), 0o644)); err != nil {
		t.Fatal(err)
	}

	p = begin(t, cmd)
	p.ready()
	if warnings := p.log.messages(t, "warn"); len(warnings) != 1 ||
		!strings.Contains(warnings[0], filepath.Join(dir, "data.db")) {
		t.Errorf("%q", warnings)
	}
	if _, parts, _ := signedIn(t, p).systemHealth(); parts["permissions"] != "degraded" {
		t.Errorf("%v", parts)
	}

	p.stop()
}
