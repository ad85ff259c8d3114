package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/runtime"
)

// focusSeen records the elements that had the focus, and whether it has returned to the
// first.
const focusSeen = `{
	window.visited = new Set()
	window.round = false
	addEventListener('focusin', (e) => {
		round ||= visited.size > 1 && e.target === [...visited][0]
		visited.add(e.target)
	}, true)
}`

// unreached returns the elements that react to clicks, by themselves or by a React
// listener, and that neither had the focus nor contain an element that had it, of those
// present before the walk. Within a menu, tabs and similar, arrow keys move on from an
// element that had the focus.
const unreached = `(() => {
	const own = 'a[href], button, input, select, textarea, summary, audio, video, [role=button], [role=link], [role=menuitem], [role=tab], [role=switch], [role=checkbox], [role=radio], [role=treeitem], [role=slider]'
	const props = (e) => e[Object.keys(e).find((key) => key.startsWith('__reactProps'))] ?? {}
	const points = (e) => getComputedStyle(e).cursor === 'pointer'
	const reacts = (e) => e.matches(own) || props(e).onClick && points(e) && !points(e.parentElement)
	const usable = (e) => shown(e) && !e.disabled && !e.closest('[aria-disabled=true], [inert], [aria-hidden=true], .ant-table-measure-row')
	const reached = [...visited]
	const composite = '[role=menu], [role=tablist], [role=radiogroup], [role=tree], [role=treegrid], [role=listbox]'
	return [...there]
		.filter((e) => e.isConnected && reacts(e) && usable(e) && !reached.some((v) => e.contains(v) || reacts(v) && v.contains(e)))
		.filter((e) => !e.closest('label') || !reached.some((v) => e.closest('label').contains(v)))
		.filter((e) => ![...document.querySelectorAll(composite)].some((c) => c.contains(e) && reached.some((v) => c.contains(v))))
		.map((e) => e.outerHTML.slice(0, 200))
})()`

// walk presses Tab until the focus returns to the first element.
func (p *page) walk() {
	p.t.Helper()
	if err := evaluate(p, "void (window.there = document.querySelectorAll('body *'))", nil); err != nil {
		p.fatalf("look at the page: %v", err)
	}

	for range 120 {
		for range 10 {
			p.press("Tab")
		}
		var round bool
		if err := evaluate(p, "round", &round); err != nil {
			p.fatalf("walk: %v", err)
		}
		if round {
			return
		}
	}

	p.fatalf("the focus does not come round")
}

// astray is an expression for the focused element if it is outside the dialog.
const astray = `((d, e) => d.contains(e) ? '' : 'at ' + e.outerHTML.slice(0, 200))(dialog().closest('.ant-drawer, .ant-modal-wrap, .ant-popover'), document.activeElement)`

// unentered is an expression for the focused element of a dialog that has a field, if it is not the
// first one.
const unentered = `((d, e) => {
	const first = [...d.querySelectorAll('input, textarea, [role=switch]')].find((f) => shown(f) && f.tabIndex >= 0 && !f.matches(':disabled, [readonly]'))
	return !first || first === e ? '' : 'at ' + e.outerHTML.slice(0, 200) + ' instead of ' + first.outerHTML.slice(0, 200)
})(dialog(), document.activeElement)`

// keepsFocus opens a dialog by a button and Enter: the focus moves into its first field, stays in
// it, and returns to the button when Escape closes it. Then it opens it again, for its lists.
func (p *page) keepsFocus(opener string) {
	p.t.Helper()
	var button runtime.RemoteObjectID
	p.until("find "+opener, func() (err error) {
		button, err = locate(p, opener, "button")
		return err
	})
	if err := on(p, button, "function () { this.focus() }", nil); err != nil {
		p.fatalf("focus %s: %v", opener, err)
	}

	p.press("Enter")
	check := func(misplaced string) func() error {
		return func() error {
			var where string
			err := evaluate(p, misplaced, &where)
			if err == nil && where != "" {
				err = fmt.Errorf("the focus is %s", where)
			}
			return err
		}
	}
	inside := check(astray)
	p.until("have the focus in what "+opener+" opens", inside)
	p.settle()
	p.until("have the focus in the first field of what "+opener+" opens", check(unentered))
	var stops int
	if err := evaluate(p,
		"dialog().querySelectorAll('a[href], button, input, textarea, [tabindex]').length", &stops); err != nil {
		p.fatalf("count: %v", err)
	}

	for _, key := range []string{"Tab", "Shift+Tab"} {
		for range stops + 2 {
			p.press(key)
			if err := inside(); err != nil {
				p.t.Errorf("%s in what %s opens: %v", key, opener, err)
			}
		}
	}

	p.press("Escape")
	p.until("have the focus at "+opener+" again", func() error {
		return on(p, button,
			"function () { if (uppermost()) throw new Error('it is still open'); if (document.activeElement !== this) throw new Error('it is at ' + document.activeElement.outerHTML.slice(0, 200)) }", nil)
	})
}

// lists are the selects of a dialog that have a list.
const lists = `[...dialog().querySelectorAll('.ant-select:not(.ant-select-disabled) input[role=combobox]')].filter((e) => shown(e))`

// leavesLists opens each list of the dialog that a button opens, after choosing its first option if
// it is one for several: Tab moves on, which closes the list and chooses nothing.
func (p *page) leavesLists(opener string) {
	p.t.Helper()
	p.click("button", opener)
	p.settle()
	var n int
	if err := evaluate(p, lists+".length", &n); err != nil {
		p.fatalf("count: %v", err)
	}

	for i := range n {
		e := fmt.Sprintf("%s[%d]", lists, i)
		chosen := func() (text string) {
			if err := evaluate(p, e+".closest('.ant-select').innerText", &text); err != nil {
				p.fatalf("read list %d: %v", i, err)
			}
			return text
		}

		p.do(e + ".focus()")
		p.press("ArrowDown")
		var open, several bool
		p.until("open it", func() error {
			return evaluate(p, "((e) => e.getAttribute('aria-expanded') === 'true')("+e+")", &open)
		})
		if !open {
			continue // texts are typed here
		}

		p.settle()
		if err := evaluate(p, e+".closest('.ant-select-multiple') !== null", &several); err != nil {
			p.fatalf("look at list %d: %v", i, err)
		}
		if several {
			p.press("Enter")
		}

		p.press("ArrowDown")
		before := chosen()
		p.press("Tab")
		p.until("leave the list", func() error {
			return evaluate(p,
				"((e) => { if (e === document.activeElement || e.getAttribute('aria-expanded') === 'true') throw new Error('it is still there') })("+e+")", nil)
		})
		if after := chosen(); after != before {
			p.t.Errorf("%s, list %d: Tab has chosen %q after %q", opener, i, after, before)
		}
	}

	p.until("close what "+opener+" opened", func() error {
		err := evaluate(p, "(() => { if (uppermost()) throw new Error('it is open') })()", nil)
		if err == nil {
			return nil
		}
		var discards bool
		if evaluate(p,
			"(() => { const b = uppermost()?.querySelector('.ant-btn-dangerous'); b?.click(); return !!b })()", &discards) == nil && !discards {
			p.press("Escape") // the first may close a list of texts
			p.settle()
		}
		return err
	})
}

// named checks that every control has a name, in words and not only that of an icon.
func (p *page) named() {
	p.t.Helper()
	tree := send(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	uses := append([]string{"button", "link", "menuitem", "tab", "switch", "checkbox", "radio",
		"slider"}, fields...)
	for _, node := range tree.Nodes {
		if !node.Ignored && slices.Contains(uses, said(node.Role)) && said(node.Name) == "" {
			p.t.Errorf("a %s has no name", said(node.Role))
		}
	}

	var icons []string
	if err := evaluate(p,
		`[...document.querySelectorAll('.anticon[role=img]')].filter((e) => e.classList.contains('anticon-' + e.ariaLabel)).map((e) => e.parentElement.outerHTML.slice(0, 200))`, &icons); err != nil {
		p.fatalf("look at the icons: %v", err)
	}
	if len(icons) > 0 {
		p.t.Errorf("icons say their names:\n%s", strings.Join(icons, "\n"))
	}
}

// TestConsoleKeyboard uses every page with the keyboard only.
func TestConsoleKeyboard(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.fileGroup("Papers")
	c.keepsText("notes.txt", "some notes")
	kept := c.keepsText("old.txt", "some notes")
	c.want(200, "DELETE", fmt.Sprintf("/file/list?ids=%d", kept.ID), "")
	c.dict("colours", "tag")
	openers := map[string][]string{
		"/admin/list": {"New user"}, "/user/list": {"New app user"}, "/admin/role": {"New role"},
		"/user/role":  {"New role"},
		"/admin/rule": {"New permission"}, "/user/rule": {"New permission"},
		"/admin/dept": {"New department"}, "/admin/key": {"New API key"},
		"/file/list": {"notes.txt"}, "/file/group": {"New folder"}, "/file/trash": nil,
		"/system/dict":             {"New dictionary", "New item"},
		"/system/setting?define=1": {"New group", "New setting"}, "/system/field": {"New field"},
		"/system/webhook":       {"New webhook"},
		"/system/monitor/trace": {"Start trace"}, "/account": {"Change photo"},
		"/": nil, "/system/session": nil, "/system/loginlog": nil, "/system/info": nil,
		"/system/monitor/request": nil, "/account/security": nil, "/account/activity": nil,
	}
	for at, opened := range openers {
		t.Run(strings.ReplaceAll(at[1:], "/", "-"), func(t *testing.T) {
			t.Parallel()
			p := console(t, server)
			p.before(focusSeen)
			p.as(c.token)
			p.open(at)
			p.settle()
			p.named()
			p.walk()
			var missed []string
			if err := evaluate(p, unreached, &missed); err != nil {
				t.Fatal(err)
			}
			if len(missed) > 0 {
				t.Errorf("no key leads to\n%s", strings.Join(missed, "\n"))
			}

			for _, opener := range opened {
				p.keepsFocus(opener)
				p.leavesLists(opener)
			}
		})
	}
}
