package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	cdbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// prepare gives a new page its watch and its looks.
func (p *page) prepare() {
	p.t.Helper()
	send(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.before(tellViolations)
	p.watch.enable(p)
	p.width(1440)
	p.dark(false)
}

// before runs a script in every document that the page loads, before any of its own.
func (p *page) before(script string) {
	p.t.Helper()
	send(p, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// as makes the holder of a token signed in from the next open on, once: whoever
// signs out stays so.
func (p *page) as(token string) {
	p.t.Helper()
	p.before(fmt.Sprintf(`if (location.protocol === 'http:' && !sessionStorage.getItem('given')) {
		sessionStorage.setItem('given', 'yes')
		localStorage.setItem('reeve.token', %s)
	}`, quote(token)))
}

// signIn signs in through the sign-in page, which has to be open.
func (p *page) signIn(username, password string) {
	p.t.Helper()
	p.fill("User name", username)
	p.fill("Password", password)
	p.click("button", "Sign in")
}

// open loads a path of the console, such as /system/session?page=2, anew.
func (p *page) open(path string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Navigate(p.base+"/console"+path)); err != nil {
		p.fatalf("open %s: %v", path, err)
	}
}

// at waits until the page is at a path of the console, with its query.
func (p *page) at(path string) {
	p.t.Helper()
	p.until("be at "+path, func() error {
		var at string
		if err := evaluate(p, "location.href", &at); err != nil {
			return err
		}
		if at != p.base+"/console"+path {
			return errors.New("it is not there")
		}
		return nil
	})
}

// text is what one sees.
func (p *page) text() string {
	p.t.Helper()
	var text string
	p.until("read the page", func() error { return evaluate(p, "root.innerText", &text) })
	return text
}

// see waits until a text is to be seen.
func (p *page) see(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("see %q", text), func() error {
		return evaluate(p, fmt.Sprintf("(() => { if (!root.innerText.includes(%s)) throw new Error('it is not there') })()", quote(text)), nil)
	})
}

// gone waits until a text is not to be seen.
func (p *page) gone(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("not see %q", text), func() error {
		return evaluate(p, fmt.Sprintf("(() => { if (root.innerText.includes(%s)) throw new Error('it is there') })()", quote(text)), nil)
	})
}

// find waits for the one element of a role and a name.
func (p *page) find(role, name string) {
	p.t.Helper()
	p.until(fmt.Sprintf("find the %s %q", role, name), func() error {
		_, err := locate(p, name, role)
		return err
	})
}

// missing waits until there is no element of a role and a name.
func (p *page) missing(role, name string) {
	p.t.Helper()
	p.until(fmt.Sprintf("have no %s %q", role, name), func() error {
		_, err := locate(p, name, role)
		switch {
		case err == nil:
			return errors.New("there is one")
		case errors.Is(err, errNone):
			return nil
		}
		return err
	})
}

// row is the page within the one row of a table, list or tree that has a text in it.
func (p *page) row(text string) *page { return p.within("row(%s, %s)", p.scope, quote(text)) }

// in is the page within the one shown element of a CSS selector.
func (p *page) in(selector string) *page { return p.within("css(%s, %s)", p.scope, quote(selector)) }

// dialog is the page within what lies above the rest: a question, dialog or drawer.
func (p *page) dialog() *page { return p.within("dialog()") }

// within is the page within an element, which is looked for anew at each act.
func (p *page) within(format string, args ...any) *page {
	inner := *p
	inner.scope = fmt.Sprintf(format, args...)
	return &inner
}

// confirm presses a button of the question or dialog that is open.
func (p *page) confirm(button string) {
	p.t.Helper()
	p.dialog().click("button", button)
}

// click clicks the one element of a role and a name.
func (p *page) click(role, name string) {
	p.t.Helper()
	p.hit(fmt.Sprintf("click the %s %q", role, name), func() (runtime.RemoteObjectID, error) { return locate(p, name, role) })
}

// tap clicks the middle of what the page is within: a row, or what a selector names.
func (p *page) tap() {
	p.t.Helper()
	p.hit("click "+p.scope, func() (runtime.RemoteObjectID, error) { return element(p, "root") })
}

// hit clicks what is found, as soon as it can be clicked.
func (p *page) hit(what string, find func() (runtime.RemoteObjectID, error)) {
	p.t.Helper()
	var at point
	p.until(what, func() (err error) {
		at, err = p.place(find)
		return err
	})
	if err := chromedp.Do(p.ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y), chromedp.MouseClickXY(at.X, at.Y)); err != nil {
		p.fatalf("%s: %v", what, err)
	}
}

type point struct{ X, Y float64 }

// place is where to click what is found.
func (p *page) place(find func() (runtime.RemoteObjectID, error)) (at point, err error) {
	id, err := find()
	if err == nil {
		err = on(p, id, "function () { return place(this) }", &at)
	}
	return at, err
}

// fill writes into the field of a label, key by key, in the place of what is there.
func (p *page) fill(label, text string) {
	p.t.Helper()
	p.hit(fmt.Sprintf("fill %q", label), func() (runtime.RemoteObjectID, error) { return locate(p, label, fields...) })
	p.press("Ctrl+A")
	p.press("Delete")
	p.write(text)
}

// write types a text where the focus is.
func (p *page) write(text string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.KeyEvent(text)); err != nil {
		p.fatalf("write %q: %v", text, err)
	}
}

// value is what stands in the field of a label.
func (p *page) value(label string) string {
	p.t.Helper()
	var value string
	p.until(fmt.Sprintf("read %q", label), func() error {
		id, err := locate(p, label, fields...)
		if err != nil {
			return err
		}
		return on(p, id, "function () { return this.value }", &value)
	})
	return value
}

// keys are those that have names; others are what they write.
var keys = map[string]string{
	"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab, "Backspace": kb.Backspace, "Delete": kb.Delete, "Space": " ",
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "Home": kb.Home, "End": kb.End,
}

var modifiers = map[string]chromedp.Modifier{"Ctrl": chromedp.ModifierCtrl, "Shift": chromedp.ModifierShift, "Alt": chromedp.ModifierAlt, "Meta": chromedp.ModifierMeta}

// press presses a key where the focus is: Escape, Ctrl+K, Shift+Tab.
func (p *page) press(key string) {
	p.t.Helper()
	parts := strings.Split(key, "+")
	last := parts[len(parts)-1]
	text, named := keys[last]
	if !named {
		text = strings.ToLower(last)
	}
	var held []chromedp.Modifier
	for _, name := range parts[:len(parts)-1] {
		held = append(held, modifiers[name])
	}
	if err := chromedp.Do(p.ctx, chromedp.KeyEvent(text, chromedp.KeyModifiers(held...))); err != nil {
		p.fatalf("press %s: %v", key, err)
	}
}

// choose opens the select of a label and clicks options of its list or tree. With
// several, which a select of many takes, the list is closed again.
func (p *page) choose(label string, options ...string) {
	p.t.Helper()
	p.hit(fmt.Sprintf("open %q", label), func() (runtime.RemoteObjectID, error) { return locate(p, label, "combobox") })
	for _, option := range options {
		p.hit(fmt.Sprintf("choose %q", option), func() (runtime.RemoteObjectID, error) { return element(p, "option("+quote(option)+")") })
	}
	if len(options) > 1 {
		p.press("Escape")
	}
}

// toggle brings a switch or a checkbox to a state.
func (p *page) toggle(label string, to bool) {
	p.t.Helper()
	find := func() (runtime.RemoteObjectID, error) { return locate(p, label, "switch", "checkbox") }
	is := func() (now bool, err error) {
		id, err := find()
		if err == nil {
			err = on(p, id, "function () { return this.checked ?? this.getAttribute('aria-checked') === 'true' }", &now)
		}
		return now, err
	}
	var now bool
	p.until(fmt.Sprintf("find the switch %q", label), func() (err error) {
		now, err = is()
		return err
	})
	if now == to {
		return
	}
	p.hit(fmt.Sprintf("switch %q", label), find)
	p.until(fmt.Sprintf("have %q switched", label), func() error {
		now, err := is()
		if err == nil && now != to {
			err = errors.New("it is not")
		}
		return err
	})
}

// upload gives files to the one file input within the page, which need not be shown.
func (p *page) upload(paths ...string) {
	p.t.Helper()
	p.until("give files", func() error {
		id, err := element(p, "only([...root.querySelectorAll('input[type=file]')], 'inputs for files')")
		if err != nil {
			return err
		}
		_, err = ask(p, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: paths, ObjectID: id})
		return err
	})
}

// drop lets files go over the middle of what the page is within.
func (p *page) drop(paths ...string) {
	p.t.Helper()
	var at point
	p.until("drop files on "+p.scope, func() (err error) {
		at, err = p.place(func() (runtime.RemoteObjectID, error) { return element(p, "root") })
		return err
	})
	for _, step := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		send(p, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: step, X: at.X, Y: at.Y, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1},
		})
	}
}

// download is the file that an act makes the browser save.
func (p *page) download(act func()) (name string, content []byte) {
	p.t.Helper()
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	var mu sync.Mutex
	names, done := map[string]string{}, map[string]bool{} // by the browser's name of a download
	if err := chromedp.ListenBrowser(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *cdbrowser.EventDownloadWillBegin:
			names[e.GUID] = e.SuggestedFilename
		case *cdbrowser.EventDownloadProgress:
			done[e.GUID] = e.State == cdbrowser.DownloadProgressStateCompleted
		}
	}); err != nil {
		p.fatalf("listen for downloads: %v", err)
	}
	dir := p.t.TempDir()
	if _, err := chromedp.CallBrowser(ctx, cdbrowser.SetDownloadBehavior, cdbrowser.SetDownloadBehaviorParams{
		Behavior: cdbrowser.SetDownloadBehaviorBehaviorAllowAndName, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
		DownloadPath: dir, EventsEnabled: yes,
	}); err != nil {
		p.fatalf("allow downloads: %v", err)
	}
	act()
	p.until("download a file", func() error {
		mu.Lock()
		defer mu.Unlock()
		for id := range done {
			// Another page's file is in another directory.
			b, err := os.ReadFile(filepath.Join(dir, id))
			if err == nil && done[id] {
				name, content = names[id], b
				return nil
			}
		}
		return errors.New("none is whole")
	})
	return name, content
}

// width sets the width of the window to that of a phone (320), a tablet (768) or a
// desk (1440).
func (p *page) width(width int64) {
	p.t.Helper()
	height := map[int64]int64{320: 640, 768: 1024}[width]
	if height == 0 {
		height = 900
	}
	send(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// dark sets what the system prefers.
func (p *page) dark(dark bool) {
	p.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	send(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}})
}

// offline takes the network away or gives it back. What fails meanwhile is expected.
func (p *page) offline(offline bool) {
	p.t.Helper()
	p.watch.mu.Lock()
	p.watch.offline = p.watch.offline || offline // an answer may be late
	p.watch.mu.Unlock()
	send(p, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: offline, DownloadThroughput: -1, UploadThroughput: -1})
	send(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: offline, DownloadThroughput: -1, UploadThroughput: -1}},
	})
}

// settle waits until the page has its title and what it shows, and nothing moves.
func (p *page) settle() {
	p.t.Helper()
	p.until("have a title", func() error {
		_, err := element(p, "[...document.querySelectorAll('h1')].find(shown)")
		return err
	})
	quiet := 0
	p.until("settle", func() error {
		var why string
		err := evaluate(p, "unsettled()", &why)
		if n := p.watch.loading(); err == nil && n > 0 {
			why = fmt.Sprintf("%d requests are under way", n)
		}
		if err == nil && why != "" {
			err = errors.New(why)
		}
		if quiet++; err != nil {
			quiet = 0
		}
		if err == nil && quiet < 3 { // between an answer and what follows from it all is quiet too
			err = errors.New("it has only just been quiet")
		}
		return err
	})
}
