package account

import (
	"net/netip"

	"reeve/auth"
	"reeve/server/redact"
	"reeve/server/web"
	"reeve/store/errs"
)

// A program with a sign-in form of its own, such as a shop, signs its customers in from its server. It
// says where each of them is, so that the limits by address hold for them one by one.

func ProgramSignInRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/auth/login", "auth.login", "Sign in an app user for a program",
			loginByProgram, web.Options{
				Reveals:     true,
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Hidden:      redact.Fields{Usernames: true},
				Note: "What POST /api/login does, for the client at an address instead of your own: the limits by " +
					"address, the session, the device and the sign-in log have that address. The limits by username stay.",
			}),
		web.Action("POST", "/auth/login/totp", "auth.login", "Complete a sign-in with a code for a program",
			codeByProgram, web.Options{
				Reveals:     true,
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Note: "The second step, as POST /api/login/totp: with the address, user agent and device token " +
					"of the first.",
			}),
	}
}

// clientIn is the client that signs in through a program.
type clientIn struct {
	Address   string `json:"address" check:"required,max=45,text" doc:"Address of the client, IPv4 or IPv6"`
	UserAgent string `json:"user_agent" check:"max=512,text" doc:"User agent of the client, whose browser and system are shown with the session"`
}

// attempt returns an attempt of the client.
func (c *clientIn) attempt(req *web.Request, username, password, device string) (a auth.Attempt, err error) {
	addr, err := netip.ParseAddr(c.Address)
	if err != nil || addr.IsUnspecified() || addr.IsMulticast() {
		return a, errs.Field(errs.Invalid, "address", "must be an IP address, such as 192.0.2.7")
	}
	a = attempt(req, true, username, password)
	a.Addr, a.UserAgent, a.Device = addr.Unmap().WithZone(""), c.UserAgent, device
	a.AddressFull = nil // the program is not what guesses
	a.Program = c.UserAgent == ""
	return a, nil
}

type programLoginIn struct {
	Username string `json:"username" check:"required,max=254" doc:"Username, verified e-mail address, or mobile number that no other app user has"`
	Password string `json:"password" check:"required,raw,max=1024"`
	Device   string `json:"device_token" check:"max=64" doc:"device_token from the response to an earlier sign-in of the client"`
	clientIn
}

func loginByProgram(req *web.Request, in *programLoginIn) (*LoginOut, error) {
	a, err := in.attempt(req, in.Username, in.Password, in.Device)
	if err != nil {
		return nil, err
	}
	grant, err := req.Auth().Login(a)
	return reported(req, a, grant, err)
}

type programCodeIn struct {
	Token  string `json:"login_token" check:"required,max=100" doc:"login_token from the response to the first step"`
	Code   string `json:"otp" check:"required,max=40,text" doc:"Code of the authenticator app, or a recovery code"`
	Device string `json:"device_token" check:"max=64" doc:"device_token of the first step"`
	clientIn
}

func codeByProgram(req *web.Request, in *programCodeIn) (*LoginOut, error) {
	a, err := in.attempt(req, "", "", in.Device)
	if err != nil {
		return nil, err
	}
	grant, username, err := req.Auth().LoginCode(a, in.Token, in.Code)
	if username == "" {
		return nil, err // it is not known whose sign-in it is
	}
	a.Username = username
	return reported(req, a, grant, err)
}
