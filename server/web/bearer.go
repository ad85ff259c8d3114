package web

import (
	"strings"

	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

// authenticate returns the session of the token in the header, or else in the cookie. It is nil if
// the route has none, or needs none and none was sent.
func (req *Request) authenticate(tx *store.Tx, rt *Route) (*auth.Session, error) {
	token, sent := req.bearer()
	if !sent && rt.ClientCredentials {
		if token, sent = req.client(); sent && token == "" {
			return nil, errClient
		}
	}
	if !sent && rt.Access != MetricsToken {
		if session, err := req.byCookie(tx, rt); err != nil || session != nil ||
			rt.Access == AnyRealm {
			return session, err
		}
	}
	if token == "" {
		return nil, errs.New(errs.Unauthenticated,
			"sign in: the header `Authorization: Bearer <token>` is missing")
	}
	if rt.Access == MetricsToken {
		return nil, req.Server.AdmitMetrics(token)
	}

	session, err := req.Server.Auth.Authenticate(tx, token, req.Addr)
	if err == nil && rt.Access != AnyRealm && session.Actor.App != (rt.Access == AppOnly) {
		err = errOtherRealm
	}

	return session, err
}

var errOtherRealm = errs.New(errs.Unauthenticated,
	"this token is for the other API: users sign in at /admin/login, app users at /api/login")

// bearer returns the token in the header Authorization. sent reports whether the header is for this
// server, even without a token that can be used. Another scheme is for a proxy in front: browsers
// send it with every request to the origin. One with a token of this server is a mistake of the
// client.
func (req *Request) bearer() (token string, sent bool) {
	for _, value := range req.HTTP.Header["Authorization"] {
		value = strings.TrimSpace(value)
		scheme, rest, _ := strings.Cut(value, " ")
		if strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(rest), true
		}
		for word := range strings.FieldsSeq(value) {
			sent = sent || auth.IsToken(word)
		}
	}
	return "", sent
}

// SendsToken reports whether the client sends its token in the header, not in a cookie.
func (req *Request) SendsToken() bool {
	_, sent := req.bearer()
	return sent
}
