package account

import (
	"reflect"

	"reeve/auth"
	"reeve/server/web"
)

func ChallengeRoutes() []web.Route {
	return []web.Route{
		web.Following(&altcha, "GET", "/api/challenge", web.Public, "Get a registration challenge", registrationChallenge, web.Options{Closable: true, RateLimited: true}),
	}
}

// altcha is the format of challenges of ALTCHA, version 1, which the widgets of ALTCHA read. It defines no
// errors.
var altcha = web.Protocol{Name: "ALTCHA", Failed: reflect.TypeFor[web.Failure](), Failure: web.FormPage.Failure}

func registrationChallenge(req *web.Request, _ *web.None) (*auth.Challenge, error) {
	return req.Auth().Challenge(attempt(req, true, "", ""))
}
