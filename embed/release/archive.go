package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip" // smaller than that of the standard library
	"github.com/ulikunitz/xz"
)

// file is a file in an archive.
type file struct {
	name    string // path with slashes
	mode    int64
	content []byte
}

// archive packs the program for a target with its licenses, manual pages and completion scripts.
func (r *release) archive(t target) error {
	program, err := os.ReadFile(r.built(t))
	if err != nil {
		return err
	}

	dir := t.edition.name + "-" + r.version + "/"
	files := []file{
		{dir + t.program(), 0o755, program},
		{dir + "LICENSE", 0o644, r.extra.license},
		{dir + "NOTICE", 0o644, r.extra.notice},
		{dir + "README.md", 0o644, r.extra.readme},
		{dir + "completions/_reeve", 0o644, r.extra.zsh},
		{dir + "completions/reeve.bash", 0o644, r.extra.bash},
		{dir + "completions/reeve.fish", 0o644, r.extra.fish},
		{dir + "config.example.toml", 0o644, r.extra.config},
	}
	if t.os == "linux" {
		files = append(files, file{dir + "compose.yaml", 0o644, r.extra.compose}, file{dir + "reeve.service", 0o644, r.extra.unit})
	}
	for _, name := range slices.Sorted(maps.Keys(r.extra.man)) {
		files = append(files, file{dir + "man/" + name, 0o644, r.extra.man[name]})
	}

	for _, name := range slices.Sorted(maps.Keys(r.extra.manual)) {
		files = append(files, file{dir + name, 0o644, r.extra.manual[name]})
	}

	var b bytes.Buffer
	ending := ".tar.gz"
	switch {
	case t.os == "windows":
		ending, err = ".zip", r.zip(&b, files)
	case t.edition == severalNodes: // a quarter smaller than with gzip
		ending, err = ".tar.xz", r.tarXZ(&b, files)
	default:
		err = r.tarGzip(&b, files)
	}
	if err != nil {
		return fmt.Errorf("pack for %s: %w", t, err)
	}
	return r.write(r.name(t.edition, t.os+"_"+t.arch+ending), b.Bytes())
}

func (r *release) tarGzip(to io.Writer, files []file) error {
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err == nil {
		err = errors.Join(r.tar(z, files), z.Close())
	}
	return err
}

func (r *release) tarXZ(to io.Writer, files []file) error {
	z, err := xz.NewWriter(to)
	if err == nil {
		err = errors.Join(r.tar(z, files), z.Close())
	}
	return err
}

func (r *release) tar(to io.Writer, files []file) error {
	w := tar.NewWriter(to)
	for _, f := range files {
		head := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     f.name,
			Size:     int64(len(f.content)),
			Mode:     f.mode,
			ModTime:  r.at,
			Format:   tar.FormatUSTAR,
		}
		if err := w.WriteHeader(head); err != nil {
			return err
		}
		if _, err := w.Write(f.content); err != nil {
			return err
		}
	}
	return w.Close()
}

func (r *release) zip(to io.Writer, files []file) error {
	w := zip.NewWriter(to)
	for _, f := range files {
		head := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.at}
		head.SetMode(os.FileMode(f.mode))
		into, err := w.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := into.Write(f.content); err != nil {
			return err
		}
	}
	return w.Close()
}
