package account_test

import (
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/servertest"
)

func TestRegistration_Challenge(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Call("GET", "/api/challenge", "", "nobody").Brief(403, `"errorCode":"challenge_off"`)
	in.OK("PUT", "/system/setting", `{"values":{"app.registration_challenge":1}}`, "owner")
	in.Call("GET", "/api/challenge", "", "nobody").Brief(403, `"errorCode":"challenge_off"`)
	in.OpenRegistration()
	a := in.OK("GET", "/api/challenge", "", "nobody")
	if strings.Contains(a.Body, "success") || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v %s", a.Header, a.Body)
	}

	register := func(name, solution string) *servertest.Reply {
		return in.Call("POST", "/api/register",
			string(servertest.EncodeJSON(t, openapi.Object{
				"username": name,
				"password": "long enough it is",
				"altcha":   solution,
			})), "nobody")
	}
	register("ann", "").Names(422, "altcha")
	register("ann", "bm9uc2Vuc2U=").Names(422, "altcha")
	register("ann", strings.Repeat("A", 1025)).Names(422, "altcha")
	solution := in.SolvedChallenge()
	register("ann", solution).Brief(200, `"token":"rv_`)
	register("ben", solution).Names(422, "altcha")
	taken := in.SolvedChallenge()
	register("ann", taken).Brief(409, `"errors":{"username":`)
	register("cat", taken).Names(422, "altcha")
	register("cat", in.SolvedChallenge()).Brief(200)
}
