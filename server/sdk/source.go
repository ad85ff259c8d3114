package sdk

import (
	"fmt"
	"io/fs"
	"slices"
)

// Kinds are the languages of the clients.
var Kinds = []string{"typescript", "go"}

// Source returns the files of a client, by name, as they stand in the tree of a product: plain
// source with a package.json or go.mod of its own. Its kind is one of Kinds.
func Source(files fs.FS, kind, version string) (map[string][]byte, error) {
	if !slices.Contains(Kinds, kind) {
		return nil, fmt.Errorf("there is no client for %s; there are clients for %s", kind, Kinds)
	}
	if !release.MatchString(version) {
		version = noVersion
	}
	p := &packer{files: files, version: version}
	entries := p.npmFiles
	if kind == "go" {
		entries = p.goFiles
	}
	all := map[string][]byte{}
	for _, e := range entries() {
		all[e.name] = e.content
	}
	return all, p.err
}
