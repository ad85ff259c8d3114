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

// CheckElsewhere calls check, which has a sign-in provider compare the password of a person with a
// username, within the limits of sign-ins, see auth.Auth.CheckElsewhere.
func CheckElsewhere(req *web.Request, app, signsIn bool, v *store.Provider, username string,
	check func() (known string, err error)) error {
	a := attempt(req, app, username, "")
	a.Provider = v.Title
	err := req.Auth().CheckElsewhere(&a, v.ID, signsIn, check)
	if err != nil && signsIn {
		a.Username = "" // is one at the provider, not of an account here
		_, err = granted(req, a, false, nil, err)
	}
	return err
}
