package pages_test

import (
	"strings"
	"testing"

	"reeve/server/pages"
	"reeve/server/servertest"
)

// TestProfilePage_KeepsNewerChanges checks that a form opened earlier does not overwrite a change
// by an administrator.
func TestProfilePage_KeepsNewerChanges(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	declare(in,
		`"key":"tier","title":"Tier","type":"select","options":[{"label":"Gold","value":"g"},{"label":"Silver","value":"s"}]`, `"key":"about","title":"About","type":"textarea","describe":"In public"`)
	v := in.SignedIn("ann")
	old := v.Get(pages.ProfilePath).ProfileVersion()
	in.OK("PUT", "/user/list/1",
		`{"nickname":"Theirs","email":"new@example.org","fields":{"tier":"g"}}`, "owner")
	form := []string{"nickname", "", "mobile", "+49 170 1234567", "email", "", "password", "",
		"fields.tier", "s", "fields.about", "a\r\nb"}

	before := in.Dump()
	page := v.Post(pages.ProfilePath, append(form, "version", old)...)
	page.Brief(409, "Your profile has changed since you opened this page", `value="Theirs"`,
		`value="new@example.org"`, `<option value="g" selected>`,
		"Your version: Silver<", "Your version: Not set<", "Your version: +49 170 1234567<",
		"In public\nYour version: a\nb<")
	if n := strings.Count(page.Body, "Your version: "); n != 5 {
		t.Errorf("%d values differ", n)
	}

	current := page.ProfileVersion()
	if in.Unchanged(before); current == old {
		t.Errorf("the form still has the version %s", old)
	}

	v.Post(pages.ProfilePath, "version", current, "nickname", "Mine", "fields.tier", "g").Leads(pages.AccountPath + "?done=profile")
	v.Post(pages.ProfilePath, "version", current, "nickname", "Mine", "fields.tier", "g").Leads(pages.AccountPath + "?done=profile") // sent twice
	v.Post(pages.ProfilePath, "version", current, "nickname", "Other", "fields.tier", "g").Brief(409)
	in.OK("GET", "/user/list/1", "", "owner").Brief(200, `"nickname":"Mine"`,
		`"email":"new@example.org"`, `"tier":"g"`)
}

// TestProfilePage_KeepsVersion checks that a form shown again after a mistake keeps its version, so
// that it does not become current.
func TestProfilePage_KeepsVersion(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	v := in.SignedIn("ann")
	old := v.Get(pages.ProfilePath).ProfileVersion()
	in.OK("PUT", "/user/list/1", `{"nickname":"Theirs"}`, "owner")
	page := v.Post(pages.ProfilePath, "version", old, "nickname", "Mine", "mobile", "call me")
	if page.Brief(422, `value="Mine"`, `value="call me"`); page.ProfileVersion() != old {
		t.Errorf("version %s, want %s", page.ProfileVersion(), old)
	}

	v.Post(pages.ProfilePath, "version", old, "nickname", "Mine", "mobile", "").Brief(409,
		`value="Theirs"`)
	for _, bad := range []string{"", "x", "1.5", strings.Repeat("1", 21)} {
		v.Post(pages.ProfilePath, "version", bad, "nickname", "Mine").Brief(422, `value="Theirs"`,
			"Your version: Mine")
	}

	in.OK("GET", "/user/list/1", "", "owner").Brief(200, `"nickname":"Theirs"`)
}
