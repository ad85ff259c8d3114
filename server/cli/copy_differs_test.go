package cli

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// lying writes an archive whose manifest is changed, with the right checksum, and returns its path.
func lying(t *testing.T, archive string, change func(manifest map[string]any)) string {
	t.Helper()
	content, err := os.ReadFile(archive)
	servertest.Must(t, err)
	in, out := tar.NewReader(bytes.NewReader(content)), &bytes.Buffer{}
	w := tar.NewWriter(out)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		servertest.Must(t, err)
		text, err := io.ReadAll(in)
		servertest.Must(t, err)
		if h.Name == "manifest.json" {
			var m map[string]any
			servertest.Must(t, json.Unmarshal(text, &m))
			change(m)
			text, err = json.Marshal(m)
			servertest.Must(t, err)
			h.Size, h.PAXRecords["comment"] = int64(len(text)), fmt.Sprintf("sha256 %x", sha256.Sum256(text))
		}
		servertest.Must(t, w.WriteHeader(h))
		_, err = w.Write(text)
		servertest.Must(t, err)
	}
	servertest.Must(t, w.Close())
	path := filepath.Join(t.TempDir(), "lying.tar")
	servertest.Must(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

// TestExamine_ComparesWithManifest examines and checks copies that differ from what was stored: they have fewer
// records, or another change log, than their manifests say. A restore, which may be all that is left, takes them.
func TestExamine_ComparesWithManifest(t *testing.T) {
	in := servertest.Start(t)
	in.Create("/system/dict", `{"code":"c","name":"N"}`)
	p := &program{Release: Release{Version: "1.2.3"}, err: &bytes.Buffer{}, firstName: firstUser, serves: true}
	servertest.Must(t, p.configure(map[string]string{"data.dir": in.Dir}))
	archive := archiveOf(t, in, true)
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"the same":       {func(map[string]any) {}, ""},
		"more records":   {func(m map[string]any) { m["records"] = m["records"].(float64) + 1 }, "as its manifest says"},
		"a newer entry":  {func(m map[string]any) { m["log_head"].(map[string]any)["seq"] = 9999 }, "not with entry 9999"},
		"unknown counts": {func(m map[string]any) { delete(m, "records"); delete(m, "log_head") }, ""},
	} {
		path := lying(t, archive, c.change)
		_, _, examined := p.examine(t.Context(), path, filepath.Join(t.TempDir(), "data"), nil, false)
		_, _, checked := runIn(t, "backup", "check", path)
		_, _, restored := runIn(t, "restore", path, "--data", filepath.Join(t.TempDir(), "data"))
		for by, err := range map[string]error{"examine": examined, "check": checked} {
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v", name, by, err)
			}
		}
		if restored != nil {
			t.Errorf("%s, restore: %v", name, restored)
		}
	}
}
