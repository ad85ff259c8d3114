package server

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/pages"
)

// declare creates custom fields of app users that these can change.
func (in *instance) declare(fields ...string) {
	in.t.Helper()
	for _, f := range fields {
		in.create("/system/field", `{"realm":"app","self_access":"write",`+f+`}`)
	}
}

// TestHostedPages_CustomFields registers and changes a profile with a field of every type.
func TestHostedPages_CustomFields(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.openRegistration()
	options := `"options":[{"label":"Gold","value":"g"},{"label":"Silver <b>","value":"s"}]`
	in.declare(
		`"key":"company","title":"Company & Co","type":"input","required":1,"describe":"As on the <bill>","props":[{"name":"maxlength","value":"20"}]`,
		`"key":"about","title":"About","type":"textarea"`, `"key":"age","title":"Age","type":"number","props":[{"name":"min","value":"18"}]`,
		`"key":"news","title":"Newsletter","type":"switch"`, `"key":"tier","title":"Tier","type":"select",`+options,
		`"key":"tags","title":"Tags","type":"checkbox",`+options, `"key":"born","title":"Born","type":"date"`, `"key":"picture","title":"Picture","type":"image"`,
	)
	in.create("/system/field", `{"realm":"app","key":"level","title":"Level","type":"input","self_access":"read"}`)
	in.create("/system/field", `{"realm":"app","key":"notes","title":"Notes of the staff","type":"input"}`)
	v := in.guestBrowser()
	page := v.get(pages.RegisterPath)
	page.brief(200, `<label for="fields.company">Company &amp; Co</label>`, `name="fields.company" maxlength="20" aria-describedby="fields.company-hint" required`, "As on the &lt;bill&gt;",
		`<textarea id="fields.about"`, `<select id="fields.tier" name="fields.tier" aria-describedby="fields.tier-hint">`, `inputmode="decimal"`, `type="date"`, `<option value="s">Silver &lt;b&gt;</option>`, `<option value="1">Yes</option>`, `name="fields.tags[]" value="g">`)
	for _, hidden := range []string{"Picture", "Level", "Notes of the staff"} {
		if strings.Contains(page.Body, hidden) {
			t.Errorf("the registration has %s", hidden)
		}
	}

	v.register("ann", "").brief(422, "Company &amp; Co: is required")
	v.register("ann", "", "fields.company", "Acme", "fields.age", "17", "fields.tier", "s", "fields.tags[]", "", "fields.tags[]", "g").
		brief(422, "Age: must be at least 18", `value="Acme"`, `value="17"`, `<option value="s" selected>`, `value="g" checked>`)
	v.register("ann", "", "fields.company[]", "Acme").brief(422, "Company &amp; Co: must be a string")
	for _, name := range []string{"level", "notes", "picture2"} {
		v.register("ann", "", "fields.company", "Acme", "fields."+name, "x").brief(422)
	}
	v.register("ann", "", "fields.company", "Acme", "fields.about", "a\r\nb", "fields.age", "30", "fields.news", "1", "fields.tier", "g", "fields.tags[]", "", "fields.tags[]", "s", "fields.born", "2000-01-02").leads(pages.AccountPath)
	v.get(pages.AccountPath).brief(200, "<dt>Company &amp; Co</dt><dd>Acme</dd>", "<dt>Newsletter</dt><dd>Yes</dd>", "<dt>Tier</dt><dd>Gold</dd>", "<dt>Tags</dt><dd>Silver &lt;b&gt;</dd>", "<dt>Level</dt>")
	in.ok("GET", "/user/list", "", "owner").brief(200, `"fields":{"about":"a\nb","age":30,"born":"2000-01-02","company":"Acme","news":true,"tags":["s"],"tier":"g"}`)

	v.get(pages.ProfilePath).brief(200, `value="Acme"`, `<option value="1" selected>`, `<option value="g" selected>`, `value="s" checked>`, ">\na\nb</textarea>")
	v.post(pages.ProfilePath, "nickname", "Ann", "fields.company", "", "fields.news", "").brief(422, "Company &amp; Co", "is required")
	v.post(pages.ProfilePath, "nickname", "Ann", "fields.company", "Other", "fields.about", "a\r\nb", "fields.news", "", "fields.tags[]", "", "fields.tier", "").leads(pages.AccountPath + "?done=profile")
	in.ok("GET", "/user/list", "", "owner").brief(200, `"fields":{"about":"a\nb","age":30,"born":"2000-01-02","company":"Other"}`)
	v.post(pages.ProfilePath, "nickname", "Ann").leads(pages.AccountPath + "?done=profile") // what is not sent remains
	in.ok("GET", "/user/list", "", "owner").brief(200, `"company":"Other"`)
}

// TestHostedPages_LargeCustomFields: Chinese characters take nine bytes each in a form.
func TestHostedPages_LargeCustomFields(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.openRegistration()
	in.declare(`"key":"about","title":"About","type":"textarea"`, `"key":"more","title":"More","type":"textarea"`)
	long := strings.Repeat("中", 2_700)
	v := in.guestBrowser()
	v.register("ann", "", "fields.about", long, "fields.more", long).leads(pages.AccountPath)
	v.post(pages.ProfilePath, "nickname", "Ann", "fields.about", long+"\r\n"+long[:3], "fields.more", long, "password", strings.Repeat("密", 300)).leads(pages.AccountPath + "?done=profile")
	in.ok("GET", "/user/list", "", "owner").brief(200, `"about":"`+long+`\n中"`, `"more":"`+long+`"`)
}

// TestHostedPages_BodyLimit checks that forms accept exactly the number of bytes of their routes.
func TestHostedPages_BodyLimit(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted(`"app.registration":1`)
	limits := map[string]int64{pages.RegisterPath: 192 << 10, pages.ProfilePath: 112 << 10}
	v := in.signedIn("ann")
	for _, rt := range pages.Routes(nil) {
		if rt.Method != "POST" || rt.Path == pages.SignOutPath {
			continue
		}
		want := cmp.Or(limits[rt.Path], 64<<10)
		if _, op := findOperation("POST", rt.Path); fmt.Sprint(op["requestBody"].(openapi.Object)["x-max-bytes"]) != fmt.Sprint(want) {
			t.Errorf("%s: the document says %v, want %d", rt.Path, op["requestBody"].(openapi.Object)["x-max-bytes"], want)
		}
		for extra, fits := range map[int64]bool{0: true, 1: false} {
			const start = "confirm=1&more=" // more is ignored
			r := v.form(rt.Path)
			body := start + strings.Repeat("x", int(want+extra)-len(start))
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			if a := v.do(r); (a.Code != 413) != fits {
				t.Errorf("%s: a form of %d bytes: %d", rt.Path, want+extra, a.Code)
			}
		}
	}
}

// TestProfilePage_RemovedOptionRemains sends back a profile whose value is no longer an option.
func TestProfilePage_RemovedOptionRemains(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	in.openRegistration()
	in.declare(`"key":"tier","title":"Tier","type":"select","options":[{"label":"Gold","value":"g"}]`)
	v := in.guestBrowser()
	v.register("ann", "", "fields.tier", "g").leads(pages.AccountPath)
	in.ok("PUT", "/system/field/1", `{"options":[{"label":"Silver","value":"s"}]}`, "owner")
	v.get(pages.ProfilePath).brief(200, `<option value="g" selected>g</option>`)
	v.post(pages.ProfilePath, "fields.tier", "g").leads(pages.AccountPath + "?done=profile")
	in.ok("GET", "/user/list", "", "owner").brief(200, `"tier":"g"`)
	v.post(pages.ProfilePath, "fields.tier", "x").brief(422, "Tier: must be one of the options")
}
