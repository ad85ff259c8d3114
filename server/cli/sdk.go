package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reeve/embed"
	"reeve/server/sdk"
	"reeve/store/errs"
)

// clientModule is the path of the Go module.
const clientModule = sdk.Module

// sdkList is the file in a written client that has its kind and lists its files, so that the next
// version can remove those that it no longer has.
const sdkList = ".reeve-sdk"

// writeSDK writes a client into a directory of a product. It replaces the files of the version that
// it wrote before, and touches no others.
func (p *program) writeSDK() error {
	kind, dir := p.args[0], p.args[1]
	files, err := fs.Sub(embed.SDK, "sdk")
	if err != nil {
		return err
	}
	source, err := sdk.Source(files, kind, p.Version)
	if err != nil {
		return err
	}
	before, err := writtenBefore(dir, kind)
	if err != nil {
		return err
	}

	names := slices.Sorted(maps.Keys(source))
	for _, name := range names {
		if _, err := os.Lstat(inside(dir, name)); err == nil && !slices.Contains(before, name) {
			return fmt.Errorf("%s is not of the client; move it", inside(dir, name))
		}
	}

	// A run that is interrupted leaves a list with everything that the next one may replace.
	if err := writeList(dir, kind, append(before, names...)); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(inside(dir, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(inside(dir, name), source[name], 0o644); err != nil {
			return err
		}
	}
	for _, name := range before {
		if source[name] != nil {
			continue
		}
		if err := os.Remove(inside(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := writeList(dir, kind, names); err != nil {
		return err
	}

	from := filepath.ToSlash(dir)
	if !filepath.IsAbs(dir) {
		from = "./" + from
	}
	use := "npm install " + from
	if kind == "go" {
		use = fmt.Sprintf("go mod edit -require=%s@v0.0.0 -replace=%[1]s=%s", clientModule, from)
	}
	_, err = fmt.Fprintf(p.out, "wrote %s of version %s; use them with: %s\n", errs.Count(len(names), "file"),
		p.Version, use)
	return err
}

// inside returns the path of a file of a client.
func inside(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

func writeList(dir, kind string, names []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	slices.Sort(names)
	text := kind + "\n" + strings.Join(slices.Compact(names), "\n") + "\n"
	return os.WriteFile(filepath.Join(dir, sdkList), []byte(text), 0o644)
}

// writtenBefore returns the files of the client in a directory. It is an error if the directory has
// something else in place of a client of this kind.
func writtenBefore(dir, kind string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := os.ReadFile(filepath.Join(dir, sdkList))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has files that are not of the client; name a new directory", dir)
	}
	if err != nil {
		return nil, err
	}
	names := strings.Fields(string(list))
	if len(names) == 0 || names[0] != kind {
		return nil, fmt.Errorf("%s has another client; name a new directory", dir)
	}
	names = names[1:]
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s names %s, which is outside of the directory", sdkList, name)
		}
	}
	return names, nil
}
