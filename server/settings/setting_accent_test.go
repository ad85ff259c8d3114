package settings_test

import (
	"regexp"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// TestAccent_Contrast saves accent colors, of which some are not legible.
func TestAccent_Contrast(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	save := func(name, color string) *servertest.Reply {
		return in.Call("PUT", "/system/setting", `{"values":{"site.`+name+`":"`+color+`"}}`, "owner")
	}
	for _, c := range []struct{ name, color, fault string }{
		{"accent", "#0958d9", ""},
		{"accent", "#000", ""},
		{"accent", "#7A1FA2", ""},
		{"accent", "#1677ff", "must have a contrast of at least 5.5:1 to the background #ffffff; it has 4.1:1"},
		{"accent", "#fff", "it has 1.0:1"},
		{"accent", "#0958d980", "must be a color without transparency"},
		{"accent", "red", "must be a color"},
		{"accent", "#12345", "must be a color"},
		{"accent_dark", "#8cbcff", ""},
		{"accent_dark", "#fff", ""},
		{"accent_dark", "#0958d9", "to the background #1f2227; it has 2.5:1"},
		{"accent_dark", "#000000", "it has 1.3:1"},
	} {
		a := save(c.name, c.color)
		if c.fault == "" {
			a.Brief(200)
			continue
		}
		a.Brief(422, `"values.site.`+c.name+`":"`, c.fault)
	}

	// One that is only set for light mode becomes lighter.
	save("accent", "#7a1fa2").Brief(200)
	save("accent_dark", "").Brief(200)
	in.Call("GET", "/api/home", "", "nobody").Brief(200, `"accent":"#7a1fa2"`, `"accent_dark":"#`)
	home := in.Call("GET", "/api/home", "", "nobody").Body
	derived := regexp.MustCompile(`"accent_dark": ?"(#[0-9a-f]{6})"`).FindStringSubmatch(home)
	if derived == nil {
		t.Fatal(home)
	}
	save("accent_dark", derived[1]).Brief(200)
	save("accent", "#abc").Brief(422)
	save("accent", "").Brief(200)
	save("accent_dark", "").Brief(200)
	in.Call("GET", "/api/home", "", "nobody").Brief(200, `"accent":""`, `"accent_dark":""`)

	long := strings.Repeat("x", 501)
	in.Call("PUT", "/system/setting", `{"values":{"site.sign_in_text":"`+long+`"}}`, "owner").Brief(422, `"values.site.sign_in_text":`)
	in.OK("PUT", "/system/setting", `{"values":{"site.sign_in_text":"One\n<b>two</b>"}}`, "owner")
	in.Call("GET", "/api/home", "", "nobody").Brief(200, `"sign_in_text":"One\n`)
}
