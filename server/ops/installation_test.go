package ops_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/server/web"
)

// TestFilePermissions_ReadableReported checks that files that others can read are reported at the
// start and in /system/health, until they are private.
func TestFilePermissions_ReadableReported(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permissions")
	}

	private := filepath.Join(servertest.OpenDir(t), "config.toml")
	servertest.Must(t, os.WriteFile(private, nil, 0o600))
	hidden := filepath.Join(t.TempDir(), "closed", "server.key")
	servertest.Must(t, os.Mkdir(filepath.Dir(hidden), 0o700))
	servertest.Must(t, os.WriteFile(hidden, nil, 0o600))
	servertest.Must(t, os.Chmod(hidden, 0o644))
	config := web.Config{
		Version:      "test",
		PrivateFiles: []string{private, private, filepath.Join(t.TempDir(), "missing"), hidden},
	}
	in := servertest.Start(t, func(s *servertest.Setup) { s.Config = config })
	check := func(exposed ...string) {
		t.Helper()
		_, parts := in.HealthParts()
		p, warnings := parts["permissions"], ops.InstallationWarnings(&config, in.Dir)
		if (p.State == web.Degraded) != (len(exposed) > 0) ||
			p.Figures["exposed"] != int64(len(exposed)) || p.Figures["root"] != 0 ||
			len(warnings) != min(1, len(exposed)) {
			t.Errorf("%q: %+v, %q", exposed, p, warnings)
		}
		for _, path := range exposed {
			if !strings.Contains(p.Text, path) || !strings.Contains(warnings[0], path) {
				t.Errorf("%s: %+v, %q", path, p, warnings)
			}
		}
	}
	check()
	for path, fine := range map[string]os.FileMode{
		in.Dir:  0o700,
		private: 0o600,
	} {
		for _, mode := range []os.FileMode{0o040, 0o004, 0o002, 0o010} {
			servertest.Must(t, os.Chmod(path, fine|mode))
			check(path)
		}
		servertest.Must(t, os.Chmod(path, fine))
	}

	check()
	data := filepath.Join(in.Dir, "data.db")
	config.PrivateFiles = append(config.PrivateFiles, data)
	servertest.Must(t, os.Chmod(data, 0o644))
	check() // no other user can enter the directory
	servertest.Must(t, os.Chmod(in.Dir, 0o711))
	check(in.Dir, data)
}

// TestFilePermissions_OwnFilesPrivate checks the files that the server has written itself.
func TestFilePermissions_OwnFilesPrivate(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Keep("owner", "a.txt", "a")
	in.Flush()
	if _, parts := in.HealthParts(); parts["permissions"].State != web.Healthy {
		t.Errorf("%+v", parts["permissions"])
	}
}

func TestInstallation_RootReported(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(s *servertest.Setup) { s.Config.Root = true })
	if _, parts := in.HealthParts(); parts["permissions"].State != web.Healthy ||
		parts["permissions"].Figures["root"] != 1 ||
		!strings.Contains(parts["permissions"].Text, "running as root") {
		t.Errorf("%+v", parts["permissions"])
	}
	if warnings := ops.InstallationWarnings((&web.Config{Root: true}), in.Dir); len(warnings) != 1 ||
		!strings.Contains(warnings[0], "running as root") {
		t.Errorf("%q", warnings)
	}
}

func TestInstallation_ContainerDetected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text, env string
		want            bool
	}{
		"a machine":         {"proc/1/cgroup", "0::/init.scope\n", "", false},
		"nothing":           {"proc/other", "", "", false},
		"docker":            {".dockerenv", "", "", true},
		"podman":            {"run/.containerenv", "", "", true},
		"kubernetes":        {"proc/1/cgroup", "0::/\n", "KUBERNETES_SERVICE_HOST", true},
		"groups of process": {"proc/1/cgroup", "1:cpu:/docker/0123\n", "", true},
	} {
		root := t.TempDir()
		path := filepath.Join(root, c.file)
		servertest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		servertest.Must(t, os.WriteFile(path, []byte(c.text), 0o600))
		env := func(name string) string { return map[string]string{c.env: "10.0.0.1"}[name] }
		if got := ops.DetectContainer(root, env); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
