package cli

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	err = Run(Release{Version: "1.2.3", Notice: "a license\n"}, args, &o, &e)
	return o.String(), e.String(), err
}

func TestWrongCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"srve":                        "unknown command \"srve\"; `reeve --help` lists them",
		"key":                         "unknown command \"key\"; `reeve --help` lists them",
		"--colour blue":               "flag provided but not defined: -colour",
		"verify --data":               "flag needs an argument: -data",
		"serve now":                   "usage: reeve serve [flags]; the command comes first",
		"--data x verify":             "usage: reeve serve [flags]; the command comes first",
		"key rotate now":              "usage: reeve key rotate [flags]; the command comes first",
		"restore":                     "usage: reeve restore [flags] FILE; the command comes first",
		"restore a --data x b":        "usage: reeve restore [flags] FILE; the command comes first",
		"verify --config missing":     "read missing: open missing: no such file or directory",
		"admin recover --data x":      "there is no database in x",
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
	out, _, err := runIn(t, "verify", "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		if line := strings.TrimSpace(c.name+" "+c.args) + " "; !strings.Contains(out, "\n  "+line) {
			t.Errorf("no line begins with %q:\n%s", line, out)
		}
	}
}

func TestVersion_PrintsGiven(t *testing.T) {
	if out, _, err := runIn(t, "version"); err != nil || !strings.HasPrefix(out, "reeve 1.2.3") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestLicenses_PrintsNotice(t *testing.T) {
	if out, _, err := runIn(t, "licenses"); err != nil || out != "a license\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestFlags_AfterArguments(t *testing.T) {
	for line, want := range map[string]map[string]string{
		"--data d FILE":                {"data.dir": "d"},
		"FILE --data d":                {"data.dir": "d"},
		"FILE --data= --listen :1":     {"data.dir": "", "server.listen": ":1"},
		"--identity i FILE --config c": {},
	} {
		f := newFlags(commands[0])
		others, err := f.parse(strings.Fields(line))
		if err != nil || !slices.Equal(others, []string{"FILE"}) || !maps.Equal(f.keys(), want) {
			t.Errorf("%s: %q and %v, want FILE and %v (%v)", line, others, f.keys(), want, err)
		}
	}
}

// TestFlags_ExistingKeys: every value in flagKeys is a key of the configuration.
func TestFlags_ExistingKeys(t *testing.T) {
	for name, key := range flagKeys {
		table, last, _ := strings.Cut(key, ".")
		_, text, _ := strings.Cut(config.Example(), "\n["+table+"]\n")
		if text, _, _ = strings.Cut(text, "\n["); !strings.Contains(text, "\n"+last+" = ") {
			t.Errorf("-%s sets %s, which is no key", name, key)
		}
		if newFlags(commands[0]).Lookup(name) == nil {
			t.Errorf("there is no flag -%s", name)
		}
	}
}

// TestFirstPassword_NotLogged: it is only in its file, whose path is logged.
func TestFirstPassword_NotLogged(t *testing.T) {
	t.Chdir(t.TempDir())
	var log bytes.Buffer
	p := &program{version: "1.2.3", err: &log, firstName: firstUser}
	f := newFlags(commands[0])
	if _, err := f.parse([]string{"--data", "data"}); err != nil {
		t.Fatal(err)
	}
	if err := p.configure(f); err != nil {
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
	if len(password) != len(auth.RandomPassword()) || strings.Contains(log.String(), password) || !strings.Contains(log.String(), path) {
		t.Errorf("%q\n%s", text, &log)
	}
}

func TestHelp_Manual(t *testing.T) {
	list, _, err := runIn(t, "help")
	if err != nil || !strings.Contains(list, "\n  getting-started    Getting started\n") || !strings.Contains(list, "reeve --help") {
		t.Errorf("%v\n%s", err, list)
	}
	topic, _, err := runIn(t, "help", "getting-started")
	if err != nil || !strings.HasPrefix(topic, "GETTING STARTED\n\n") || !strings.Contains(topic, "First sign-in\n-------------\n") {
		t.Errorf("%v\n%s", err, topic)
	}
	none, _, err := runIn(t, "help", "cooking")
	if err == nil || none != "" || !strings.HasPrefix(err.Error(), "unknown topic \"cooking\"; the topics are:\n\n  getting-started ") {
		t.Errorf("%v\n%s", err, none)
	}
	if _, _, err := runIn(t, "help", "a", "b"); err == nil || err.Error() != "usage: reeve help [flags] [TOPIC]; the command comes first" {
		t.Errorf("%v", err)
	}
}
