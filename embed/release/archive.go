package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"slices"
)

// file is a file in an archive.
type file struct {
	name    string // path with slashes
	mode    int64
	content []byte
}

// archives packs the program for each target with its licenses, manual pages and completion scripts.
func (r *release) archives() error {
	for _, t := range r.targets {
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
		for _, name := range slices.Sorted(maps.Keys(r.extra.man)) {
			files = append(files, file{dir + "man/" + name, 0o644, r.extra.man[name]})
		}

		for _, name := range slices.Sorted(maps.Keys(r.extra.manual)) {
			files = append(files, file{dir + "manual/" + name, 0o644, r.extra.manual[name]})
		}

		pack, ending := r.tarGzip, ".tar.gz"
		if t.os == "windows" {
			pack, ending = r.zip, ".zip"
		}

		packed, err := pack(files)
		if err != nil {
			return fmt.Errorf("pack for %s: %w", t, err)
		}
		if err := r.write(r.name(t.edition, t.os+"_"+t.arch+ending), packed); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) tarGzip(files []file) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}

	w := tar.NewWriter(z)
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
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}

	if err := w.Close(); err != nil {
		return nil, err
	}

	err = z.Close()
	return b.Bytes(), err
}

func (r *release) zip(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		head := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.at}
		head.SetMode(os.FileMode(f.mode))
		into, err := w.CreateHeader(head)
		if err != nil {
			return nil, err
		}
		if _, err := into.Write(f.content); err != nil {
			return nil, err
		}
	}

	err := w.Close()
	return b.Bytes(), err
}
