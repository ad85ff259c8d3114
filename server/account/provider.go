package account

import (
	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
)

// ArrivalCookie begins the name of the cookie with the token of an arrival, see auth.Arrival and
// web.Request.KeepForProvider.
const ArrivalCookie = "reeve_arrival"

// LoginArrival completes the sign-in of a browser that has come back from a sign-in provider. That its
// cookie is there shows that the browser has begun it.
func LoginArrival(req *web.Request, app bool, cookie store.Flag, device string) (*LoginOut, error) {
	token, name := req.KeptForProvider(ArrivalCookie)
	out, err := completeLogin(req, app, cookie, device, func(a *auth.Attempt) (*auth.Grant, string, error) {
		return req.Auth().LoginArrival(a, token)
	})
	if err == nil {
		req.DropCookie(name)
	}
	return out, err
}
