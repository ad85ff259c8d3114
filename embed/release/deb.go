package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	nfiles "github.com/goreleaser/nfpm/v2/files"
)

// installed are the files of the package that are not made from the program: units of systemd, the
// user, and what is run at installation and removal.
//
//go:embed files
var installed embed.FS

// pkg builds the Debian package for a target.
func (r *release) pkg(t target) error {
	stage := filepath.Join(r.work, t.edition.name, "stage_"+t.arch)
	err := os.MkdirAll(stage, 0o755)
	var deb []byte
	if err == nil {
		deb, err = r.deb(t, stage)
	}
	if err != nil {
		return fmt.Errorf("package for %s: %w", t, err)
	}
	return r.write(r.name(t.edition, t.deb+".deb"), deb)
}

// deb returns the Debian package for a target. nfpm reads files from disk only, so that contents are
// staged in a directory.
func (r *release) deb(t target, stage string) ([]byte, error) {
	p := &contents{release: r, stage: stage}
	p.add("/usr/bin/reeve", 0o755, "", p.read(r.built(t)))
	p.add("/usr/lib/systemd/system/reeve.service", 0o644, "", p.installed("reeve.service"))
	p.add("/usr/lib/systemd/system/reeve.socket", 0o644, "", p.installed("reeve.socket"))
	p.add("/usr/lib/sysusers.d/reeve.conf", 0o644, "", p.installed("reeve.sysusers"))
	p.add("/etc/reeve/config.toml", 0o640, nfiles.TypeConfigNoReplace, commented(r.extra.config))
	p.add("/usr/share/doc/"+t.edition.name+"/copyright", 0o644, "", r.extra.license)
	p.add("/usr/share/doc/"+t.edition.name+"/NOTICE.gz", 0o644, "", p.gzip(r.extra.notice))
	p.add("/usr/share/bash-completion/completions/reeve", 0o644, "", r.extra.bash)
	p.add("/usr/share/zsh/vendor-completions/_reeve", 0o644, "", r.extra.zsh)
	p.add("/usr/share/fish/vendor_completions.d/reeve.fish", 0o644, "", r.extra.fish)
	for _, name := range slices.Sorted(maps.Keys(r.extra.man)) {
		p.add("/usr/share/man/man1/"+name+".gz", 0o644, "", p.gzip(r.extra.man[name]))
	}

	info := nfpm.WithDefaults(&nfpm.Info{
		Name:        t.edition.name,
		Arch:        t.deb,
		Platform:    "linux",
		Version:     r.version,
		Section:     "admin",
		Priority:    "optional",
		Maintainer:  "The Reeve authors <noreply@reeve.internal>",
		Description: "Administration backend in one program\nUsers, roles, permissions, settings and files for your product, with an\ninterface of JSON over HTTP and a console. All data is in one directory." + t.edition.about,
		License:     "Apache-2.0",
		MTime:       r.at,
		Overridables: nfpm.Overridables{
			Contents:  p.all,
			Conflicts: []string{t.edition.other},
			Replaces:  []string{t.edition.other},
			Provides:  provided(t.edition),
			Scripts: nfpm.Scripts{
				PreInstall:  p.script("preinst"),
				PostInstall: p.script("postinst"),
				PreRemove:   p.script("prerm"),
				PostRemove:  p.script("postrm"),
			},
			Deb: nfpm.Deb{Compression: "xz"},
		},
	})

	if p.err != nil {
		return nil, p.err
	}

	packager, err := nfpm.Get("deb")
	if err != nil {
		return nil, err
	}

	var b bytes.Buffer
	err = packager.Package(info, &b)
	return b.Bytes(), err
}

// provided returns what a package stands for: that of several nodes does all that the other one does.
func provided(e edition) []string {
	if e == severalNodes {
		return []string{oneNode.name}
	}
	return nil
}

// commented returns a configuration whose keys are all comments, so that defaults can change with the
// program.
func commented(example []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(example) {
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' && line[0] != '[' {
			b.WriteString("#")
		}
		b.Write(line)
	}
	return b.Bytes()
}

// contents are the files of a package.
type contents struct {
	*release
	stage string
	all   nfiles.Contents
	err   error
}

func (p *contents) keep(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *contents) read(path string) []byte {
	content, err := os.ReadFile(path)
	p.keep(err)
	return content
}

func (p *contents) installed(name string) []byte {
	content, err := installed.ReadFile("files/" + name)
	p.keep(err)
	return content
}

func (p *contents) gzip(content []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	p.keep(err)
	_, err = z.Write(content)
	p.keep(err)
	p.keep(z.Close())
	return b.Bytes()
}

// staged writes content to the stage and returns its path.
func (p *contents) staged(name string, content []byte) string {
	path := filepath.Join(p.stage, filepath.Base(name)+fmt.Sprint(len(p.all)))
	p.keep(os.WriteFile(path, content, 0o644))
	return path
}

func (p *contents) script(name string) string { return p.staged(name, p.installed(name)) }

func (p *contents) add(name string, mode os.FileMode, kind string, content []byte) {
	p.all = append(p.all, &nfiles.Content{
		Source:      p.staged(name, content),
		Destination: name,
		Type:        kind,
		FileInfo:    &nfiles.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: p.at},
	})
}
