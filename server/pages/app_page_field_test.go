package pages_test

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/pages"
	"reeve/server/servertest"
)

// declare creates custom fields of app users that these can change.
func declare(in *servertest.Instance, fields ...string) {
	in.T.Helper()
	for _, f := range fields {
		in.Create("/system/field", `{"realm":"app","self_access":"write",`+f+`}`)
	}
}

// TestHostedPages_CustomFields registers and changes a profile with a field of every type.
func TestHostedPages_CustomFields(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	in.OpenRegistration()
	options := `"options":[{"label":"Gold","value":"g"},{"label":"Silver <b>","value":"s"}]`
	declare(in,
		`"key":"company","title":"Company & Co","type":"input","required":1,"describe":"As on the <bill>","props":[{"name":"maxlength","value":"20"}]`,
		`"key":"about","title":"About","type":"textarea"`,
		`"key":"age","title":"Age","type":"number","props":[{"name":"min","value":"18"}]`,
		`"key":"news","title":"Newsletter","type":"switch"`,
		`"key":"tier","title":"Tier","type":"select",`+options,
		`"key":"tags","title":"Tags","type":"checkbox",`+options,
		`"key":"born","title":"Born","type":"date"`,
		`"key":"picture","title":"Picture","type":"image"`,
	)
	in.Create("/system/field",
		`{"realm":"app","key":"level","title":"Level","type":"input","self_access":"read"}`)
	in.Create("/system/field",
		`{"realm":"app","key":"notes","title":"Notes of the staff","type":"input"}`)
	v := in.GuestBrowser()
	page := v.Get(pages.RegisterPath)
	page.Brief(200, `<label for="fields.company">Company &amp; Co</label>`,
		`name="fields.company" maxlength="20" aria-describedby="fields.company-hint" required`,
		"As on the &lt;bill&gt;",
		`<textarea id="fields.about"`,
		`<select id="fields.tier" name="fields.tier" aria-describedby="fields.tier-hint">`,
		`inputmode="decimal"`, `type="date"`, `<option value="s">Silver &lt;b&gt;</option>`,
		`<option value="1">Yes</option>`, `name="fields.tags[]" value="g">`)
	for _, hidden := range []string{"Picture", "Level", "Notes of the staff"} {
		if strings.Contains(page.Body, hidden) {
			t.Errorf("the registration has %s", hidden)
		}
	}

	v.Register("ann", "").Brief(422, "Company &amp; Co: is required")
	v.Register("ann", "", "fields.company", "Acme", "fields.age", "17", "fields.tier", "s",
		"fields.tags[]", "", "fields.tags[]", "g").
		Brief(422, "Age: must be at least 18", `value="Acme"`, `value="17"`,
			`<option value="s" selected>`, `value="g" checked>`)
	v.Register("ann", "", "fields.company[]", "Acme").Brief(422,
		"Company &amp; Co: must be a string")
	for _, name := range []string{"level", "notes", "picture2"} {
		v.Register("ann", "", "fields.company", "Acme", "fields."+name, "x").Brief(422)
	}

	v.Register("ann", "", "fields.company", "Acme", "fields.about", "a\r\nb", "fields.age", "30",
		"fields.news", "1", "fields.tier", "g", "fields.tags[]", "", "fields.tags[]", "s",
		"fields.born", "2000-01-02").Leads(pages.AccountPath)
	v.Get(pages.AccountPath).Brief(200, "<dt>Company &amp; Co</dt><dd>Acme</dd>",
		"<dt>Newsletter</dt><dd>Yes</dd>", "<dt>Tier</dt><dd>Gold</dd>",
		"<dt>Tags</dt><dd>Silver &lt;b&gt;</dd>", "<dt>Level</dt>")
	in.OK("GET", "/user/list", "", "owner").Brief(200,
		`"fields":{"about":"a\nb","age":30,"born":"2000-01-02","company":"Acme","news":true,"tags":["s"],"tier":"g"}`)

	v.Get(pages.ProfilePath).Brief(200, `value="Acme"`, `<option value="1" selected>`,
		`<option value="g" selected>`, `value="s" checked>`, ">\na\nb</textarea>")
	v.Post(pages.ProfilePath, "nickname", "Ann", "fields.company", "", "fields.news", "").Brief(422, "Company &amp; Co", "is required")
	v.Post(pages.ProfilePath, "nickname", "Ann", "fields.company", "Other", "fields.about",
		"a\r\nb", "fields.news", "", "fields.tags[]", "", "fields.tier", "").Leads(pages.AccountPath + "?done=profile")
	in.OK("GET", "/user/list", "", "owner").Brief(200,
		`"fields":{"about":"a\nb","age":30,"born":"2000-01-02","company":"Other"}`)
	v.Post(pages.ProfilePath, "nickname", "Ann").Leads(pages.AccountPath + "?done=profile") // what is not sent remains
	in.OK("GET", "/user/list", "", "owner").Brief(200, `"company":"Other"`)
}

// TestHostedPages_LargeCustomFields: Chinese characters take nine bytes each in a form.
func TestHostedPages_LargeCustomFields(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	in.OpenRegistration()
	declare(in, `"key":"about","title":"About","type":"textarea"`,
		`"key":"more","title":"More","type":"textarea"`)
	long := strings.Repeat("中", 2_700)
	v := in.GuestBrowser()
	v.Register("ann", "", "fields.about", long, "fields.more", long).Leads(pages.AccountPath)
	v.Post(pages.ProfilePath, "nickname", "Ann", "fields.about", long+"\r\n"+long[:3],
		"fields.more", long, "password", strings.Repeat("密", 300)).Leads(pages.AccountPath + "?done=profile")
	in.OK("GET", "/user/list", "", "owner").Brief(200, `"about":"`+long+`\n中"`, `"more":"`+long+`"`)
}

// TestHostedPages_BodyLimit checks that forms accept exactly the number of bytes of their routes.
func TestHostedPages_BodyLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"app.registration":1`)
	limits := map[string]int64{pages.RegisterPath: 192 << 10, pages.ProfilePath: 112 << 10}
	v := in.SignedIn("ann")
	for _, rt := range pages.Routes(nil) {
		if rt.Method != "POST" || rt.Path == pages.SignOutPath {
			continue
		}

		want := cmp.Or(limits[rt.Path], 64<<10)
		if _, op := servertest.FindOperation("POST", rt.Path); fmt.Sprint(op["requestBody"].(openapi.Object)["x-max-bytes"]) != fmt.Sprint(want) {
			t.Errorf("%s: the document says %v, want %d", rt.Path,
				op["requestBody"].(openapi.Object)["x-max-bytes"], want)
		}

		for extra, fits := range map[int64]bool{0: true, 1: false} {
			const start = "confirm=1&more=" // more is ignored
			r := v.Form(rt.Path)
			body := start + strings.Repeat("x", int(want+extra)-len(start))
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			if a := v.Do(r); (a.Code != 413) != fits {
				t.Errorf("%s: a form of %d bytes: %d", rt.Path, want+extra, a.Code)
			}
		}
	}
}

// TestProfilePage_RemovedOptionRemains sends back a profile whose value is no longer an option.
func TestProfilePage_RemovedOptionRemains(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	in.OpenRegistration()
	declare(in,
		`"key":"tier","title":"Tier","type":"select","options":[{"label":"Gold","value":"g"}]`)
	v := in.GuestBrowser()
	v.Register("ann", "", "fields.tier", "g").Leads(pages.AccountPath)
	in.OK("PUT", "/system/field/1", `{"options":[{"label":"Silver","value":"s"}]}`, "owner")
	v.Get(pages.ProfilePath).Brief(200, `<option value="g" selected>g</option>`)
	v.Post(pages.ProfilePath, "fields.tier", "g").Leads(pages.AccountPath + "?done=profile")
	in.OK("GET", "/user/list", "", "owner").Brief(200, `"tier":"g"`)
	v.Post(pages.ProfilePath, "fields.tier", "x").Brief(422, "Tier: must be one of the options")
}
