package web

import (
	"mime"

	"reeve/auth"
	"reeve/store/errs"
)

// Clients of OAuth 2.0 name themselves by Basic authentication or in the form (RFC 6749, 2.3.1),
// and token introspection leaves open how (RFC 7662, 2.1). The secret is an API key; the name of
// the client is ignored.

// readClient reads the form before the request is authenticated, if the credential can be in it.
func (req *Request) readClient() error {
	if _, _, basic := req.HTTP.BasicAuth(); basic || req.SendsToken() {
		return nil
	}
	if media, _, err := mime.ParseMediaType(req.HTTP.Header.Get("Content-Type")); err != nil ||
		media != FormMedia {
		return nil // refused after the request is authenticated
	}
	form, err := req.readForm()
	req.clientForm = form
	return err
}

// client returns the API key that a client sends as its secret. sent reports whether it tries to.
func (req *Request) client() (key string, sent bool) {
	_, key, sent = req.HTTP.BasicAuth()
	if !sent {
		key, sent = req.clientForm.Get("client_secret"), req.clientForm.Has("client_secret")
	}
	if !auth.IsKey(key) { // nor a token of a session
		key = ""
	}
	return key, sent
}

var errClient = errs.New(errs.Unauthenticated, "the secret of the client must be an API key")

// challenge returns how a client can authenticate itself after 401.
func (req *Request) challenge() []string {
	if req.byClientSecret() {
		return []string{`Basic realm="Reeve"`}
	}
	return []string{"Bearer"}
}

// byClientSecret reports whether the client has to send its secret, or a right one, instead of a
// token.
func (req *Request) byClientSecret() bool {
	return req.Route != nil && req.Route.ClientCredentials && !req.SendsToken()
}
