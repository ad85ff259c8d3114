package server

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"reeve/server/openapi"
)

// solvedChallenge gets a challenge and solves it as a widget does, without this package.
func (in *instance) solvedChallenge() string {
	in.t.Helper()
	c := decodeObject(in.t, in.ok("GET", "/api/challenge", "", "nobody").Body)
	for n := range 100_001 {
		sum := sha256.Sum256([]byte(fmt.Sprintf("%s%d", c["salt"], n)))
		if hex.EncodeToString(sum[:]) == c["challenge"] {
			return base64.StdEncoding.EncodeToString(encodeJSON(in.t, openapi.Object{"algorithm": "SHA-256", "challenge": c["challenge"], "number": n, "salt": c["salt"], "signature": c["signature"], "took": 7}))
		}
	}
	in.t.Fatal("there is no solution")
	return ""
}

func TestRegistration_Challenge(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("GET", "/api/challenge", "", "nobody").brief(403, `"errorCode":"challenge_off"`)
	in.ok("PUT", "/system/setting", `{"values":{"app.registration_challenge":1}}`, "owner")
	in.call("GET", "/api/challenge", "", "nobody").brief(403, `"errorCode":"challenge_off"`)
	in.openRegistration()
	a := in.ok("GET", "/api/challenge", "", "nobody")
	if strings.Contains(a.Body, "success") || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v %s", a.Header, a.Body)
	}
	register := func(name, solution string) *reply {
		return in.call("POST", "/api/register", string(encodeJSON(t, openapi.Object{"username": name, "password": "long enough it is", "altcha": solution})), "nobody")
	}
	register("ann", "").names(422, "altcha")
	register("ann", "bm9uc2Vuc2U=").names(422, "altcha")
	register("ann", strings.Repeat("A", 1025)).names(422, "altcha")
	solution := in.solvedChallenge()
	register("ann", solution).brief(200, `"token":"rv_`)
	register("ben", solution).names(422, "altcha")
	taken := in.solvedChallenge()
	register("ann", taken).brief(409, `"errors":{"username":`)
	register("cat", taken).names(422, "altcha")
	register("cat", in.solvedChallenge()).brief(200)
}
