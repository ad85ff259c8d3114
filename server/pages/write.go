package pages

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// html returns the page in its frame.
func (p *HTMLPage) html(frame, nonce string) string {
	var b strings.Builder
	p.writeTexts(&b)
	for i := range p.Forms {
		p.writeForm(&b, &p.Forms[i], fmt.Sprint("form", i))
	}

	if p.Next.Path != "" {
		b.WriteString(p.Next.html(p.Base, ` class="button"`) + "\n")
	}

	p.writeLinks(&b, p.Links)
	if p.Contact != "" {
		writeParagraph(&b, ` class="soft"`, p.Words.Contact+" "+p.Contact)
	}
	if p.script != "" {
		b.WriteString(`<script nonce="` + nonce + `">` + p.script + "</script>\n")
	}

	logo := ""
	if p.Logo != "" {
		logo = `<img src="` + html.EscapeString(p.Base+p.Logo) + `" alt="">`
	}

	return strings.NewReplacer("{language}", html.EscapeString(p.Language), "{nonce}", nonce,
		"{accents}", p.Accents, "{logo}", logo,
		"{site}", html.EscapeString(p.Site), "{title}", html.EscapeString(p.Title), "{content}",
		b.String()).Replace(frame)
}

// writeForm writes a form. One with an opener is hidden until it is asked for, or a fault is shown.
func (p *HTMLPage) writeForm(b *strings.Builder, form *htmlForm, id string) {
	if form.Opener == "" {
		form.write(b, p.Base, id, p.FaultField)
		return
	}
	open := ""
	if p.Fault != "" {
		open = " open"
	}
	b.WriteString("<details" + open + "><summary>" + html.EscapeString(form.Opener) + "</summary>\n")
	form.write(b, p.Base, id, p.FaultField)
	p.writeLinks(b, form.Links)
	b.WriteString("</details>\n")
}

func (p *HTMLPage) writeLinks(b *strings.Builder, links []PageLink) {
	for _, link := range links {
		link.Path = keepQuery(link.Path, p.kept)
		b.WriteString(`<p class="link">` + link.html(p.Base, "") + "</p>\n")
	}
}

// writeTexts writes what is above the forms.
func (p *HTMLPage) writeTexts(b *strings.Builder) {
	if p.Notice != "" {
		writeParagraph(b, ` class="notice" role="status"`, p.Notice)
	}
	if p.Fault != "" {
		writeParagraph(b, ` class="fault" role="alert" id="fault"`, p.Fault)
	}

	for _, text := range p.Texts {
		writeParagraph(b, "", text)
	}

	if p.Picture != "" {
		b.WriteString(p.Picture + "\n")
	}
	if p.CodesTitle != "" {
		writeParagraph(b, ` class="soft"`, p.CodesTitle)
	}
	if len(p.Codes) > 0 {
		b.WriteString(`<ul class="codes">` + "\n")
		for _, code := range p.Codes {
			b.WriteString("<li><code>" + html.EscapeString(code) + "</code></li>\n")
		}
		b.WriteString("</ul>\n")
	}
	if len(p.Facts) > 0 {
		b.WriteString("<dl>\n")
		for _, fact := range p.Facts {
			b.WriteString("<dt>" + html.EscapeString(fact.Name) + "</dt><dd>" + html.EscapeString(fact.Text) + "</dd>\n")
		}
		b.WriteString("</dl>\n")
	}
	if len(p.Menu) > 0 {
		b.WriteString("<nav><ul>\n")
		for _, link := range p.Menu {
			link.Path = keepQuery(link.Path, p.kept)
			b.WriteString("<li>" + link.html(p.Base, "") + "</li>\n")
		}
		b.WriteString("</ul></nav>\n")
	}
}

func writeParagraph(b *strings.Builder, attributes, text string) {
	b.WriteString("<p" + attributes + ">" + html.EscapeString(text) + "</p>\n")
}

func (l PageLink) html(base, attributes string) string {
	if !strings.HasPrefix(l.Path, "/") {
		base = ""
	}
	return "<a" + attributes + ` href="` + html.EscapeString(base+l.Path) + `">` + html.EscapeString(l.Text) + "</a>"
}

// write writes the form. The field with a fault, or else the first that is empty, gets the focus.
func (form *htmlForm) write(b *strings.Builder, base, id, fault string) {
	if len(form.Lines) > 0 {
		b.WriteString(`<div class="item"><div id="` + id + `-about">` + "\n")
		for _, line := range form.Lines {
			writeParagraph(b, "", line)
		}
		b.WriteString("</div>\n")
		defer b.WriteString("</div>\n")
	}
	if form.Submit == "" {
		return
	}
	if form.Scripts != "" {
		b.WriteString(`<noscript><p class="fault">` + html.EscapeString(form.Scripts) + "</p></noscript>\n")
	}

	action := form.Action
	if action != "" {
		action = base + action
	}

	b.WriteString(`<form method="post"` + attribute("action", action) + `><input type="hidden" name="confirm" value="1">` + "\n") // a form without fields would have no body
	focused := fault
	for i := range form.Fields {
		f := &form.Fields[i]
		if focused == "" && f.Value == "" && f.Label != "" {
			focused = f.Name
		}
		f.write(b, f.Name != "" && f.Name == fault, f.Name != "" && f.Name == focused)
	}

	if form.Wait != "" {
		b.WriteString(`<p class="soft" id="progress" role="status"` + attribute("data-wait",
			form.Wait) + attribute("data-failed", form.Failed) + "></p>\n")
	}

	about := ""
	if len(form.Lines) > 0 {
		about = id + "-about"
	}

	b.WriteString(`<button type="submit"` + attribute("class", form.Kind) + attribute("aria-describedby", about) + ">" + html.EscapeString(form.Submit) + "</button>\n</form>\n")
}

// attribute returns an attribute of an element; "" if it has no value.
func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + html.EscapeString(value) + `"`
}

// write writes a field.
func (f *htmlField) write(b *strings.Builder, fault, focus bool) {
	if f.Label == "" {
		b.WriteString("<input" + attribute("type", f.Type) + attribute("name", f.Name) + attribute("value", f.Value) + attribute("autocomplete", f.Autocomplete))
		if f.Name == "" {
			b.WriteString(" readonly hidden")
		}
		b.WriteString(">\n")
		return
	}

	about := ""
	if f.Hint != "" {
		about = f.Name + "-hint"
	}
	if fault {
		about = strings.TrimSpace(about + " fault")
	}
	if f.Type == "checkbox" {
		f.writeChoice(b, about)
	} else {
		b.WriteString(`<label for="` + f.Name + `">` + html.EscapeString(f.Label) + "</label>\n")
		f.writeInput(b, about, fault, focus)
	}
	if f.Hint != "" {
		writeParagraph(b, ` class="soft"`+attribute("id", f.Name+"-hint"), f.Hint)
	}
}

// writeInput writes the element in which the value is given.
func (f *htmlField) writeInput(b *strings.Builder, about string, fault, focus bool) {
	attributes := attribute("id", f.Name) + attribute("name", f.Name) + attribute("autocomplete",
		f.Autocomplete) + attribute("inputmode", f.Mode) +
		attribute("minlength", digits(f.Min)) + attribute("maxlength", digits(f.Max)) + attribute("aria-describedby", about)
	if f.Autocomplete == "username" {
		attributes += ` autocapitalize="none" spellcheck="false"`
	}

	attributes += boolean("required", f.Required) + boolean(`aria-invalid="true"`, fault) + boolean("autofocus", focus)
	switch f.Type {
	case "select":
		b.WriteString("<select" + attributes + `><option value="">–</option>` + "\n")
		for _, o := range f.Options {
			b.WriteString(`<option value="` + html.EscapeString(o.Value) + `"` + boolean("selected", o.Value == f.Value) + ">" + html.EscapeString(o.Label) + "</option>\n")
		}
		b.WriteString("</select>\n")
	case "textarea":
		b.WriteString("<textarea" + attributes + ` rows="4">` + "\n" + html.EscapeString(f.Value) + "</textarea>\n")
	case "password":
		b.WriteString(`<input type="password"` + attributes + ">\n")
	default:
		b.WriteString("<input" + attribute("type", f.Type) + attributes + attribute("value",
			f.Value) + ">\n")
	}
}

// writeChoice writes a choice of several options. The first input is sent if none is chosen.
func (f *htmlField) writeChoice(b *strings.Builder, about string) {
	name := attribute("name", f.Name+"[]")
	b.WriteString("<fieldset" + attribute("aria-describedby", about) + "><legend>" + html.EscapeString(f.Label) + "</legend>\n")
	b.WriteString(`<input type="hidden"` + name + ">\n")
	for _, o := range f.Options {
		checked := boolean("checked", slices.Contains(f.Chosen, o.Value))
		b.WriteString(`<label><input type="checkbox"` + name + ` value="` + html.EscapeString(o.Value) + `"` + checked + "> " + html.EscapeString(o.Label) + "</label>\n")
	}
	b.WriteString("</fieldset>\n")
}

// boolean returns an attribute without a value; "" if it does not apply.
func boolean(name string, applies bool) string {
	if !applies {
		return ""
	}
	return " " + name
}

// digits returns a number in digits; "" for 0.
func digits(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
