package reeve

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Device is a client that a program signs in, such as a browser. Every step of a sign-in needs the same
// values.
type Device struct {
	Address   string // IP address, such as Request.RemoteAddr
	UserAgent string // header User-Agent, for the browser and system of the session; "" if unknown
	Token     string // DeviceToken of an earlier sign-in; "" for none
	Language  string // header Accept-Language, for the language of a mail and of errors; "" for English
}

// From returns a client that passes on the address of the one for whom the program asks, such as
// Request.RemoteAddr. Use it for SignIn: the limit of failed attempts by address is otherwise one
// for all people who sign in through the program, so that one who guesses passwords slows everyone
// down. Reeve takes the address of app users who sign in from keys with the permission auth.login, and
// all addresses from programs in its server.trusted_proxies.
func (c *Client) From(address string) *Client {
	other := *c
	other.device.Address = address
	return &other
}

// FromDevice is From with everything that is known of the one for whom the program asks.
func (c *Client) FromDevice(d Device) *Client {
	other := *c
	other.device = d
	return &other
}

// Session is the result of a sign-in, or of its first step.
type Session struct {
	Token              string    `json:"token"` // token of the session; "" in the first step of two
	ExpiresAt          time.Time `json:"expires_at"`
	MustChangePassword int       `json:"must_change_password"` // 1 if the password must be changed first: PUT /admin/password
	DeviceToken        string    `json:"device_token"`         // send it with the next sign-in, so that failed attempts of others do not lock this device out

	LoginToken string   `json:"login_token"` // token for CompleteSignIn, if the user has a second factor; "" otherwise
	Methods    []string `json:"methods"`     // methods that complete the sign-in, the strongest first: passkey, otp or recovery
}

// SignIn signs a user of a realm in with a password. A wrong one is an *Error with Status 401. If the user
// has a second factor, the session has a LoginToken for CompleteSignIn.
//
// Browsers can sign in without the program seeing the password, see Protect. A program that signs
// others in passes on their address:
//
//	client = client.FromDevice(reeve.Device{Address: r.RemoteAddr, UserAgent: r.UserAgent()})
//	session, err := client.SignIn(ctx, reeve.App, username, password)
func (c *Client) SignIn(ctx context.Context, realm, username, password string) (*Session, error) {
	s := new(Session)
	return s, c.login(ctx, realm, "", map[string]string{"username": username, "password": password}, s)
}

// CompleteSignIn completes a sign-in that has a LoginToken, within 5 minutes and for the same device, with a
// code of the user's authenticator app or a recovery code:
//
//	if err == nil && session.LoginToken != "" {
//		session, err = client.CompleteSignIn(ctx, reeve.App, session.LoginToken, code)
//	}
//
// The Code of the *Error is wrong_code, or sign_in_again if the sign-in has to begin again.
func (c *Client) CompleteSignIn(ctx context.Context, realm, loginToken, code string) (*Session, error) {
	s := new(Session)
	return s, c.login(ctx, realm, "/totp", map[string]string{"login_token": loginToken, "otp": code}, s)
}

// CodeRequest is the result of a request for a code.
type CodeRequest struct {
	LoginToken string    `json:"login_token"` // token for SignInWithCode
	ExpiresAt  time.Time `json:"expires_at"`
}

// RequestSignInCode mails an app user a code to sign in. The result is the same if there is no such user. The
// Code of the *Error is code_sign_in_off without the setting app.code_sign_in, and mail_off if the server does
// not send mail.
func (c *Client) RequestSignInCode(ctx context.Context, username string) (*CodeRequest, error) {
	r := new(CodeRequest)
	return r, c.login(ctx, App, "/email", map[string]string{"username": username}, r)
}

// SignInWithCode signs an app user in with a code that was mailed, as SignIn does with a password. It is for the
// device of RequestSignInCode:
//
//	request, err := client.RequestSignInCode(ctx, email)
//	session, err := client.SignInWithCode(ctx, request.LoginToken, code)
//
// The Code of the *Error is wrong_code, or code_again if another code has to be requested.
func (c *Client) SignInWithCode(ctx context.Context, loginToken, code string) (*Session, error) {
	s := new(Session)
	return s, c.login(ctx, App, "/email-code", map[string]string{"login_token": loginToken, "otp": code}, s)
}

// login carries out a step of a sign-in: with the key of the program if it has one and passes on an address,
// or else as the device itself would.
func (c *Client) login(ctx context.Context, realm, step string, in map[string]string, out any) error {
	if c.device.Token != "" {
		in["device_token"] = c.device.Token
	}
	if realm == App && c.key != "" && c.device.Address != "" {
		in["address"], in["user_agent"] = hostOf(c.device.Address), c.device.UserAgent
		program := c.FromDevice(Device{Language: c.device.Language})
		err := program.Call(ctx, http.MethodPost, "/auth/login"+step, in, out)
		failed, ok := err.(*Error)
		if !ok || failed.Code != "denied" && failed.Code != "not_found" {
			return err
		}
		delete(in, "address")
		delete(in, "user_agent")
		if c.warned.now() {
			cause := "the key lacks the permission auth.login"
			if failed.Code == "not_found" {
				cause = "the server is older than 0.16"
			}
			c.logger.Warn("reeve: " + cause + ", so the address of the client counts only if this program is in server.trusted_proxies")
		}
	}

	err := c.As("").Call(ctx, http.MethodPost, realmPath(realm)+"/login"+step, in, out)
	if failed, ok := err.(*Error); ok && failed.Code == "not_found" {
		failed.Message = "the server is too old: it has no such sign-in"
	}
	return err
}

// SignOut ends the session of the token with which the client was made, see As. One that has ended
// already is no error.
func (c *Client) SignOut(ctx context.Context, realm string) error {
	err := c.Call(ctx, http.MethodPost, realmPath(realm)+"/logout", nil, nil)
	if failed, ok := err.(*Error); ok && failed.Status == http.StatusUnauthorized {
		return nil
	}
	return err
}

// hostOf returns an address without a port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
