package server

import (
	"regexp"
	"strings"
	"testing"

	"reeve/server/pages"
)

// profileVersion returns the version in the form of a profile.
func (a *reply) profileVersion() string {
	a.t.Helper()
	found := regexp.MustCompile(`<input type="hidden" name="version" value="([0-9]+)">`).FindStringSubmatch(a.Body)
	if found == nil {
		a.t.Fatalf("%s: no version: %s", a.sent, a.Body)
	}
	return found[1]
}

// TestProfilePage_KeepsNewerChanges checks that a form opened earlier does not overwrite a change
// by an administrator.
func TestProfilePage_KeepsNewerChanges(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.declare(`"key":"tier","title":"Tier","type":"select","options":[{"label":"Gold","value":"g"},{"label":"Silver","value":"s"}]`, `"key":"about","title":"About","type":"textarea","describe":"In public"`)
	v := in.signedIn("ann")
	old := v.get(pages.ProfilePath).profileVersion()
	in.ok("PUT", "/user/list/1", `{"nickname":"Theirs","email":"new@example.org","fields":{"tier":"g"}}`, "owner")
	form := []string{"nickname", "", "mobile", "+49 170 1234567", "email", "", "password", "", "fields.tier", "s", "fields.about", "a\r\nb"}

	before := in.dump()
	page := v.post(pages.ProfilePath, append(form, "version", old)...)
	page.brief(409, "Your profile has changed since you opened this page", `value="Theirs"`, `value="new@example.org"`, `<option value="g" selected>`,
		"Your version: Silver<", "Your version: Not set<", "Your version: +49 170 1234567<", "In public\nYour version: a\nb<")
	if n := strings.Count(page.Body, "Your version: "); n != 5 {
		t.Errorf("%d values differ", n)
	}
	current := page.profileVersion()
	if in.unchanged(before); current == old {
		t.Errorf("the form still has the version %s", old)
	}

	v.post(pages.ProfilePath, "version", current, "nickname", "Mine", "fields.tier", "g").leads(pages.AccountPath + "?done=profile")
	v.post(pages.ProfilePath, "version", current, "nickname", "Mine", "fields.tier", "g").leads(pages.AccountPath + "?done=profile") // sent twice
	v.post(pages.ProfilePath, "version", current, "nickname", "Other", "fields.tier", "g").brief(409)
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"nickname":"Mine"`, `"email":"new@example.org"`, `"tier":"g"`)
}

// TestProfilePage_KeepsVersion checks that a form shown again after a mistake keeps its version, so
// that it does not become current.
func TestProfilePage_KeepsVersion(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	old := v.get(pages.ProfilePath).profileVersion()
	in.ok("PUT", "/user/list/1", `{"nickname":"Theirs"}`, "owner")
	page := v.post(pages.ProfilePath, "version", old, "nickname", "Mine", "mobile", "call me")
	if page.brief(422, `value="Mine"`, `value="call me"`); page.profileVersion() != old {
		t.Errorf("version %s, want %s", page.profileVersion(), old)
	}
	v.post(pages.ProfilePath, "version", old, "nickname", "Mine", "mobile", "").brief(409, `value="Theirs"`)
	for _, bad := range []string{"", "x", "1.5", strings.Repeat("1", 21)} {
		v.post(pages.ProfilePath, "version", bad, "nickname", "Mine").brief(422, `value="Theirs"`, "Your version: Mine")
	}
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"nickname":"Theirs"`)
}
