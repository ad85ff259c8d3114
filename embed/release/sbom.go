package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom writes the list of the software inside an edition: the Go modules that are linked into a program
// for any target, the version of Go, and the npm packages in the console's build.
func (r *release) sbom(e edition) error {
	parts := map[string]cdx.Component{} // by package URL
	for _, t := range r.of(e) {
		info, err := buildinfo.ReadFile(r.built(t))
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			url := "pkg:golang/" + m.Path + "@" + m.Version
			parts[url] = cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, PackageURL: url,
				Name: m.Path, Version: m.Version}
		}
		version := strings.TrimPrefix(info.GoVersion, "go")
		url := "pkg:golang/std@" + version
		parts[url] = cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, PackageURL: url,
			Name: "std", Version: version}
	}

	if err := r.npmPackages(parts); err != nil {
		return err
	}

	main := "pkg:golang/reeve@" + r.version
	all, refs := []cdx.Component{}, slices.Sorted(maps.Keys(parts))
	for _, url := range refs {
		all = append(all, parts[url])
	}

	bom := cdx.NewBOM()
	id := sha256.Sum256([]byte(e.name + " " + r.commit))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of version 8
	bom.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.at.Format(time.RFC3339),
		Component: &cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: main, PackageURL: main,
			Name: e.name, Version: r.version,
			Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}},
	}

	bom.Components = &all
	bom.Dependencies = &[]cdx.Dependency{{Ref: main, Dependencies: &refs}}
	var b bytes.Buffer
	encoder := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON)
	if err := encoder.SetPretty(true).Encode(bom); err != nil {
		return err
	}

	return r.write(r.name(e, "sbom.cdx.json"), b.Bytes())
}

// npmPackages adds the packages that the build of the console has listed, with the versions of the
// lock file.
func (r *release) npmPackages(parts map[string]cdx.Component) error {
	console := filepath.Join(r.root, "embed", "console")
	var dirs []string
	if err := readJSON(filepath.Join(console, "packages.json"), &dirs); err != nil {
		return err
	}

	var lock struct {
		Packages map[string]struct{ Name, Version, License string }
	}
	if err := readJSON(filepath.Join(console, "package-lock.json"), &lock); err != nil {
		return err
	}

	for _, dir := range dirs {
		p, found := lock.Packages[dir]
		if !found {
			return fmt.Errorf("package-lock.json has no %s", dir)
		}
		name := cmp.Or(p.Name, dir[strings.LastIndex(dir, "node_modules/")+len("node_modules/"):])
		url := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, PackageURL: url, Name: name,
			Version: p.Version}
		if p.License != "" {
			c.Licenses = &cdx.Licenses{{Expression: p.License}}
		}
		parts[url] = c
	}

	return nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
