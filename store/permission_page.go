package store

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"reeve/store/errs"
)

// How the console opens the URL of a page.
const (
	OpenLink = "link" // in the same tab
	OpenTab  = "tab"  // in a new tab
)

// maxPageURL is the maximum length of the URL of a page, in characters.
const maxPageURL = 2000

// constrainPageURL allows a URL only for pages that the console does not have itself, and sets
// Open: it is empty without a URL, and OpenLink if a URL has none.
func constrainPageURL(tx *Tx, old, new *Permission) error {
	if new == nil {
		return nil
	}
	if kept := old != nil && old.Open == new.Open; kept && new.URL == "" {
		new.Open = "" // the URL was removed
	}
	if new.Open == "" && new.URL != "" {
		new.Open = OpenLink
	}

	faults := errs.Faults{}
	if new.URL != "" {
		checkPage(tx, new, faults)
	}

	switch {
	case new.Open != "" && new.Type != PagePermission:
		faults.Add("open", "is allowed only for a page (type 1)")
	case new.Open != "" && new.URL == "":
		faults.Add("open", "is allowed only with a url")
	case new.Open != "" && new.Open != OpenLink && new.Open != OpenTab:
		faults.Add("open", "must be one of %s", []string{OpenLink, OpenTab})
	}

	if len(faults) == 0 {
		return nil
	}

	return faults.Err(errs.Invalid)
}

// checkPage adds a fault if a permission cannot have its URL.
func checkPage(tx *Tx, p *Permission, faults errs.Faults) {
	fault := pageURLFault(p.URL)
	switch {
	case p.Type != PagePermission:
		faults.Add("url", "is allowed only for a page (type 1)")
	case programOf(tx).pages[p.Path]:
		faults.Add("url", "is not allowed: the console has a page of its own at the path %s",
			p.Path)
	case !fault.Empty():
		faults.Add("url", "%s", fault)
	}
}

// pageURLFault returns the fault of a page's URL. A browser ignores tabs and line breaks
// in a URL and reads a backslash as a slash, so they could turn a path on this server into the URL
// of another one.
func pageURLFault(text string) errs.Message {
	if utf8.RuneCountInString(text) > maxPageURL {
		return errs.Say("must be at most %v characters", maxPageURL)
	}
	if strings.ContainsFunc(text, func(r rune) bool {
		return r == '\\' || unicode.IsSpace(r) || unicode.IsControl(r)
	}) {
		return errs.Say("must not contain spaces, backslashes or control characters")
	}

	u, err := url.Parse(text)
	switch {
	case err != nil:
	case u.User != nil:
		return errs.Say("must not contain a username or password")
	case strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//"):
		return errs.Message{}
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "":
		return errs.Message{}
	}

	return errs.Say("must be an http(s) URL, or a path on this server that starts with a single /")
}
