package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstalled_WithoutData runs a command on a machine with an installed service, from working
// directories with and without data.
func TestInstalled_WithoutData(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"service", "other"} {
		makeDatabase(t, filepath.Join(root, name))
	}
	file := filepath.Join(root, "reeve.toml")
	service := Release{Version: "1.2.3", Config: file, Data: filepath.Join(root, "service")}
	used := "reeve: the working directory has no data: " + file + " and "

	for name, c := range map[string]struct {
		config string // text of the service's configuration; "" for no file
		files  map[string]string
		args   string
		want   string // the data that is used, or the error
		note   bool
	}{
		"the package's data":       {config: "[server]\n", args: "status", want: "service"},
		"data of its own":          {config: "data.dir = \"" + root + "/other\"\n", args: "status", want: "other"},
		"an error tells":           {config: "[server]\n", args: "user disable nobody", want: "there is no user nobody", note: true},
		"no service":               {args: "status", want: "there is no database in ./data"},
		"a flag":                   {config: "[server]\n", args: "status --data " + root + "/other", want: "other"},
		"data in the directory":    {config: "[server]\n", files: map[string]string{"data/x": ""}, args: "status", want: "there is no database in ./data"},
		"config.toml there":        {config: "[server]\n", files: map[string]string{"config.toml": "[data]\ndir = \"elsewhere\"\n"}, args: "status", want: "there is no database in elsewhere"},
		"a fault in its file":      {config: "colour = 1\n", args: "status", want: "unknown key colour"},
		"plain commands need none": {config: "colour = 1\n", args: "version", want: "reeve 1.2.3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			os.Remove(file) // perhaps there is none
			if c.config != "" {
				writeText(t, file, c.config)
			}
			for path, text := range c.files {
				writeText(t, path, text)
			}
			var out, log bytes.Buffer
			err := Run(service, strings.Fields(c.args), &out, &log)
			text := out.String()
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, c.want) || strings.Contains(log.String(), used) != c.note {
				t.Errorf("%q, want %s; %q", text, c.want, &log)
			}
		})
	}
}

// TestCluster_AsOwnerOfData refuses root where it would leave files that the service cannot read.
func TestCluster_AsOwnerOfData(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give data to another user")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 64999, 64999); err != nil {
		t.Skip(err) // as on Windows
	}
	for _, words := range []string{"init", "upgrade", "restore --from-node"} {
		var out bytes.Buffer
		err := Run(Release{Version: "1.2.3"}, strings.Fields("cluster "+words+" --data "+dir), &out, &out)
		if err == nil || !strings.Contains(err.Error(), "sudo -u #64999") {
			t.Errorf("cluster %s: %v", words, err)
		}
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// makeDatabase makes the database of a new installation.
func makeDatabase(t *testing.T, dir string) {
	t.Helper()
	p := &program{Release: Release{Version: "1.2.3"}, err: &bytes.Buffer{}, firstName: firstUser}
	if err := p.configure(map[string]string{"data.dir": dir}); err != nil {
		t.Fatal(err)
	}
	db, _, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
