package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTexts_CountsHaveSingular looks for texts that count with a fixed plural: "1 changes". Bounds
// after "than", which are never 1, may have one.
func TestTexts_CountsHaveSingular(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	plural := regexp.MustCompile(`(\S+) ?%(\[\d\])?d [a-z]+s\b`)
	found := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			for _, m := range plural.FindAllStringSubmatch(" "+text.Value, -1) {
				if found++; m[1] != "than" && m[1] != "\"process" {
					t.Errorf("%s: %s: use errs.Count", path, text.Value)
				}
			}
			return true
		})
	}
	if found == 0 {
		t.Error("no text counts anything: the expression is wrong")
	}
}

func TestShortTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "less than 10µs", 9 * time.Microsecond: "less than 10µs", 20 * time.Microsecond: "20µs",
		1234 * time.Microsecond: "1.2ms", 25678 * time.Microsecond: "26ms", 3456 * time.Millisecond: "3.5s",
	} {
		if got := shortTime(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

// TestNoDatabase_Says runs every command that needs data on a directory without any.
func TestNoDatabase_Says(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	writeText(t, file, "x\n")
	needNone := map[string]string{ // with the reason
		"serve": "makes it", "health": "asks the network", "backup list": "lists files",
		"cluster init": "needs etcd", "cluster status": "asks etcd", "cluster leave": "needs reeve-cluster",
		"cluster join": "needs reeve-cluster", "cluster restore": "makes it", "cluster upgrade": "makes it",
		"backup check": "is about a backup", "restore": "makes it", "backup restore": "makes it",
	}
	for _, c := range commands {
		if c.plain || needNone[c.name] != "" {
			continue
		}
		args := strings.Fields(c.name)
		for range len(strings.Fields(c.args)) - strings.Count(c.args, "[") {
			args = append(args, file)
		}
		_, _, err := runIn(t, append(args, "--data", t.TempDir())...)
		if err == nil || !strings.Contains(err.Error(), "there is no database in ") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
