package cli

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/config"
)

// runIn runs a command in an empty working directory.
func runIn(t *testing.T, args ...string) (out, log string, err error) {
	t.Helper()
	t.Chdir(t.TempDir())
	var o, e bytes.Buffer
	err = Run(Release{Version: "1.2.3"}, args, &o, &e)
	return o.String(), e.String(), err
}

func TestWrongCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"srve":                        "unknown command \"srve\"; `reeve --help` lists them",
		"key rtate":                   "unknown command \"rtate\"; `reeve key --help` lists them",
		"--colour blue":               "unknown flag: --colour",
		"verify --data":               "flag needs an argument: --data",
		"verify --listen :1":          "unknown flag: --listen",
		"serve now":                   "usage: reeve serve",
		"secret rotate now":           "usage: reeve secret rotate",
		"key rotate":                  "usage: reeve key rotate NAME",
		"role grant anna":             "usage: reeve role grant USERNAME ROLE…",
		"restore":                     "usage: reeve restore TARGET|FILE",
		"restore a --data x b":        "usage: reeve restore TARGET|FILE",
		"verify --config missing":     "read missing: open missing: no such file or directory",
		"user list --data x":          "there is no database in x",
		"restore a --identity broken": "open broken: no such file or directory",
	} {
		t.Run(line, func(t *testing.T) {
			out, log, err := runIn(t, strings.Fields(line)...)
			if err == nil || err.Error() != want || out != "" || log != "" {
				t.Errorf("%v, want %s; it printed %q and %q", err, want, out, log)
			}
			if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
				t.Errorf("it left %v (%v)", left, err)
			}
		})
	}
}

func TestHelp_EveryCommand(t *testing.T) {
	out, _, err := runIn(t, "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		if line := strings.TrimSpace(c.name+" "+c.args) + " "; !strings.Contains(out, "\n  "+line) {
			t.Errorf("no line begins with %q:\n%s", line, out)
		}
		for _, ask := range [][]string{append(strings.Fields(c.name), "--help"),
			append([]string{"help"}, strings.Fields(c.name)...)} {
			text, _, err := runIn(t, ask...)
			if err != nil || !strings.Contains(text, c.help) ||
				!strings.Contains(text, "reeve "+c.name) {
				t.Errorf("reeve %s: %v\n%s", ask, err, text)
			}
		}
	}
}

func TestVersion_PrintsGiven(t *testing.T) {
	if out, _, err := runIn(t, "version"); err != nil || !strings.HasPrefix(out, "reeve 1.2.3") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestLicenses_PrintsNotice(t *testing.T) {
	if out, _, err := runIn(t, "licenses"); err != nil || !strings.HasPrefix(out, "Licenses of the software in the program reeve\n") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestFlags_Anywhere(t *testing.T) {
	for line, want := range map[string]map[string]string{
		"serve --data d":       {"data.dir": "d"},
		"--data d serve":       {"data.dir": "d"},
		"--data= --listen :1":  {"data.dir": "", "server.listen": ":1"},
		"serve --config c":     {},
		"--listen=:1 --data d": {"data.dir": "d", "server.listen": ":1"},
	} {
		cmd, rest, err := Tree(Release{}, io.Discard, io.Discard).Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(rest); err != nil || !maps.Equal(keysOf(cmd.Flags()), want) {
			t.Errorf("%s: %v, want %v (%v)", line, keysOf(cmd.Flags()), want, err)
		}
	}
}

// TestFlags_ExistingKeys: every value in flagKeys is a key of the configuration.
func TestFlags_ExistingKeys(t *testing.T) {
	for name, key := range flagKeys {
		table, last, _ := strings.Cut(key, ".")
		_, text, _ := strings.Cut(config.Example(), "\n["+table+"]\n")
		if text, _, _ = strings.Cut(text, "\n["); !strings.Contains(text, "\n"+last+" = ") {
			t.Errorf("--%s sets %s, which is no key", name, key)
		}
		if Tree(Release{}, io.Discard, io.Discard).Flags().Lookup(name) == nil &&
			Tree(Release{}, io.Discard, io.Discard).PersistentFlags().Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// TestFirstPassword_NotLogged: it is only in its file, whose path is logged.
func TestFirstPassword_NotLogged(t *testing.T) {
	t.Chdir(t.TempDir())
	var log bytes.Buffer
	p := &program{Release: Release{Version: "1.2.3"}, err: &log, firstName: firstUser}
	root := Tree(Release{}, io.Discard, io.Discard)
	if err := root.ParseFlags([]string{"--data", "data"}); err != nil {
		t.Fatal(err)
	}
	if err := p.configure(keysOf(root.Flags())); err != nil {
		t.Fatal(err)
	}

	db, _, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	path := filepath.Join("data", initialName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	words := strings.Fields(string(text))
	password := words[len(words)-1]
	if len(password) != len(auth.RandomPassword()) || strings.Contains(log.String(), password) ||
		!strings.Contains(log.String(), path) {
		t.Errorf("%q\n%s", text, &log)
	}
}

func TestHelp_Manual(t *testing.T) {
	list, _, err := runIn(t, "help")
	if err != nil || !strings.Contains(list, "\n  getting-started    Getting started\n") ||
		!strings.Contains(list, "reeve --help") {
		t.Errorf("%v\n%s", err, list)
	}

	topic, _, err := runIn(t, "help", "getting-started")
	if err != nil || !strings.HasPrefix(topic, "GETTING STARTED\n\n") ||
		!strings.Contains(topic, "First sign-in\n-------------\n") {
		t.Errorf("%v\n%s", err, topic)
	}

	none, _, err := runIn(t, "help", "cooking")
	if err == nil || none != "" ||
		!strings.HasPrefix(err.Error(),
			"unknown topic \"cooking\"; the topics are:\n\n  getting-started ") {
		t.Errorf("%v\n%s", err, none)
	}
}
