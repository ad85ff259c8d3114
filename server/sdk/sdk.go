// Package sdk packs the client libraries, as a package for npm and as a module for the go command,
// so that every installation serves the clients of its own version, even without access to the
// Internet.
//
// New returns the files by the path at which they are served, below /sdk/:
//
//	typescript/reeve-client-0.12.0.tgz     the npm package @reeve/client
//	typescript/dist/index.js               its files, for browsers
//	go/reeve.internal/reeve/@v/…           the module reeve.internal/reeve, by the GOPROXY protocol
//
// The domain .internal is reserved for private use, so no one else can publish a module of this
// name. The same version makes the same bytes on every machine, since package-lock.json and go.sum
// have their hashes: times and modes are fixed, and the compressor is that of go.mod, not that of
// the Go installation.
package sdk

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

const (
	Package = "@reeve/client"        // name of the npm package
	Module  = "reeve.internal/reeve" // path of the Go module

	goVersion   = "1.24" // that the module requires
	licenseName = "LICENSE"

	noVersion = "0.0.0" // of builds without a version of their own, and in package.json
)

// File is a file as it is served.
type File struct {
	Type    string // media type
	Content []byte
	SHA256  string // hash of Content, hexadecimal
	ETag    string
	Fixed   bool // the same path always has this content
}

// Files are the files of all clients.
type Files struct {
	ByPath  map[string]*File
	Version string // like 0.12.0
	NPM     string // path of the npm package
	Latest  string // path of the npm package without a version, which redirects to NPM
}

// release matches a version that npm and the go command accept. From version 2 on, the path of a Go
// module would have to end with it.
var release = regexp.MustCompile(`^[01]\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-z]+(\d*|\.(0|[1-9]\d*)))?$`)

// New packs the clients in a file system: the directories typescript and go, and the file LICENSE.
// A version that is not like 0.12.0 or 0.12.0-rc1 becomes 0.0.0, whose files are not Fixed.
func New(files fs.FS, version string) (*Files, error) {
	if !release.MatchString(version) {
		version = noVersion
	}
	p := &packer{
		files:   files,
		version: version,
		out:     &Files{ByPath: map[string]*File{}, Version: version},
	}
	p.typescript()
	p.golang()
	return p.out, p.err
}

// packer adds files to out until an error.
type packer struct {
	files   fs.FS
	version string
	out     *Files
	err     error
}

func (p *packer) add(name string, content []byte, fixed bool) {
	kind := "text/plain; charset=utf-8"
	switch path.Ext(name) {
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".json", ".info":
		kind = "application/json"
	case ".tgz":
		kind = "application/gzip"
	case ".zip":
		kind = "application/zip"
	}

	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	p.out.ByPath[name] = &File{kind, content, hash, `"` + hash[:24] + `"`,
		fixed && p.version != noVersion}
}

// entry is a file of an archive.
type entry struct {
	name    string
	content []byte
}

// read returns the files below a directory that a function selects, sorted by name. Those that are
// compressed in the program, as NAME.gz, are returned as they were.
func (p *packer) read(dir string, selects func(name string) bool) (entries []entry) {
	err := fs.WalkDir(p.files, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !selects(name) {
			return err
		}
		content, err := fs.ReadFile(p.files, name)
		if err == nil && path.Ext(name) == ".gz" {
			name = strings.TrimSuffix(name, ".gz")
			content, err = unpack(content)
		}
		entries = append(entries, entry{strings.TrimPrefix(name, dir+"/"), content})
		return err
	})
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("read the client in %s: %w", dir, err)
	}
	return entries
}

func unpack(content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func (p *packer) license() entry {
	text, err := fs.ReadFile(p.files, licenseName)
	if err != nil && p.err == nil {
		p.err = err
	}
	return entry{licenseName, text}
}

// npmFiles returns the files of the npm package.
func (p *packer) npmFiles() []entry {
	entries := p.read("typescript", func(string) bool { return true })
	for i, e := range entries {
		if e.name == "package.json" {
			entries[i].content = bytes.Replace(e.content, []byte(`"version": "`+noVersion+`"`),
				[]byte(`"version": "`+p.version+`"`), 1)
		}
	}

	return append(entries, p.license())
}

// goMod returns the go.mod of the Go module.
func goMod() []byte { return []byte("module " + Module + "\n\ngo " + goVersion + "\n") }

// goFiles returns the files of the Go module.
func (p *packer) goFiles() []entry {
	entries := p.read("go", func(name string) bool {
		return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
	})
	for i := range entries { // in this module, the client has another path
		entries[i].content = bytes.ReplaceAll(entries[i].content, []byte(`"reeve/embed/sdk/go"`),
			[]byte(`"`+Module+`"`))
	}
	return append(entries, entry{"go.mod", goMod()}, p.license())
}

func (p *packer) typescript() {
	entries := p.npmFiles()
	for _, e := range entries {
		if e.name != licenseName {
			p.add("typescript/"+e.name, e.content, false)
		}
	}

	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, e := range entries { // a buffer takes everything, so no call fails
		archive.WriteHeader(&tar.Header{
			Name:     "package/" + e.name,
			Mode:     0o644,
			Size:     int64(len(e.content)),
			Typeflag: tar.TypeReg,
		})
		archive.Write(e.content)
	}

	archive.Close()
	zipped.Close()
	p.out.NPM, p.out.Latest = "typescript/reeve-client-"+p.version+".tgz", "typescript/reeve-client.tgz"
	p.add(p.out.NPM, out.Bytes(), true)
}

// golang adds the files of the GOPROXY protocol, see https://go.dev/ref/mod#goproxy-protocol.
func (p *packer) golang() {
	version := "v" + p.version
	entries := p.goFiles()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, e := range entries { // a buffer takes everything, so no call fails
		w, err := archive.Create(Module + "@" + version + "/" + e.name)
		if err == nil {
			w.Write(e.content)
		}
	}

	archive.Close()
	info, _ := json.Marshal(map[string]string{"Version": version}) // it never fails
	at := "go/" + Module + "/"
	p.add(at+"@latest", info, false)
	p.add(at+"@v/list", []byte(version+"\n"), false)
	p.add(at+"@v/"+version+".info", info, true)
	p.add(at+"@v/"+version+".mod", goMod(), true)
	p.add(at+"@v/"+version+".zip", out.Bytes(), true)
}
