package web_test

import (
	"testing"

	"reeve/server/servertest"
	"reeve/server/web"
)

// TestHosts_PublicURL expects answers under the names of the configuration, addresses and names
// that no other site can have, and at /health under any.
func TestHosts_PublicURL(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.AllowedHosts = []string{"Intern.Example.net"}
	})
	for host, code := range map[string]int{
		"reeve.example.org": 200, "REEVE.example.org:443": 200, "reeve.example.org.": 200,
		"intern.example.net:8080": 200,
		"127.0.0.1:8080":          200, "10.1.2.3": 200, "[::1]:8080": 200, "[fe80::1]": 200,
		"localhost:8080": 200, "a.localhost": 200, "reeve": 200, "reeve:8080": 200, "": 200,
		"evil.example": 400, "reeve.example.org.evil.example": 400, "xreeve.example.org": 400,
		"127.0.0.1.evil.example:8080": 400, "a b.c": 400, "..": 400,
	} {
		r := in.Request("GET", "/api/home", "", "nobody")
		r.Host = host
		if a := in.Send(r); a.Code != code {
			t.Errorf("%q: %d %s", host, a.Code, a.Body)
		} else if code == 400 {
			a.Brief(400, `"errorCode":"unknown_host"`)
		}
		r = in.Request("GET", "/health", "", "nobody")
		r.Host = host
		if a := in.Send(r); a.Code != 200 {
			t.Errorf("health at %q: %d", host, a.Code)
		}
	}

	open := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.PublicURL, su.Config.Forward = "", web.Forward{}
	})
	r := open.Request("GET", "/api/home", "", "nobody")
	if r.Host = "any.example"; open.Send(r).Code != 200 {
		t.Error("without a public URL, a name is refused")
	}
}
