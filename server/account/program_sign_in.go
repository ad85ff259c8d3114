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
		web.Action("POST", "/auth/login/email", "auth.login", "Request a code to sign in for a program",
			requestCodeByProgram, web.Options{
				Reveals:     true,
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Hidden:      redact.Fields{Usernames: true},
				Note: "What POST /api/login/email does, for the client at an address. The mail is in the language " +
					"of your header Accept-Language: send that of the client.",
			}),
		web.Action("POST", "/auth/login/email-code", "auth.login",
			"Sign in with a code by email for a program", mailedByProgram, web.Options{
				Reveals:     true,
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Note: "What POST /api/login/email-code does: with the login_token of POST /auth/login/email, and " +
					"the address, user agent and device token that were sent there. If the response has a " +
					"login_token, POST /auth/login/totp completes the sign-in.",
			}),
	}
}

// clientIn is the client that signs in through a program.
type clientIn struct {
	Address   string `json:"address" check:"required,max=45,text" doc:"Address of the client, IPv4 or IPv6"`
	UserAgent string `json:"user_agent" check:"max=2000,text" doc:"User agent of the client, whose browser and system are shown with the session; the first 512 bytes count"`
}

// attempt returns an attempt of the client.
func (c *clientIn) attempt(req *web.Request, username, password, device string) (a auth.Attempt, err error) {
	addr, err := netip.ParseAddr(c.Address)
	if err != nil || addr.IsUnspecified() || addr.IsMulticast() {
		return a, errs.Field(errs.Invalid, "address", "must be an IP address, such as 192.0.2.7")
	}
	a = attempt(req, true, username, password)
	a.Addr, a.UserAgent, a.Device = addr.Unmap().WithZone(""), web.Truncate(c.UserAgent, 512), device
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

// programStep is what a later step of a sign-in has besides the code.
type programStep struct {
	Token  string `json:"login_token" check:"required,max=3500" doc:"login_token from the response to the previous step"`
	Device string `json:"device_token" check:"max=64" doc:"device_token of the previous step"`
	clientIn
}

// complete runs a step that does not name the app user.
func (s *programStep) complete(req *web.Request, code string,
	login func(a auth.Attempt, token, code string) (*auth.Grant, string, error)) (*LoginOut, error) {
	a, err := s.attempt(req, "", "", s.Device)
	if err != nil {
		return nil, err
	}
	grant, username, err := login(a, s.Token, code)
	if username == "" {
		return nil, err // it is not known whose sign-in it is
	}
	a.Username = username
	return reported(req, a, grant, err)
}

type programCodeIn struct {
	programStep
	Code string `json:"otp" check:"required,max=40,text" doc:"Code of the authenticator app, or a recovery code"`
}

func codeByProgram(req *web.Request, in *programCodeIn) (*LoginOut, error) {
	return in.complete(req, in.Code, req.Auth().LoginCode)
}

type programCodeRequestIn struct {
	Username string `json:"username" check:"required,max=254" doc:"Username, verified e-mail address, or mobile number that no other app user has"`
	Device   string `json:"device_token" check:"max=64" doc:"device_token from the response to an earlier sign-in of the client; the same is to be sent with the code"`
	clientIn
}

func requestCodeByProgram(req *web.Request, in *programCodeRequestIn) (*CodeRequestOut, error) {
	a, err := in.attempt(req, in.Username, "", in.Device)
	if err != nil {
		return nil, err
	}
	return requestCode(req, a)
}

type programMailCodeIn struct {
	programStep
	Code string `json:"otp" check:"required,max=40,text" doc:"Code from the mail; it works once"`
}

func mailedByProgram(req *web.Request, in *programMailCodeIn) (*LoginOut, error) {
	return in.complete(req, in.Code, req.Auth().LoginMailed)
}
