package server

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

// Forward authentication: a reverse proxy asks GET /auth/verify for each request to a program behind
// it, and passes on who is signed in. See package auth for the tokens. The routes exist only if
// origins are configured.
var forwardRoutes = []Route{
	answering(forwardAnswers, raw("/auth/verify", public, "Verify a forwarded request", anyMedia, verifyForwarded)),
	reveals(bySession(action("POST", "/auth/forward", signedIn, "Open a proxied program", openForwarded))),
	answering(callbackAnswers, raw(callbackPath, public, "Finish a proxied sign-in", anyMedia, finishForwarded)),
}

// Forward configures forward authentication.
type Forward struct {
	URL     string   // public URL of this server, like https://reeve.example.org
	Origins []string // origins of the programs, like https://app.example.org
}

// exposed returns the origins of programs that get the session cookie of this server, because browsers send cookies to
// every port of a host name.
func (f *Forward) exposed() []string {
	own, err := url.Parse(f.URL)
	return slices.DeleteFunc(slices.Clone(f.Origins), func(origin string) bool {
		u, err2 := url.Parse(origin)
		return err != nil || err2 != nil || !strings.EqualFold(u.Hostname(), own.Hostname())
	})
}

// forwardAnswers and callbackAnswers are the responses of the routes by status, for the OpenAPI document.
var (
	forwardAnswers = answers{
		204: "The user is signed in and has the permissions. The headers Remote-User, Remote-Name, Remote-Email, Remote-Groups, X-Reeve-User and X-Reeve-Scope say who it is, percent-encoded",
		302: "The browser has to sign in first, at the URL in Location",
		401: "The client has to sign in first; for a browser and redirect=401, at the URL in Location",
		403: "The user does not have a permission, or the origin is not configured",
	}
	callbackAnswers = answers{
		302: "The browser has a cookie for the origin, and continues with the page that it asked for",
		403: "The code has expired, was used already or is of another browser, or the origin is not configured",
	}
)

// Cookies on the origin of a program.
const (
	forwardCookie = "reeve-forward"
	stateCookie   = "reeve-state"
	stateLife     = 10 * 60 // seconds
)

// originCookie returns the name of a cookie on an origin. Browsers accept the prefix only from the host
// itself, over HTTPS. The port is in the name, since browsers share cookies between the ports of a host.
func originCookie(origin, name string) string {
	scheme, host, _ := strings.Cut(origin, "://")
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name += "-" + host[i+1:]
	}
	if scheme == "https" {
		return "__Host-" + name
	}
	return name
}

func setOriginCookie(w http.ResponseWriter, origin, name, value string, seconds int) {
	http.SetCookie(w, hiddenCookie(originCookie(origin, name), value, seconds, strings.HasPrefix(origin, "https://")))
}

func (req *Request) originCookie(origin, name string) string {
	c, err := req.http.Cookie(originCookie(origin, name))
	if err != nil {
		return ""
	}
	return c.Value
}

// forwardOrigin returns the origin of the request that a proxy has received, if it is configured.
func (req *Request) forwardOrigin() (string, error) {
	h := req.http.Header
	origin := strings.ToLower(h.Get("X-Forwarded-Proto") + "://" + h.Get("X-Forwarded-Host"))
	for _, known := range req.s.config.Forward.Origins {
		if known == origin {
			return known, nil
		}
	}
	return "", errs.New(errs.Denied, "the origin %s is not in forward_auth.origins of the configuration", truncate(origin, 200)).Coded("unknown_origin")
}

type verifyIn struct {
	Need     string `query:"need" check:"max=1000" doc:"Keys of permissions that are required, separated by commas; absent for none"`
	Redirect string `query:"redirect" check:"enum=forward_redirect" doc:"How browsers without a token are sent to the sign-in page: 302 by default; 401 with the header Location for nginx"`
}

// verifyForwarded answers 204 with headers about the user, 401 or a redirect to the sign-in page, or 403.
func verifyForwarded(req *Request, in *verifyIn, w http.ResponseWriter) error {
	if sent, ok := req.http.URL.Query()["need"]; ok && strings.Trim(strings.Join(sent, ""), ", ") == "" {
		return errs.Field(errs.Malformed, "need", "names no permission; leave it out if none is needed") // a variable of the proxy may be empty
	}
	origin, err := req.forwardOrigin()
	if err != nil {
		return err
	}
	var who *forwardedUser
	err = req.db.View(store.Anonymous, func(tx *store.Tx) error {
		session, err := req.s.auth.Forwarded(tx, req.originCookie(origin, forwardCookie), origin)
		if err != nil {
			return err
		}
		req.Session, req.Actor = session, session.Actor
		who, err = forwardedBy(tx, session, in.Need)
		return err
	})
	if errs.Is(err, errs.Unauthenticated) {
		return req.sendToSignIn(origin, in, w, err)
	}
	if err != nil {
		return err
	}
	who.write(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// forwardedUser is what the program behind the proxy learns about a user.
type forwardedUser struct {
	id                    store.ID
	username, name, email string
	groups                []string
	scope                 string
}

// forwardedBy returns the user of a session who has some permissions.
func forwardedBy(tx *store.Tx, session *auth.Session, need string) (*forwardedUser, error) {
	a := session.Actor
	if a.App || a.MustChange || a.MustAddFactor(tx) {
		return nil, store.ErrSessionEnded
	}
	for key := range strings.SplitSeq(need, ",") {
		if key = strings.TrimSpace(key); key != "" && !a.HasPermission(tx, key) {
			return nil, deniedFor(tx, key)
		}
	}
	u, err := store.Users.Get(tx, a.ID)
	if err != nil {
		return nil, err
	}
	who := &forwardedUser{id: a.ID, username: u.Username, name: u.Nickname, email: u.Email, scope: "all"}
	rules := store.PolicyCache.Get(tx)
	for _, id := range rules.EnabledRoles(a.RoleIDs) {
		who.groups = append(who.groups, rules.RoleName(id))
	}
	if scope := scopeIn(tx, a); !scope.All {
		texts := make([]string, len(scope.DeptIDs))
		for i, id := range scope.DeptIDs {
			texts[i] = id.String()
		}
		who.scope = "user=" + strconv.FormatUint(uint64(a.ID), 10) + ";depts=" + strings.Join(texts, ",")
	}
	return who, nil
}

// deniedFor returns the error for a caller without a permission. Whoever has mistyped its key must see that.
func deniedFor(tx *store.Tx, key string) error {
	if !store.PolicyCache.Get(tx).HasPermissionKey(key) {
		return errs.New(errs.Denied, "there is no permission %s", key)
	}
	return errs.New(errs.Denied, "permission %s is required", key)
}

// write sets the headers that proxies pass on. Values are percent-encoded UTF-8; groups are separated by
// commas.
func (u *forwardedUser) write(h http.Header) {
	groups := make([]string, len(u.groups))
	for i, name := range u.groups {
		groups[i] = url.PathEscape(name)
	}
	h.Set("Remote-User", url.PathEscape(u.username))
	h.Set("Remote-Name", url.PathEscape(u.name))
	h.Set("Remote-Email", url.PathEscape(u.email))
	h.Set("Remote-Groups", strings.Join(groups, ","))
	h.Set("X-Reeve-User", u.id.String())
	h.Set("X-Reeve-Scope", u.scope)
}

// sendToSignIn answers a request without a valid token. Only a browser that opens a page is redirected;
// what comes back is bound to it by a state.
func (req *Request) sendToSignIn(origin string, in *verifyIn, w http.ResponseWriter, why error) error {
	h := req.http.Header
	if method := h.Get("X-Forwarded-Method"); method != "" && method != http.MethodGet || !strings.Contains(h.Get("Accept"), "text/html") {
		return why
	}
	state := req.originCookie(origin, stateCookie)
	if !auth.IsForwardState(state) {
		state = auth.NewForwardState()
	}
	setOriginCookie(w, origin, stateCookie, state, stateLife)
	to := localPath(h.Get("X-Forwarded-Uri"))
	query := url.Values{"origin": {origin}, "to": {to}, "state": {auth.HashState(state)}}
	w.Header().Set("Location", req.s.config.Forward.URL+"/console/open?"+query.Encode())
	w.Header().Set("Cache-Control", "no-store")
	if in.Redirect == "401" {
		w.WriteHeader(http.StatusUnauthorized)
	} else {
		w.WriteHeader(http.StatusFound)
	}
	return nil
}

// localPath returns a path on the same origin: text, or / if it would lead elsewhere.
func localPath(text string) string {
	if len(text) > 2000 || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\") {
		return "/"
	}
	for _, r := range text {
		if r < ' ' || r == 0x7f {
			return "/"
		}
	}
	return text
}

type openForwardedIn struct {
	Origin string `json:"origin" check:"required,max=255" doc:"Origin of the program, from the address of this page"`
	To     string `json:"to" check:"max=2000" doc:"Path to open there, from the address of this page"`
	State  string `json:"state" check:"required,min=64,max=64" doc:"Hash that binds the sign-in to the browser, from the address of this page"`
}

type openForwardedOut struct {
	URL string `json:"url" doc:"Where to send the browser within a minute; it can be used once"`
}

// openForwarded returns the URL with which the browser of a signed-in user opens a program behind a proxy.
func openForwarded(req *Request, in *openForwardedIn) (*openForwardedOut, error) {
	if !slices.Contains(req.s.config.Forward.Origins, in.Origin) {
		return nil, errs.Field(errs.Invalid, "origin", "the origin %s is not in forward_auth.origins of the configuration", in.Origin)
	}
	code, err := req.s.auth.NewForwardCode(req.Session, in.Origin, in.State)
	if err != nil {
		return nil, err
	}
	query := url.Values{"code_token": {code}, "to": {localPath(in.To)}}
	return &openForwardedOut{in.Origin + callbackPath + "?" + query.Encode()}, nil
}

// callbackPath is the path that proxies pass to this server on the origins of programs.
const callbackPath = "/.reeve/callback"

type finishIn struct {
	Code string `query:"code_token" check:"required,max=100" doc:"Code from POST /auth/forward"`
	To   string `query:"to" check:"max=2000" doc:"Path to open"`
}

// finishForwarded exchanges a code for the cookie of an origin, and opens the page that was asked for.
func finishForwarded(req *Request, in *finishIn, w http.ResponseWriter) error {
	origin, err := req.forwardOrigin()
	if err != nil {
		return err
	}
	var token string
	err = req.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		token, err = req.auth().ExchangeForwardCode(tx, in.Code, origin, req.originCookie(origin, stateCookie))
		return err
	})
	if err != nil {
		return err
	}
	setOriginCookie(w, origin, stateCookie, "", -1)
	setOriginCookie(w, origin, forwardCookie, token, 0)
	w.Header().Set("Location", localPath(in.To))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
	return nil
}
