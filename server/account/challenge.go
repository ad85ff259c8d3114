package account

import (
	"reflect"

	"reeve/auth"
	"reeve/server/web"
)

func ChallengeRoutes() []web.Route {
	return []web.Route{
		web.Following(&altcha, "GET", "/api/challenge", web.Public, "Get a registration challenge",
			registrationChallenge, web.Options{
				Closable:    true,
				RateLimited: true,
				Note: "A proof of work in the format of ALTCHA, which its widgets solve: find the number " +
					"from 0 to maxnumber whose SHA-256 with the salt is the challenge. Valid for 10 " +
					"minutes and one registration. 403 unless the settings app.registration and " +
					"app.registration_challenge are on.",
			}),
	}
}

// altcha is the format of challenges of ALTCHA, version 1, which the widgets of ALTCHA read. It
// defines no errors.
var altcha = web.Protocol{
	Name:    "ALTCHA",
	Failed:  reflect.TypeFor[web.Failure](),
	Failure: web.FormPage.Failure,
}

func registrationChallenge(req *web.Request, _ *web.None) (*auth.Challenge, error) {
	return req.Auth().Challenge(attempt(req, true, "", ""))
}
