package e2e

import (
	"fmt"
	"os"
	"strings"

	"github.com/chromedp/cdproto/runtime"
)

// axe is the path of the accessibility rules that npm ci installs.
const axe = "../../embed/console/node_modules/axe-core/axe.min.js"

// audit checks that axe finds nothing by its default rules, which include WCAG AA contrast,
// in the current page, and at night by the rules for colors in its other theme (light or
// dark). If a dialog is open, only the dialog is checked.
func (p *page) audit() {
	p.t.Helper()
	p.examine("{}")
	if !nightly() {
		return
	}
	p.dark(!p.looks.dark)
	p.examine("{ runOnly: ['color-contrast', 'link-in-text-block'] }")
	p.dark(!p.looks.dark)
}

// looksGood checks a page at the widths of desktops and phones, light and dark: at night, and for
// screenshots, all of them, else a light desktop and the narrowest phone, dark.
func (p *page) looksGood(name string) {
	p.t.Helper()
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{1280, 390, 320} {
			if !everyLook() && dark != (width == 320) || !everyLook() && width == 390 {
				continue
			}
			p.dark(dark)
			p.width(width)
			p.noSidewaysScroll()
			p.examine("{}")
			p.shoot(fmt.Sprintf("%s-%s-%d", name, theme(dark), width))
		}
	}

	p.dark(false)
	p.width(1280)
	p.settle()
}

// everyLook reports whether pages are checked at every width and in both themes.
func everyLook() bool { return nightly() || os.Getenv("REEVE_TEST_SCREENSHOTS") != "" }

// phones returns the widths of phones to check a page at.
func phones() []int64 {
	if everyLook() {
		return []int64{390, 320}
	}
	return []int64{320}
}

func theme(dark bool) string {
	if dark {
		return "dark"
	}
	return "light"
}

// examine checks that axe finds nothing by the rules that its options name.
func (p *page) examine(options string) {
	p.t.Helper()
	p.settle()
	p.examineIn("uppermost() ?? document", options)
}

// examineIn is examine for an element, as it is now.
func (p *page) examineIn(element, options string) {
	p.t.Helper()
	p.needAxe()
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	// A frame shows a file or a mail; a sandboxed one can't be examined.
	if err := evaluate(p,
		fmt.Sprintf("axe.run(%s, { resultTypes: ['violations'], iframes: false, ...%s }).then((r) => r.violations)", element, options), &found); err != nil {
		p.fatalf("run axe: %v", err)
	}

	for _, v := range found {
		var nodes strings.Builder
		for _, n := range v.Nodes {
			fmt.Fprintf(&nodes, "\n  %s\n    %s", n.HTML,
				strings.ReplaceAll(n.FailureSummary, "\n", " "))
		}
		p.t.Errorf("axe: %s (%s): %s%s", v.ID, v.Impact, v.Help, &nodes)
	}
}

// needAxe loads axe into a page that does not have it yet. The browser itself runs it, so
// the page's content security policy does not apply.
func (p *page) needAxe() {
	p.t.Helper()
	var has bool
	if err := evaluate(p, "!!window.axe", &has); err != nil || has {
		return // the caller reports errors of the page
	}
	source, err := os.ReadFile(axe)
	if err != nil {
		unless(p.t, fmt.Sprintf("no axe-core (npm ci in embed/console): %v", err))
	}
	r := send(p, runtime.Evaluate, runtime.EvaluateParams{Expression: string(source)})
	if err := decode(r.Result, r.ExceptionDetails, nil, nil); err != nil {
		p.fatalf("load axe: %v", err)
	}
}

// noSidewaysScroll checks that the page is not wider than its window. Elements in it, like
// a table, may be.
func (p *page) noSidewaysScroll() {
	p.t.Helper()
	p.settle()
	var size struct{ Page, Window int }
	if err := evaluate(p, "({ Page: document.scrollingElement.scrollWidth, Window: innerWidth })",
		&size); err != nil {
		p.fatalf("measure the page: %v", err)
	}
	if size.Page > size.Window {
		p.t.Errorf("the page is %d wide in a window of %d", size.Page, size.Window)
	}
}
