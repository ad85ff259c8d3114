package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	reeve "reeve/embed/sdk/go"
	"reeve/embed/sdk/go/reevetest"
	"reeve/store/disk"
)

// shopSetup is the setup of a program.
const shopSetup = `permissions."shop.order.refund" = "Refund"
app_permissions."app.orders.read" = "Read orders"
roles.Support.permissions = ["shop.order.refund"]
setting_groups.payment = "Payment"
keys.shop.roles = ["Program"]
roles.Program.permissions = ["auth.check"]

[settings]
"payment.vat_rate" = { title = "VAT */ rate", type = "number", value = 19 }
"payment.live" = { title = "Live", type = "switch", value = true }
"payment.mode" = { title = "Mode", type = "select", options = [{ label = "Test", value = "test" }, { label = "Live", value = "live" }] }
"payment.tags" = { title = "Tags", type = "checkbox", options = [{ label = "A", value = "a" }, { label = "B", value = "b" }] }
"payment.any" = { title = "Any", type = "json" }

[flags]
"payment.checkout" = true

[webhooks.orders]
url = "http://127.0.0.1:1/hook"
types = ["user.*"]
`

// setupDir returns a directory with shop.toml, and bad.toml, which is not TOML.
func setupDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"shop.toml": shopSetup, "bad.toml": "roles = [\n"} {
		noErr(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// TestDev_EndsWithItsStarter starts a throw-away server, uses it and commands beside it, and ends it
// in each of the ways in which a program ends.
func TestDev_EndsWithItsStarter(t *testing.T) {
	t.Parallel()
	setup, temp := setupDir(t), t.TempDir()
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"standard input": func(_ *exec.Cmd, stdin io.Closer) error { return stdin.Close() },
		"SIGTERM":        func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":         func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGHUP) },
	} {
		// A configuration must have no effect.
		cmd := program(t, "dev", "--json", "--stdin", filepath.Join(setup, "shop.toml"), "REEVE_SERVER__LISTEN=broken")
		parent := temp
		if free, err := disk.FreeSpace("/dev/shm"); name == "SIGTERM" && runtime.GOOS == "linux" && err == nil && free > 2<<30 {
			parent = "/dev/shm"
			cmd.Env = append(cmd.Env, "TMPDIR=")
		} else {
			cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		}
		stdin, err := cmd.StdinPipe()
		noErr(t, err)
		p := begin(t, cmd)
		eventually(t, "the address", func() bool { return strings.HasSuffix(p.out.String(), "\n") })
		var out struct {
			URL, Data, Token string
			Keys, Webhooks   map[string]string
		}
		noErr(t, json.Unmarshal([]byte(p.out.String()), &out))
		p.url = out.URL
		c := newClient(t, p)
		c.token = out.Keys["shop"]
		c.want(200, "POST", "/auth/check", `{"token":"`+out.Token+`","permissions":["shop.order.refund"]}`)
		if r := run(t, "plan", filepath.Join(setup, "shop.toml"), "--data", out.Data); strings.Contains(r.out, "role") {
			t.Errorf("%+v", r)
		}
		if r := run(t, "reload", "--data", out.Data); r.code != 0 {
			t.Errorf("%+v", r)
		}

		noErr(t, end(cmd, stdin))
		p.wait()
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("%s: exit code %d\n%s", name, code, &p.log)
		}
		if _, err := os.Stat(out.Data); filepath.Dir(out.Data) != parent || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the data was in %s (%v)", name, out.Data, err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%s: it left %v (%v)", name, left, err)
		}
	}
}

// TestDev_Faults checks that a setup with a fault leaves nothing behind.
func TestDev_Faults(t *testing.T) {
	t.Parallel()
	setup, temp := setupDir(t), t.TempDir()
	noErr(t, os.WriteFile(filepath.Join(setup, "role.toml"), []byte("roles.A.permissions = [\"no.such\"]\n"), 0o600))
	for words, want := range map[string]string{
		"bad.toml":                "bad.toml: line 1",
		"role.toml":               "roles.A.permissions[0]",
		"missing.toml":            "missing.toml",
		"shop.toml --listen 1:2:": "server.listen",
	} {
		cmd := program(t, append([]string{"dev"}, strings.Fields(words)...)...)
		cmd.Dir, cmd.Env = setup, append(cmd.Env, "TMPDIR="+temp)
		if r := finish(t, cmd); r.code != 1 || !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: %+v", words, r)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%s: it left %v (%v)", words, left, err)
		}
	}
}

// TestDev_Packages uses the packages for tests in both languages.
func TestDev_Packages(t *testing.T) {
	t.Parallel()
	program(t) // skips it where it must not run
	setup := setupDir(t)
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		s := reevetest.Start(t, reevetest.Options{Setup: []string{filepath.Join(setup, "shop.toml")}, Program: binary})
		shop := s.Client(s.Keys["shop"])
		for realm, want := range map[string]bool{reeve.Admin: true, reeve.App: false} {
			u := s.NewUser(realm, map[bool][]string{true: {"Support"}}[want]...)
			got, err := shop.Can(context.Background(), u.Token, "shop.order.refund")
			if err != nil || got != want || u.ID == 0 {
				t.Errorf("%s: %v, %v, %+v", realm, got, err, u)
			}
		}
		if s.Webhooks["orders"] == "" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("typescript", func(t *testing.T) {
		t.Parallel()
		cmd := nodeScript(t, "throwaway.mjs", "REEVE="+binary)
		noErr(t, os.CopyFS(cmd.Dir, os.DirFS(setup)))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// TestTypes_TyposFail compiles programs with the types of an installation: one without a typo, and
// ones with each kind.
func TestTypes_TyposFail(t *testing.T) {
	t.Parallel()
	dir, setup := t.TempDir(), setupDir(t)
	start(t, dir).stop()
	shop := strings.Replace(shopSetup, `keys.shop.roles = ["Program"]`, "", 1) // whose secret would be written
	shop, _, _ = strings.Cut(shop, "[webhooks.orders]")
	noErr(t, os.WriteFile(filepath.Join(setup, "shop.toml"), []byte(shop), 0o600))
	if r := run(t, "apply", filepath.Join(setup, "shop.toml"), "--data", dir); r.code != 0 {
		t.Fatalf("%+v", r)
	}

	t.Run("typescript", func(t *testing.T) {
		t.Parallel()
		cmd := nodeScript(t, "installed.ts")
		if r := run(t, "types", "typescript", filepath.Join(cmd.Dir, "reeve.d.ts"), "--data", dir); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		compileTypeScript(t, cmd.Dir, "installed.ts", "reeve.d.ts")
	})
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		module := t.TempDir()
		command(t, module, nil, binary, "sdk", "go", "client")
		noErr(t, os.Mkdir(filepath.Join(module, "installation"), 0o700))
		if r := run(t, "types", "go", filepath.Join(module, "installation", "reeve.go"), "--data", dir); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		noErr(t, os.WriteFile(filepath.Join(module, "go.mod"), []byte("module shop\n\ngo 1.24\n\n"+
			"require reeve.internal/reeve v0.0.0\n\nreplace reeve.internal/reeve => ./client\n"), 0o600))
		for use, ok := range map[string]bool{
			"installation.PermissionShopOrderRefund": true,
			"installation.AppPermissionOrdersRead":   true,
			"installation.FlagPaymentCheckout":       true,
			"installation.PermissionShopOrderRefnd":  false,
			"value(installation.PaymentVatRate)":     true,
			"value(installation.PaymentVatRat)":      false,
			"value(installation.PaymentMode)":        false, // a text is no number
		} {
			text := "package main\n\nimport (\n\t\"reeve.internal/reeve\"\n\t\"shop/installation\"\n)\n\n" +
				"func value(s reeve.Setting[float64]) (v float64) { v, _ = s.In(nil); return v }\n\n" +
				"var _ = value\n\nfunc main() { println(" + use + ") }\n"
			noErr(t, os.WriteFile(filepath.Join(module, "main.go"), []byte(text), 0o600))
			cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
			cmd.Dir, cmd.Env = module, append(os.Environ(), "GOFLAGS=-mod=mod")
			if out, err := cmd.CombinedOutput(); (err == nil) != ok {
				t.Errorf("%s: %v\n%s", use, err, out)
			}
		}
	})
}
