package sdk

import (
	"testing"
	"testing/fstest"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"LICENSE": {}, "go/a.go": {}, "typescript/package.json": {}}
	for version, want := range map[string]string{
		"0.12.0":           "0.12.0",
		"1.0.10":           "1.0.10",
		"0.12.0-rc1":       "0.12.0-rc1",
		"0.12.0-rc.1":      "0.12.0-rc.1",
		"0.12.0-beta":      "0.12.0-beta",
		"0.12.0-rc.01":     "0.0.0", // npm refuses it
		"0.12.0-1":         "0.0.0",
		"0.12.0-a-b":       "0.0.0",
		"0.12.0+build":     "0.0.0", // the go command refuses it
		"v0.12.0":          "0.0.0",
		"0.12":             "0.0.0",
		"0.012.0":          "0.0.0",
		"2.0.0":            "0.0.0",
		"0.12.0\n":         "0.0.0",
		"../../etc/passwd": "0.0.0",
		"":                 "0.0.0",
	} {
		out, err := New(files, version)
		if err != nil {
			t.Fatal(err)
		}
		if out.Version != want {
			t.Errorf("%q becomes %s, want %s", version, out.Version, want)
		}
		// Builds without a version of their own share one, so nothing may keep its files.
		if fixed := out.ByPath[out.NPM].Fixed; fixed != (want != "0.0.0") {
			t.Errorf("the archives of %q are fixed: %v", version, fixed)
		}
	}
}
