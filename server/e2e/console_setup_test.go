package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// setupText is a setup file with a mistake in its last line.
const setupText = `# what the shop needs
permissions."shop.order.refund" = "Refund an order"

[roles.Support]
permissions = ["shop.order.refund", "system.info"]
sort = 3

[settings]
"shop.vat" = { title = "VAT", type = "number", value = 20 }
"shop.key" = { title = "Key", type = "secret", value = "typed-s3cr3t" }

[keys]
deploy = { roles = ["Support"], secret_file = "deploy.secret" }

[flags]
"shop.new" = tru`

// TestConsoleSetup plans and applies a setup file that has mistakes at first, uses the API key that it
// creates, undoes it, and exports the setup.
func TestConsoleSetup(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	file := filepath.Join(t.TempDir(), "shop.toml")
	noErr(t, os.WriteFile(file, []byte(setupText), 0o600))
	p := signedInAt(t, server, c, "/system/setup")
	p.upload(file)
	p.until("wait for the file", func() error {
		if name := p.value("Name"); name != "shop" {
			return fmt.Errorf("the name is %q", name)
		}
		return nil
	})
	p.expect(422, "/system/setup/plan")
	p.click("button", "Plan")
	p.see("1 problem in the file")
	p.click("button", "Line 16")
	p.looksGood("setup-fault")
	p.press("End")
	p.write("e")
	p.gone("1 problem in the file")

	p.click("button", "Plan")
	p.see("Support")
	p.see("changed (secret)")
	p.looksGood("setup-plan")
	p.click("button", "Apply")
	p.confirm("Apply")
	d := p.dialog()
	d.see("Copy the secrets now.")
	secret := d.value("API key deploy")
	p.looksGood("setup-secrets")
	d.click("button", "I have copied them")
	p.see("View in Activity")
	p.looksGood("setup-applied")
	p.gone(secret)
	withKey(t, server, secret).want(200, "GET", "/system/info", "")

	p.click("button", "Plan")
	p.see("No changes: the installation is as the file says.")
	name, text := p.download(func() { p.click("button", "Export") })
	if name != "setup.toml" || !strings.Contains(string(text), "shop.order.refund") || strings.Contains(string(text), "s3cr3t") {
		t.Errorf("%s: %s", name, text)
	}
	p.fill("Text (TOML)", string(text))
	p.click("button", "Plan")
	p.see("No changes: the installation is as the file says.")

	c.want(200, "PUT", "/system/setting", values("shop.vat", 21))
	p.upload(file)
	p.fill("Text (TOML)", setupText+"e")
	p.click("button", "Plan")
	p.see("20")
	p.see("1 change")
	p.click("button", "Apply")
	p.confirm("Apply")
	p.see("1 change applied.")
	p.click("button", "Undo")
	p.see("Undone.")
	p.click("link", "View in Activity")
	p.see("shop.vat")

	p = signedInAt(t, server, c, "/system/setup", inChinese)
	p.see("实例定义文件")
	p.fill("文本（TOML）", setupText+"e")
	p.click("button", "预览变更")
	p.see("1 项变更")
	p.looksGood("zh-setup-plan")
	p.fill("文本（TOML）", "[roles.A]\ncolour = 1\n")
	p.expect(422, "/system/setup/plan")
	p.click("button", "预览变更")
	p.see("第 2 行")
	p.looksGood("zh-setup-fault")

	clerk := c.holder(server, "clerk", "system", "system.setup", "system.setup.query")
	p = signedInAt(t, server, clerk, "/system/setup")
	p.fill("Text (TOML)", "roles.A = {}")
	p.expect(403, "/system/setup/plan")
	p.click("button", "Plan")
	p.see("the owner role is required")
}
