package e2e

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// TestConsolePrint checks that a printed list has its rows, but neither the menu nor buttons.
func TestConsolePrint(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.see("Ann Lee")
	send(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	var shown []string
	noErr(t, evaluate(p, `['nav', 'header', 'main .ant-btn', 'main table', 'main tbody tr'].filter((s) =>
		[...document.querySelectorAll(s)].some((e) => e.checkVisibility()))`, &shown))
	if want := []string{"main table", "main tbody tr"}; !slices.Equal(shown, want) {
		t.Errorf("on paper are %q, not %q", shown, want)
	}
	p.shoot("print")
}
