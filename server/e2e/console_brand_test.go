package e2e

import (
	"fmt"
	"testing"
)

// colored waits until an element has a color for a property.
func (p *page) colored(selector, property, want string) {
	p.t.Helper()
	p.until("be "+want, func() error {
		return evaluate(p, fmt.Sprintf(`(() => { const is = getComputedStyle(document.querySelector(%s))[%s]; if (is !== %s) throw new Error('it is ' + is) })()`,
			quote(selector), quote(property), quote(want)), nil)
	})
}

// TestConsoleBrand gives the console another accent color and the sign-in page a text. The pages
// have them from the start, and pages that are open follow.
func TestConsoleBrand(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	const blue, violet, red = "rgb(9, 88, 217)", "rgb(122, 31, 162)", "rgb(168, 7, 26)"
	other := signedInAt(t, server, c, "/admin/role")
	other.colored("[data-create]", "backgroundColor", blue)

	p := signedInAt(t, server, c, "/system/setting/site")
	p.fill("Accent color", "#ffd700")
	p.expect(422, "/system/setting")
	p.click("button", "Save")
	p.see("must have a contrast of at least 5.5:1 to the background #ffffff; it has 1.4:1")
	p.looksGood("brand-fault")
	p.fill("Accent color", "#7a1fa2")
	p.fill("Text on the sign-in page", "Only for staff of <North Quay>.")
	p.press("Enter")
	p.write("Guests: ask at the desk.")
	p.click("button", "Save")
	p.see("Saved")
	other.colored("[data-create]", "backgroundColor", violet)

	// The color at the first paint is the one that stays.
	fresh := signedInAt(t, server, c, "/admin/role", `globalThis.colors = new Set()
		const look = () => {
			for (const e of document.querySelectorAll('[data-create], .console-coming svg')) colors.add(getComputedStyle(e)[e.localName === 'svg' ? 'stroke' : 'backgroundColor'])
			requestAnimationFrame(look)
		}
		look()`)
	fresh.row("Owner")
	fresh.colored("[data-create]", "backgroundColor", violet)
	fresh.settle()
	var colors []string
	if err := evaluate(fresh, "[...colors]", &colors); err != nil || len(colors) != 1 || colors[0] != violet {
		t.Errorf("it had the colors %q: %v", colors, err)
	}
	fresh.looksGood("brand-roles")

	signIn := console(t, server)
	signIn.open("/")
	signIn.see("Only for staff of <North Quay>.\nGuests: ask at the desk.")
	signIn.colored(".sign-in .primary", "backgroundColor", violet)
	signIn.looksGood("brand-sign-in")

	c.want(200, "PUT", "/system/setting", values("site.accent", "#a8071a", "site.sign_in_text", ""))
	other.colored("[data-create]", "backgroundColor", red)
	c.want(200, "PUT", "/system/setting", values("site.accent", "", "site.accent_dark", "#c792ea"))
	other.dark(true)
	other.colored("[data-create]", "backgroundColor", "rgb(199, 146, 234)")
	other.colored("td a", "color", "rgb(199, 146, 234)")
	other.dark(false)
	other.colored("[data-create]", "backgroundColor", blue)

	zh := signedInAt(t, server, c, "/system/setting/site", inChinese)
	zh.see("主题色")
	zh.fill("主题色", "#eee")
	zh.expect(422, "/system/setting")
	zh.click("button", "保存")
	zh.see("对比度至少为 5.5:1")
	zh.looksGood("zh-brand")
}
