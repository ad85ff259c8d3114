// Arrows counts the imports between the packages below server, and fails when there are too many:
// one for each pair of packages, one for each file and package, and those that point back. The
// order is server, then the features, then the framework (server/web), then the packages that it
// imports.
//
//	go run ./.ci/arrows
package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The most that may be counted. A new feature adds those that it needs; otherwise they may only fall.
const (
	maxPackages = 115
	maxFiles    = 351
)

const root = "reeve/server"

func main() {
	packages, files, back, err := count()
	if err == nil && (packages > maxPackages || files > maxFiles || len(back) > 0) {
		err = fmt.Errorf("more than %d, %d or 0", maxPackages, maxFiles)
	}
	fmt.Printf("arrows: below server, %d pairs of packages, %d of file and package, %d that point back %q\n", packages, files, len(back), back)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func count() (packages, files int, back []string, err error) {
	imports := map[[2]string]int{} // by importing and imported package, in how many files
	err = filepath.WalkDir("server", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") ||
			strings.HasSuffix(name, "_test.go") || strings.Contains(name, "servertest") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			if to := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(to, root) {
				imports[[2]string{path.Join("reeve", filepath.ToSlash(filepath.Dir(name))), to}]++
			}
		}
		return nil
	})

	below := map[string]bool{} // what the framework imports
	for changed := true; changed; {
		changed = false
		for pair := range imports {
			if (pair[0] == root+"/web" || below[pair[0]]) && !below[pair[1]] {
				below[pair[1]], changed = true, true
			}
		}
	}

	rank := func(pkg string) int {
		switch {
		case pkg == root || pkg == root+"/cli" || pkg == root+"/config":
			return 0
		case pkg == root+"/web":
			return 2
		case below[pkg] || !importsWeb(imports, pkg):
			return 3
		}
		return 1
	}
	for pair, n := range imports {
		packages, files = packages+1, files+n
		if rank(pair[0]) > rank(pair[1]) {
			back = append(back, pair[0]+" → "+pair[1])
		}
	}

	return packages, files, back, err
}

func importsWeb(imports map[[2]string]int, pkg string) bool {
	return imports[[2]string{pkg, root + "/web"}] > 0
}
