package ops_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

func TestBackup_WholeDatabase(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"kept","title":"Kept"}`)
	a := in.OK("GET", "/system/backup", "", "owner")
	if name := a.Header.Get("Content-Disposition"); !strings.HasPrefix(name,
		`attachment; filename="reeve-`) || !strings.HasSuffix(name, `.tar"`) {
		t.Errorf("Content-Disposition %s", name)
	}
	if want := strconv.Itoa(len(a.Body)); a.Header.Get("Content-Length") != want ||
		a.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("Content-Length %s of %s bytes, %s", a.Header.Get("Content-Length"), want,
			a.Header.Get("Content-Type"))
	}
	if left, err := filepath.Glob(filepath.Join(in.Dir, "backup-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}

	in.Create("/system/setting-group", `{"key":"later","title":"Later"}`)
	file, dir := filepath.Join(t.TempDir(), "backup.tar"), t.TempDir()
	servertest.Must(t, os.WriteFile(file, []byte(a.Body), 0o600))
	if _, err := store.Restore(dir, file, nil, store.Options{Version: "test", Keys: server.Keys()}); err != nil {
		t.Fatal(err)
	}

	other := servertest.Open(t, dir)
	other.Tokens["owner"] = in.Tokens["owner"]
	other.Call("GET", "/admin/info", "", "owner").Brief(401)
	other.Enter("owner", "admin", servertest.OwnerPassword)
	body := other.OK("GET", "/system/setting-group", "", "owner").Body
	if !strings.Contains(body, `"key":"kept"`) || strings.Contains(body, `"key":"later"`) {
		t.Errorf("the restored groups: %s", body)
	}
}

func TestBackup_Limit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	servertest.Must(t, in.Server.Limits.Backups.Acquire(web.MaxBackups))
	a := in.Call("GET", "/system/backup", "", "owner")
	a.Brief(503, `"errorCode":"busy"`, `"showType":5`)
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	in.Server.Limits.Backups.Release(web.MaxBackups)
	for range 2 {
		in.OK("GET", "/system/backup", "", "owner")
	}
}

func TestHealth_StatusOnly(t *testing.T) {
	t.Parallel()
	servertest.Start(t).OK("GET", "/health", "", "nobody").Is(`{"data":{"status":"ok"},"success":true,"msg":"ok","showType":0}`)
}

// TestShutdown_ReturnsBusy closes the database while the handler is still in
// use, as a shutdown does.
func TestShutdown_ReturnsBusy(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("GET", "/admin/info", "", "owner")
	in.Close()
	in.Call("PUT", "/admin/info", `{"nickname":"late"}`, "owner").Brief(503, `"errorCode":"busy"`,
		"shutting down")
}
