package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestApply_Prune deletes what a file has created and no longer has, beside a server and without one; an
// object that was made by hand stays, and without --prune nothing is deleted.
func TestApply_Prune(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{true, false} {
		dir, file := t.TempDir(), filepath.Join(t.TempDir(), "shop.toml")
		p := start(t, dir)
		c := signedIn(t, p)
		c.create("/admin/role", "name", "By hand")
		if !running {
			p.stop()
		}
		step := func(words, text string, code int, want string) {
			t.Helper()
			noErr(t, os.WriteFile(file, []byte(text), 0o600))
			r := run(t, append(strings.Fields(words), file, "--data", dir)...)
			if r.code != code || !regexp.MustCompile(want).MatchString(r.out) {
				t.Errorf("%s (running: %v): %+v, want %d and %s", words, running, r, code, want)
			}
		}
		const all = "permissions.\"shop.refund\" = \"Refund\"\n[roles.Support]\npermissions = [\"shop.refund\"]\n[roles.Sales]\n"
		const less = "permissions.\"shop.refund\" = \"Refund\"\n[roles.Sales]\n"
		step("apply", all, 0, `\+ role Support`)
		step("plan", less, 0, `^no changes\n$`)
		step("apply", less, 0, `^no changes\n$`)
		step("plan --prune", less, 2, `^- role Support\n`)
		step("apply --prune", less, 0, `^- role Support\n`)
		step("plan --prune", less, 0, `^no changes\n$`)
		if r := run(t, "role", "list", "--data", dir); strings.Contains(r.out, "Support") || !strings.Contains(r.out, "Sales") ||
			!strings.Contains(r.out, "By hand") {
			t.Errorf("running: %v: %+v", running, r)
		}
	}
}

// TestBackupRestore_LikeRestore restores by the longer name of the command, which is refused beside a
// server.
func TestBackupRestore_LikeRestore(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "b.tar")
	p := start(t, dir)
	for _, words := range []string{"user add anna", "backup now " + file, "user add bert"} {
		if r := run(t, append(strings.Fields(words), "--data", dir)...); r.code != 0 {
			t.Fatalf("%s: %+v", words, r)
		}
	}
	if r := run(t, "backup", "restore", file, "--data", dir); r.code != 1 || !strings.Contains(r.err, "process ") {
		t.Errorf("beside a server: %+v", r)
	}
	p.stop()
	if r := run(t, "backup", "restore", file, "--data", dir); r.code != 0 || !strings.Contains(r.out, "restored; all users must sign in again") ||
		!strings.Contains(r.out, "kept-") {
		t.Errorf("%+v", r)
	}
	if r := run(t, "user", "list", "--data", dir); !strings.Contains(r.out, "anna") || strings.Contains(r.out, "bert") {
		t.Errorf("%+v", r)
	}
}

// TestCompletion_Shells checks the script for each shell, which completes commands and flags with it.
func TestCompletion_Shells(t *testing.T) {
	t.Parallel()
	for shell, has := range map[string]string{"bash": "complete -o default", "zsh": "#compdef reeve", "fish": "complete -c reeve",
		"powershell": "Register-ArgumentCompleter -CommandName 'reeve'"} {
		t.Run(shell, func(t *testing.T) {
			r := run(t, "completion", shell)
			if r.code != 0 || !strings.Contains(r.out, has) || r.err != "" {
				t.Errorf("it (%d) lacks %q; %s", r.code, has, r.err)
			}
			if shell == "powershell" {
				return
			}
			needs(t, shell)
			path := filepath.Join(t.TempDir(), "script")
			noErr(t, os.WriteFile(path, []byte(r.out), 0o600))
			if out, err := exec.Command(shell, "-n", path).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			completes(t, shell, path)
		})
	}
	if r := run(t, "completion", "tcsh"); r.code != 1 || !strings.Contains(r.err, "tcsh") {
		t.Errorf("%+v", r)
	}
}

// completions are programs of shells that source the completion script, their first argument, and print how it completes a
// line, the others. What works on a terminal only is replaced, and so is what bash takes from the package bash-completion.
var completions = map[string]string{
	"bash": `_get_comp_words_by_ref() {
	cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
}
compopt() { :; }
source "$1"
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)) COMP_LINE="${*:2}" COMP_TYPE=9
COMP_POINT=${#COMP_LINE}
__start_reeve
printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh": `compdef() { :; }
_describe() { print -rl -- "${completions[@]}"; }
source "$1"
words=("${@:2}") CURRENT=$(($# - 1))
_reeve`,
	"fish": `source $argv[1]
complete -C "$argv[2..-1]"`,
}

// completes completes lines in a shell.
func completes(t *testing.T, shell, script string) {
	t.Helper()
	for line, want := range map[string][]string{
		"reeve sal":            {"salvage"},
		"reeve user dis":       {"disable"},
		"reeve backup re":      {"recipient", "restore"},
		"reeve apply --pr":     {"--prune"},
		"reeve log level --js": {"--json"},
	} {
		words := []string{"-c", completions[shell]}
		if shell != "fish" {
			words = append(words, shell) // as $0
		}
		cmd := exec.Command(shell, append(append(words, script), strings.Fields(line)...)...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		found := regexp.MustCompile(`(?m)^[\w-]+`).FindAllString(string(out), -1)
		if err != nil || strings.Join(found, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %q %v, want %q", line, out, err, want)
		}
	}
}
