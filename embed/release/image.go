package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the user of the image, who is not root and has no name elsewhere.
const imageUser = 65532

// image writes an image as an OCI layout in a tar file, with one manifest for each architecture.
// It has the program, certificates of authorities for mails and webhooks, and an empty /data; no
// shell, and nothing that has to be updated.
func (r *release) image(e edition) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var loaded []dockerImage
	for _, t := range r.of(e) {
		if !t.image {
			continue
		}
		image, err := r.imageFor(t)
		if err != nil {
			return err
		}
		entry, err := r.dockerImage(t, image)
		if err != nil {
			return err
		}
		loaded = append(loaded, entry)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.os, Architecture: t.arch}},
		})
	}

	if loaded == nil {
		return nil
	}

	outer := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"org.opencontainers.image.ref.name": r.version,
			"io.containerd.image.name":          "docker.io/library/" + e.name + ":" + r.version,
		}}})

	dir := filepath.Join(r.work, e.name, "image")
	if _, err := layout.Write(dir, outer); err != nil {
		return err
	}

	list, err := json.Marshal(loaded)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), list, 0o644); err != nil {
		return err
	}
	packed, err := r.tarOf(dir)
	if err != nil {
		return err
	}

	return r.write(r.name(e, "oci.tar"), packed)
}

// dockerImage is an image in manifest.json, which `docker load` reads where images are not in the store
// of containerd. Its files are those of the OCI layout.
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// dockerImage returns the entry of an image. There a tag is of one architecture: that of amd64 has the
// version alone.
func (r *release) dockerImage(t target, image v1.Image) (d dockerImage, err error) {
	manifest, err := image.Manifest()
	if err != nil {
		return d, err
	}
	blob := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	tag := t.edition.name + ":" + r.version
	if t.arch != "amd64" {
		tag += "-" + t.arch
	}
	d = dockerImage{Config: blob(manifest.Config.Digest), RepoTags: []string{tag}}
	for _, layer := range manifest.Layers {
		d.Layers = append(d.Layers, blob(layer.Digest))
	}
	return d, nil
}

func (r *release) imageFor(t target) (v1.Image, error) {
	program, err := os.ReadFile(r.built(t))
	if err != nil {
		return nil, err
	}

	content, err := r.layer(program)
	if err != nil {
		return nil, err
	}

	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}

	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{
		Layer:   layer,
		History: v1.History{CreatedBy: "reeve release", Created: v1.Time{Time: r.at}},
	}); err != nil {
		return nil, err
	}

	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}

	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: r.at}
	config.Config = v1.Config{
		User:         "65532:65532",
		Entrypoint:   []string{"/reeve"},
		Cmd:          []string{"serve"},
		Env:          []string{"PATH=/", "REEVE_DATA__DIR=/data", "REEVE_SERVER__LISTEN=:8080"},
		WorkingDir:   "/data",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		StopSignal:   "SIGTERM",
		Healthcheck: &v1.HealthConfig{
			Test:        []string{"CMD", "/reeve", "health"},
			Interval:    30 * time.Second,
			Timeout:     10 * time.Second,
			StartPeriod: 2 * time.Minute,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "Reeve",
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}

	return mutate.ConfigFile(image, config)
}

// layer returns the only layer of an image, as a tar file.
func (r *release) layer(program []byte) ([]byte, error) {
	roots, err := authorities()
	if err != nil {
		return nil, err
	}

	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []struct {
		name    string
		mode    int64
		user    int
		content []byte
	}{
		{"data/", 0o700, imageUser, nil},
		{"etc/", 0o755, 0, nil},
		{"etc/group", 0o644, 0, []byte("root:x:0:\nreeve:x:65532:\n")},
		{"etc/passwd", 0o644, 0, []byte("root:x:0:0:root:/:/sbin/nologin\nreeve:x:65532:65532:Reeve:/data:/sbin/nologin\n")},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, roots},
		{"LICENSE", 0o644, 0, r.extra.license},
		{"NOTICE", 0o644, 0, r.extra.notice},
		{"reeve", 0o755, 0, program},
		{"tmp/", 0o1777, 0, nil},
	} {
		head := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     f.name,
			Size:     int64(len(f.content)),
			Mode:     f.mode,
			Uid:      f.user,
			Gid:      f.user,
			ModTime:  r.at,
			Format:   tar.FormatUSTAR,
		}
		if strings.HasSuffix(f.name, "/") {
			head.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}

	err = w.Close()
	return b.Bytes(), err
}

// authorities returns the certificates of Mozilla's list as PEM.
func authorities() ([]byte, error) {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if _, err := x509.ParseCertificate(root.Certificate); err != nil {
			return nil, err
		}
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// tarOf packs a directory, sorted by name.
func (r *release) tarOf(dir string) ([]byte, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	slices.Sort(names)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, path := range names {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}

		name, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}

		head := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name),
			Size: int64(len(content)), Mode: 0o644, ModTime: r.at, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}

	err = w.Close()
	return b.Bytes(), err
}
