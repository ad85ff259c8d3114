package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reeve/server/web"
	"reeve/store"
)

func TestBackup_WholeDatabase(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/system/setting-group", `{"key":"kept","title":"Kept"}`)
	a := in.ok("GET", "/system/backup", "", "owner")
	if name := a.Header.Get("Content-Disposition"); !strings.HasPrefix(name, `attachment; filename="reeve-`) || !strings.HasSuffix(name, `.tar"`) {
		t.Errorf("Content-Disposition %s", name)
	}
	if want := strconv.Itoa(len(a.Body)); a.Header.Get("Content-Length") != want || a.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("Content-Length %s of %s bytes, %s", a.Header.Get("Content-Length"), want, a.Header.Get("Content-Type"))
	}
	if left, err := filepath.Glob(filepath.Join(in.dir, "backup-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	in.create("/system/setting-group", `{"key":"later","title":"Later"}`)
	file, dir := filepath.Join(t.TempDir(), "backup.tar"), t.TempDir()
	must(t, os.WriteFile(file, []byte(a.Body), 0o600))
	if _, err := store.Restore(dir, file, nil, store.Options{Version: "test", Keys: Keys()}); err != nil {
		t.Fatal(err)
	}
	other := open(t, dir)
	other.tokens["owner"] = in.tokens["owner"]
	other.call("GET", "/admin/info", "", "owner").brief(401)
	other.enter("owner", "admin", ownerPassword)
	body := other.ok("GET", "/system/setting-group", "", "owner").Body
	if !strings.Contains(body, `"key":"kept"`) || strings.Contains(body, `"key":"later"`) {
		t.Errorf("the restored groups: %s", body)
	}
}

func TestBackup_Limit(t *testing.T) {
	t.Parallel()
	in := start(t)
	must(t, in.server.Limits.Backups.Acquire(web.MaxBackups))
	a := in.call("GET", "/system/backup", "", "owner")
	a.brief(503, `"errorCode":"busy"`, `"showType":5`)
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	in.server.Limits.Backups.Release(web.MaxBackups)
	for range 2 {
		in.ok("GET", "/system/backup", "", "owner")
	}
}

func TestHealth_StatusOnly(t *testing.T) {
	t.Parallel()
	start(t).ok("GET", "/health", "", "nobody").is(`{"data":{"status":"ok"},"success":true,"msg":"ok","showType":0}`)
}

// TestShutdown_ReturnsBusy closes the database while the handler is still in
// use, as a shutdown does.
func TestShutdown_ReturnsBusy(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.ok("GET", "/admin/info", "", "owner")
	in.close()
	in.call("PUT", "/admin/info", `{"nickname":"late"}`, "owner").brief(503, `"errorCode":"busy"`, "shutting down")
}
