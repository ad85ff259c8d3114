package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// confirm presses a button of the open confirmation or dialog.
func (p *page) confirm(button string) {
	p.t.Helper()
	p.dialog().click("button", button)
}

// click clicks the only element with a role and a name.
func (p *page) click(role, name string) {
	p.t.Helper()
	p.hit(fmt.Sprintf("click the %s %q", role, name), func() (runtime.RemoteObjectID, error) {
		return locate(p, name, role)
	})
}

// tap clicks the center of the element that the page is limited to: a row, or the element
// of a selector.
func (p *page) tap() {
	p.t.Helper()
	p.hit("click "+p.scope, func() (runtime.RemoteObjectID, error) { return element(p, "root") })
}

// hit clicks the element that find returns as soon as it can be clicked, and again if the
// click missed: an opening element may move between finding and clicking.
func (p *page) hit(what string, find func() (runtime.RemoteObjectID, error)) {
	p.t.Helper()
	p.until(what, func() error {
		id, err := find()
		if err != nil {
			return err
		}

		var at point
		if err := on(p, id, "function () { return place(this) }", &at); err != nil {
			return err
		}

		ctx, cancel := context.WithTimeout(p.ctx, clickWait)
		defer cancel()
		if err := chromedp.Do(ctx,
			chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y),
			chromedp.MouseClickXY(at.X, at.Y)); err != nil {
			return fmt.Errorf("click: %w", err)
		}

		came := true
		if err := on(p, id, "function () { return reached(this) }", &came); err == nil && !came {
			return errors.New("the click went past it")
		}

		return nil // also if the page that contained it is gone
	})
}

type point struct{ X, Y float64 }

// mouse is one action of the left button at a point, as part of a drag.
func (p *page) mouse(does input.DispatchMouseEventType, at point) {
	p.t.Helper()
	send(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{
		Type:       does,
		X:          at.X,
		Y:          at.Y,
		Button:     input.MouseButtonLeft,
		ClickCount: 1,
	})
}

// place returns the point at which to click the element that find returns.
func (p *page) place(find func() (runtime.RemoteObjectID, error)) (at point, err error) {
	id, err := find()
	if err == nil {
		err = on(p, id, "function () { return place(this) }", &at)
	}
	return at, err
}

// fill replaces the text of the field with a label, all at once as by pasting.
func (p *page) fill(label, text string) {
	p.t.Helper()
	p.hit(fmt.Sprintf("fill %q", label), func() (runtime.RemoteObjectID, error) {
		return locate(p, label, fields...)
	})
	p.press("Ctrl+A")
	if text == "" {
		p.press("Delete")
		return
	}
	send(p, input.InsertText, input.InsertTextParams{Text: text})
}

// write types a text into the focused element, key by key.
func (p *page) write(text string) {
	p.t.Helper()
	p.strike(text, 0)
}

// strike presses keys one after the other. The text of a key is sent with its keydown
// event, as a keyboard does: it is not inserted if the page handles the key.
func (p *page) strike(text string, held chromedp.Modifier) {
	p.t.Helper()
	for _, r := range text {
		events := kb.Encode(r)
		down, up := *events[0], *events[len(events)-1]
		if char := events[1]; char.Type == kb.KeyChar && held&^chromedp.ModifierShift == 0 {
			down.Type, down.Text, down.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, char.Text, char.UnmodifiedText
		}
		for _, event := range []input.DispatchKeyEventParams{down, up} {
			event.Modifiers |= int64(held)
			send(p, input.DispatchKeyEvent, event)
		}
	}
}

// value returns the text of the field with a label.
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

// keys are the keys with names; others produce their text.
var keys = map[string]string{
	"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab, "Backspace": kb.Backspace,
	"Delete": kb.Delete, "Space": " ",
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft,
	"ArrowRight": kb.ArrowRight, "Home": kb.Home, "End": kb.End,
}

var modifiers = map[string]chromedp.Modifier{
	"Ctrl":  chromedp.ModifierCtrl,
	"Shift": chromedp.ModifierShift,
	"Alt":   chromedp.ModifierAlt,
	"Meta":  chromedp.ModifierMeta,
}

// press presses a key in the focused element: Escape, Ctrl+K, Shift+Tab.
func (p *page) press(key string) {
	p.t.Helper()
	parts := strings.Split(key, "+")
	last := parts[len(parts)-1]
	text, named := keys[last]
	if !named {
		text = strings.ToLower(last)
	}
	var held chromedp.Modifier
	for _, name := range parts[:len(parts)-1] {
		held |= modifiers[name]
	}
	p.strike(text, held)
}

// choose opens the select with a label and clicks options of its list or tree. With several
// options, for a multiple select, it closes the list afterwards.
func (p *page) choose(label string, options ...string) {
	p.t.Helper()
	find := func() (runtime.RemoteObjectID, error) { return locate(p, label, "combobox") }
	p.until(fmt.Sprintf("open %q", label), func() error {
		id, err := find()
		if err != nil {
			return err
		}
		var open bool // a second click would close it
		if err := on(p, id, "function () { return this.getAttribute('aria-expanded') === 'true' }",
			&open); err != nil || open {
			return err
		}
		p.hit(fmt.Sprintf("open %q", label), find)
		return errors.New("it has not opened yet")
	})
	for _, option := range options {
		p.hit(fmt.Sprintf("choose %q", option), func() (runtime.RemoteObjectID, error) {
			return element(p, "option("+quote(option)+")")
		})
	}

	if len(options) > 1 {
		p.press("Escape")
	}
}

// toggle sets a switch or a checkbox to a state.
func (p *page) toggle(label string, to bool) {
	p.t.Helper()
	find := func() (runtime.RemoteObjectID, error) { return locate(p, label, "switch", "checkbox") }
	is := func() (now bool, err error) {
		id, err := find()
		if err == nil {
			err = on(p, id,
				"function () { return this.checked ?? this.getAttribute('aria-checked') === 'true' }", &now)
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
