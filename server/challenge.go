package server

import (
	"reflect"

	"reeve/auth"
)

var challengeRoutes = []Route{
	closable(rateLimited(following(&altcha, "GET", "/api/challenge", public, "Get a registration challenge", registrationChallenge))),
}

// altcha is the format of challenges of ALTCHA, version 1, which the widgets of ALTCHA read. It defines no
// errors.
var altcha = protocol{name: "ALTCHA", failed: reflect.TypeFor[failure](), failure: formPage.failure}

func registrationChallenge(req *Request, _ *none) (*auth.Challenge, error) {
	return req.auth().Challenge(attempt(req, true, "", ""))
}
