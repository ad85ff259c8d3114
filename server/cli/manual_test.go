package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var (
	fencedBlock  = regexp.MustCompile("(?ms)^```[^\n]*\n(.*?)^```$")
	blockLine    = regexp.MustCompile(`(?m)(?:^|&& |; |\$ |\| )(?:sudo )?(?:-u \S+ )?reeve( [^&;|>\n]*)?`)
	inlineCode   = regexp.MustCompile("`(?:sudo )?reeve( [^`\n]*)`")
	shellComment = regexp.MustCompile(`\s#.*`)
	shellQuoted  = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	optional     = strings.NewReplacer("[", "", "]", "")
)

// TestManual_CommandsExist looks up each command line of the manual and the README in the table of
// commands, with its flags, and in blocks of code its number of arguments, too.
func TestManual_CommandsExist(t *testing.T) {
	paths, err := filepath.Glob("../../embed/manual/*.md")
	docs, _ := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	inBlocks, inText := 0, 0
	for _, path := range append(append(paths, docs...), "../../README.md") {
		if filepath.Base(path) == "changelog.md" {
			continue // has commands of older versions
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fencedBlock.FindAllSubmatch(b, -1) {
			for _, line := range blockLine.FindAllSubmatch(block[1], -1) {
				inBlocks++
				checkCommandLine(t, path, shellComment.ReplaceAllString(string(line[1]), ""), true)
			}
		}
		for _, line := range inlineCode.FindAllSubmatch(fencedBlock.ReplaceAll(b, nil), -1) {
			inText++
			checkCommandLine(t, path, optional.Replace(string(line[1])), false)
		}
	}
	if inBlocks < 40 || inText < 120 {
		t.Errorf("only %d command lines in blocks and %d in the text were found", inBlocks, inText)
	}
}

// checkCommandLine checks the words after reeve. One that is whole has all its arguments.
func checkCommandLine(t *testing.T, path, line string, whole bool) {
	t.Helper()
	words := strings.Fields(shellQuoted.ReplaceAllString(line, "TEXT"))
	root := Tree(Release{}, io.Discard, io.Discard)
	cmd, rest, err := root.Find(words)
	if err != nil {
		t.Errorf("%s: reeve%s: %v", path, line, err)
		return
	}
	if cmd == root && len(words) > 0 && !strings.HasPrefix(words[0], "-") && words[0] != "COMMAND" && words[0] != "completion" || cmd.HasSubCommands() && cmd != root && len(rest) > 0 {
		t.Errorf("%s: reeve%s: no such command", path, line)
		return
	}
	if whole {
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: reeve%s: %v", path, line, err)
		} else if err := argsOf(cmd)(cmd, cmd.Flags().Args()); err != nil {
			t.Errorf("%s: reeve%s: %v", path, line, err)
		}
		return
	}
	for _, word := range rest {
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && name != "help" && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
			t.Errorf("%s: reeve%s: no flag --%s", path, line, name)
		}
	}
}

func argsOf(cmd *cobra.Command) cobra.PositionalArgs {
	if cmd.Args == nil {
		return cobra.ArbitraryArgs
	}
	return cmd.Args
}

// TestFirstPages_Short reads what a newcomer reads first: both pages begin with what Reeve is, and lead
// from a start to a backup in at most 300 words.
func TestFirstPages_Short(t *testing.T) {
	const sentence = "Users, roles and settings for your product in one program; every change by a person or a program is explained, logged in the same transaction and can be undone."
	for path, end := range map[string]string{
		"../../README.md":                       "\n## Manual\n",
		"../../embed/manual/getting-started.md": "\n## Build it, choose a port\n",
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, _, found := strings.Cut(string(b), end)
		if words := len(strings.Fields(text)); !found || words > 300 {
			t.Errorf("%s has %d words before %q (%v)", path, words, end, found)
		}
		title, rest, _ := strings.Cut(text, "\n\n")
		if !strings.HasPrefix(strings.TrimLeft(rest, "*"), sentence) {
			t.Errorf("%s does not begin, after %s, with %s", path, title, sentence)
		}
		at := 0
		for _, part := range []string{"docker load -i", "apt install", "go run .", "ign in", "protect(reeve, ", "Back up"} {
			next := strings.Index(text[at:], part)
			if next < 0 {
				t.Errorf("%s lacks %s, or has it before the others", path, part)
				continue
			}
			at += next
		}
	}
}
