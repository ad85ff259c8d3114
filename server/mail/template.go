package mail

import (
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"
)

// names are the messages, each of which has a text in every language.
var names = []string{"invitation", "password_reset", "email_verification", "email_change",
	"email_changed", "factor_removed", "sign_in_unknown", "registration", "registration_known",
	"backup_unproven", "backup_proven", "sign_in_code", "test"}

// languages are the languages of the messages.
var languages = []string{"en", "zh"}

// Templates renders messages. It can be used by several goroutines.
type Templates struct {
	texts  map[string]*text // texts by name and language, like "test.en"
	layout *layout
}

// text is the template of one message in one language.
type text struct {
	subject, button pattern // button is nil if the message has no link
	paragraphs      []paragraph
	footer          paragraph
}

// paragraph is lines. Those that are empty are left out, and so is a paragraph without lines.
type paragraph []pattern

// linkParagraph is the source of the paragraph that is the link.
const linkParagraph = "{link}"

// Data has the values of a message. Names are shortened to 64 characters, and left out if a mail
// program would make a link of them.
type Data struct {
	Site     string // title of the installation
	Name     string // display name of the recipient, else the username
	Username string
	Link     string    // absolute URL, http or https; "" for notices
	Expires  time.Time // end of the link's validity; shown in UTC
	By       string    // name of the person who has invited; "" for none
	Email    string    // new address, in email_change and email_changed, or that of a registration
	Contact  string    // contact of the administrator; "" for none

	// Of a sign-in, in sign_in_unknown; empty otherwise.
	Device   string // browser and system, as they say themselves
	Address  string // IP address
	Provider string // title of the sign-in provider that the person came from; empty for none
	Time     time.Time

	Problems []string // sentences, in backup_unproven

	Digits string // code, in sign_in_code
}

// ParseTemplates reads the templates of every message from a directory:
//
//   - NAME.LANGUAGE.txt is a message. It starts with a line "Subject: …"; a message with a link
//     has a second line "Button: …", the label of the link in HTML. After an empty line follows
//     the plain text. Paragraphs are separated by empty lines; {link} is a paragraph of its own.
//   - footer.LANGUAGE.txt is the last paragraph of every message.
//   - layout.html is the HTML of every message, see parseLayout.
//
// The values in a text are {site}, {username} and {email}, and those that may be empty: {name},
// {expires}, {by}, {contact}, {device}, {address}, {provider}, {time}, {problems} and {code}. The latter can only be in an
// optional part of a line, in square brackets, which is left out if one of its values is empty:
//
//	Hello[ {name}],
//	Ask [{contact}|the administrator of {site}].
//
// The text after a vertical bar replaces a part that is left out. A mistake in a file is
// an error like "test.en.txt:3: unknown placeholder {nmae}".
func ParseTemplates(files fs.FS) (*Templates, error) {
	t := &Templates{texts: map[string]*text{}}
	var err error
	if t.layout, err = parseLayout(files); err != nil {
		return nil, err
	}

	for _, language := range languages {
		footer, err := parseFooter(files, "footer."+language+".txt")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			key := name + "." + language
			if t.texts[key], err = parseText(files, key+".txt"); err != nil {
				return nil, err
			}
			t.texts[key].footer = footer
		}
	}

	return t, nil
}

// Names returns the names of the messages.
func (t *Templates) Names() []string { return slices.Clone(names) }

// Render returns the subject, the plain text and the HTML of a message. The language is "en"
// or "zh". It fails if there is no such message, or if the message has a link and
// Data.Link is not an absolute URL.
func (t *Templates) Render(name, language string, d Data) (subject, text, html string, err error) {
	source := t.texts[name+"."+language]
	if source == nil {
		return "", "", "", fmt.Errorf("no message %q in the language %q", name, language)
	}
	if source.button != nil && !isLink(d.Link) {
		return "", "", "", fmt.Errorf("%s.%s: the link is not an absolute URL", name, language)
	}

	v := d.values(language)
	page := values{"language": htmlLanguage[language], "site": v["site"]}
	if language == "zh" {
		v["site"], v["by"] = spaced(v["site"]), spaced(v["by"])
	}

	subject = source.subject.plain(v)
	page["subject"], page["footer"] = subject, source.footer.plain(v)
	page["link"], page["button"] = v["link"], source.button.plain(v)
	var blocks, rendered []string
	for _, p := range source.paragraphs {
		block := p.plain(v)
		if block == "" {
			continue
		}
		page["text"] = block
		part := t.layout.text
		if p.isLink() {
			part = t.layout.link
		}
		blocks, rendered = append(blocks, block), append(rendered, part.html(page))
	}

	text = strings.Join(append(blocks, page["footer"]), "\n\n") + "\n"
	html = t.layout.head.html(page) + strings.Join(rendered, "") + t.layout.foot.html(page)
	return subject, text, html, nil
}

// isLink reports whether p is the link alone.
func (p paragraph) isLink() bool { return len(p) == 1 && len(p[0]) == 1 && p[0][0].name == "link" }

// plain returns the lines that are not empty.
func (p paragraph) plain(v values) string {
	var lines []string
	for _, line := range p {
		if line := line.plain(v); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// spaced returns a name for use between Chinese characters: with a space at an end that is
// not Chinese.
func spaced(name string) string {
	runes := []rune(name)
	if len(runes) == 0 {
		return ""
	}
	if !unicode.Is(unicode.Han, runes[0]) {
		name = " " + name
	}
	if !unicode.Is(unicode.Han, runes[len(runes)-1]) {
		name += " "
	}
	return name
}

// htmlLanguage is the language tag of each language.
var htmlLanguage = map[string]string{"en": "en", "zh": "zh-Hans"}

// timeLayout is how a time is shown in each language.
var timeLayout = map[string]string{"en": "2 January 2006, 15:04 UTC", "zh": "2006年1月2日 15:04（UTC）"}

// Limits of texts in messages, in characters.
const (
	maxSite    = 100
	maxContact = 200
	maxProblem = 200
)

// values returns the fields of one line each, by the name of their placeholder.
func (d *Data) values(language string) values {
	v := values{
		"site":     shorten(oneLine(d.Site), maxSite),
		"name":     personName(d.Name),
		"username": shorten(oneLine(d.Username), maxName),
		"link":     d.Link,
		"by":       personName(d.By),
		"email":    shorten(oneLine(d.Email), maxAddress),
		"contact":  shorten(oneLine(d.Contact), maxContact),
		"code":     d.Digits,
	}
	if !d.Expires.IsZero() {
		v["expires"] = d.Expires.UTC().Format(timeLayout[language])
	}

	v["device"] = personName(d.Device) // a client can call itself anything
	v["provider"] = shorten(oneLine(d.Provider), maxName)
	if addr, err := netip.ParseAddr(d.Address); err == nil {
		v["address"] = addr.String()
	}
	if !d.Time.IsZero() {
		v["time"] = d.Time.UTC().Format(timeLayout[language])
	}

	problems := make([]string, len(d.Problems))
	for i, problem := range d.Problems {
		problems[i] = shorten(oneLine(problem), maxProblem)
	}
	v["problems"] = strings.Join(problems, "\n")

	return v
}

// personName returns the name of a person, or "" if it would become a link: users choose
// their own names, and the message makes what they wrote look like Reeve's.
func personName(name string) string {
	if name = oneLine(name); isLinkLike(name) {
		return ""
	}
	return shorten(name, maxName)
}

// isLinkLike reports whether text contains what mail programs make links of: a scheme, an
// email address, or two words with a dot and no space between them, which may be a domain.
func isLinkLike(text string) bool {
	if strings.Contains(text, "://") || strings.Contains(text, "@") {
		return true
	}
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	runes := []rune(text)
	for i := 1; i+2 < len(runes); i++ {
		before := isWord(runes[i-1]) || runes[i-1] == '-'
		if before && strings.ContainsRune(".。．｡", runes[i]) && isWord(runes[i+1]) &&
			isWord(runes[i+2]) {
			return true
		}
	}
	return false
}

// isLink reports whether text is an absolute URL without spaces and other characters that
// end a link in plain text.
func isLink(text string) bool {
	scheme, rest, _ := strings.Cut(text, "://")
	return (scheme == "http" || scheme == "https") && rest != "" &&
		!strings.ContainsFunc(rest, func(r rune) bool {
			return isUnprintable(r) || strings.ContainsRune("<>\"'`(){}\\|^", r)
		})
}
