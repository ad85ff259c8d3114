package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDowngrade_AsManualSays updates the data of each of the last two minor versions to this one and goes back, with
// the programs of both: the older one refuses the migrated data and names the copy of it, and after "Go back" of
// the manual has its data again, without what was changed since. Packages and the service are simulated.
func TestDowngrade_AsManualSays(t *testing.T) {
	t.Parallel()
	block := manualBlock(t, "installation.md", "TestDowngrade_AsManualSays", "--allow-downgrades")
	machine := t.TempDir() // its programs
	for name, text := range map[string]string{
		"systemctl": `echo "systemctl $*"`,
		"apt":       `echo "apt $*"`,
		"sudo":      `if [ "$1" = -u ]; then shift 2; fi; exec "$@"`,
		"reeve":     `exec "$OLDER" "$@"`,
	} {
		noErr(t, os.WriteFile(filepath.Join(machine, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	for _, v := range olderVersions(t) {
		t.Run(v.version, func(t *testing.T) {
			older, data := v.program(t), t.TempDir()
			serve := func(path string) *process {
				cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--data", data)
				cmd.Path = path
				return begin(t, cmd)
			}
			has := func(p *process, role string, want bool) {
				t.Helper()
				roles := string(signedIn(t, p).want(200, "GET", "/admin/role", "").Data)
				if has := strings.Contains(roles, role); has != want {
					t.Errorf("%s: %v", role, has)
				}
			}

			p := serve(older)
			p.ready()
			c := signedIn(t, p)
			c.create("/admin/role", "name", "Before the update")
			content := strings.Repeat("some bytes ", 20_000)
			file := c.upload("film", content)
			p.stop()

			p = serve(binary)
			p.ready()
			has(p, "Before the update", true)
			signedIn(t, p).create("/admin/role", "name", "After the update")
			p.stop()

			refused := program(t, "serve", "--listen", "127.0.0.1:0", "--data", data)
			refused.Path = older
			r := finish(t, refused)
			copies, err := filepath.Glob(filepath.Join(data, "data.db.schema-*"))
			if err != nil || len(copies) != 1 {
				t.Fatalf("the migration has kept %q, %v", copies, err)
			}
			named := regexp.MustCompile("`reeve restore [^`]*data\\.db\\.schema-\\d+").FindString(r.err)
			if r.code != 1 || !strings.HasSuffix(named, filepath.Base(copies[0])) {
				t.Fatalf("the older program: %+v", r)
			}

			log := runBlock(t, t.TempDir(), "PATH="+machine+":$PATH OLDER="+older+"\nexport OLDER\n"+block,
				"data.db.schema-N", filepath.Base(copies[0]), "/var/lib/reeve", data, "OLDVERSION", v.version)
			want := "systemctl stop reeve\napt install --allow-downgrades ./reeve_" + v.version + "_amd64.deb\n"
			if !strings.HasPrefix(log, want) || !strings.HasSuffix(log, "\nsystemctl start reeve\n") {
				t.Fatal(log)
			}
			p = serve(older)
			p.ready()
			has(p, "Before the update", true)
			has(p, "After the update", false)
			if got := signedIn(t, p).want(200, "GET", file+"/content", "").raw; string(got) != content {
				t.Errorf("the file has %d bytes", len(got))
			}
			p.stop()

			if kept, err := filepath.Glob(filepath.Join(data, "kept-*")); err != nil || len(kept) != 1 {
				t.Errorf("the replaced data is in %q, %v", kept, err)
			}
			p = serve(binary) // and forward again
			p.ready()
			has(p, "Before the update", true)
			p.stop()
		})
	}
}
