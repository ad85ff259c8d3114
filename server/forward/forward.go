// Package forward authenticates requests to programs behind a reverse proxy, which asks at
// /auth/verify.
package forward

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"reeve/auth"
	"reeve/server/pages"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func init() {
	web.Enums(map[string][]string{
		"forward_redirect": {"", "302", "401"},
	})
}

// Forwarder answers proxies about requests to programs behind them.
type Forwarder struct{ Pages *pages.Pages }

// programs are requests to programs behind a proxy.
var programs = http.NewCrossOriginProtection()

// Forward authentication: a reverse proxy asks GET /auth/verify for each request to a program
// behind it, and passes on who is signed in. See package auth for the tokens. The routes exist only
// if origins are configured.
func Routes(f *Forwarder) []web.Route {
	return []web.Route{
		web.Raw("/auth/verify", web.Public, "Verify a forwarded request", web.AnyMedia,
			f.verifyForwarded, web.Options{
				AnyQuery: true,
				Answers:  forwardAnswers,
				Note: "For reverse proxies: they pass a request on to a program after 204, with the " +
					"headers Remote-User, Remote-Name, Remote-Email, Remote-Groups and X-Reeve-Scope. " +
					"The request is described by the headers X-Forwarded-Proto, -Host, -Uri and -Method, " +
					"and by the cookies of the browser.",
			}), // Caddy appends the query of the page
		web.Action("POST", "/auth/forward", web.SignedIn, "Open a proxied program", openForwarded,
			web.Options{
				Reveals: true,
				Keys:    web.ByNoKey,
				Note: "For the sign-in page: the browser of a signed-in user gets a URL at the program, " +
					"which finishes the sign-in there.",
			}),
		web.Raw(callbackPath, web.Public, "Finish a proxied sign-in", web.AnyMedia,
			f.finishForwarded, web.Options{
				Answers: callbackAnswers,
				Note: "Proxies pass this path of a program's origin to the server. It exchanges the code " +
					"for a cookie of the origin.",
			}),
		web.Raw(signOutPath, web.Public, "Open the page to sign out of proxied programs", web.HTMLMedia,
			f.askSignOut, web.Options{
				AnyQuery: true,
				Answers:  signOutAnswers,
				Note:     "Proxies pass this path of a program's origin to the server. The page has a button.",
			}),
		f.signOutRoute(),
	}
}

// signOutRoute returns the route with which a browser signs out. The form of a program for it may have
// no fields, and so no body.
func (f *Forwarder) signOutRoute() web.Route {
	rt := web.PageForm(signOutPath, web.Public, "Sign out of proxied programs",
		func(req *web.Request, _ *web.None, _ error, w http.ResponseWriter) error {
			return f.signOut(req, w)
		})
	form := rt.Raw
	rt.Raw = func(req *web.Request, w http.ResponseWriter) error {
		if req.HTTP.ContentLength == 0 {
			return f.signOut(req, w)
		}
		return form(req, w)
	}
	return rt.With(web.Options{
		AnyQuery: true,
		Closable: true,
		Note: "Ends the session of the user, here and for all programs, and the cookie of the origin. " +
			"A request that a page of another origin sends is rejected.",
	})
}

// Exposed returns the origins of programs that get the session cookie of this server, because
// browsers send cookies to every port of a host name.
func Exposed(f *web.Forward) []string {
	own, err := url.Parse(f.URL)
	return slices.DeleteFunc(slices.Clone(f.Origins), func(origin string) bool {
		u, err2 := url.Parse(origin)
		return err != nil || err2 != nil || !strings.EqualFold(u.Hostname(), own.Hostname())
	})
}

// forwardAnswers and callbackAnswers are the responses of the routes by status, for the OpenAPI
// document.
var (
	forwardAnswers = web.Answers{
		204: "The user is signed in and has the permissions. The headers Remote-User, Remote-Name, Remote-Email, Remote-Groups, X-Reeve-User and X-Reeve-Scope say who it is, percent-encoded",
		302: "The browser has to sign in first, at the URL in Location",
		401: "The client has to sign in first; for a browser and redirect=401, at the URL in Location",
		403: "The user does not have a permission, a page of another origin asks for a change, or the origin is not configured. For a browser that opens a page, a page in its language",
	}
	callbackAnswers = web.Answers{
		302: "The browser has a cookie for the origin, and continues with the page that it asked for; or it begins again",
		403: "The code has expired, was used already or is of another browser, or the origin is not configured. For a browser, a page with a link",
	}
)

var signOutAnswers = web.Answers{
	200: "A page: with a button that signs out, or that the user has signed out",
	403: "The origin is not configured, or a page of another origin has sent the request",
}

type verifyIn struct {
	Need     string `query:"need" check:"max=1000" doc:"Keys of permissions that are required, separated by commas; absent for none"`
	Redirect string `query:"redirect" check:"enum=forward_redirect" doc:"How browsers without a token are sent to the sign-in page: 302 by default; 401 with the header Location for nginx"`
}

// verifyForwarded answers 204 with headers about the user, 401 or a redirect to the sign-in page,
// or 403.
func (f *Forwarder) verifyForwarded(req *web.Request, in *verifyIn, w http.ResponseWriter) error {
	if err := in.checkNeed(req.HTTP.URL.Query()); err != nil {
		return err
	}

	origin, err := forwardOrigin(req)
	if err != nil {
		return err
	}

	var who *forwardedUser
	err = req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		session, err := req.Server.Auth.Forwarded(tx, readOriginCookie(req, origin, forwardCookie),
			origin)
		if err != nil {
			return err
		}
		if err := forwardedSameOrigin(req, origin); err != nil {
			return err
		}
		req.Session, req.Actor = session, session.Actor
		who, err = forwardedBy(tx, session, in.Need)
		return err
	})
	switch {
	case errs.Is(err, errs.Unauthenticated) && opensPage(req):
		return sendToSignIn(req, origin, in, w)
	case errs.Is(err, errs.Denied) && opensPage(req) && navigates(req.HTTP.Header): // older clients want JSON
		return f.showForwardFault(req, w, errs.Of(err), nil)
	case err != nil:
		return err
	}

	who.write(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// checkNeed refuses what would let everyone in by mistake: other parameters are ignored, but not a
// mistyped need, and a variable of the proxy may be empty.
func (in *verifyIn) checkNeed(query url.Values) error {
	for name, sent := range query {
		switch meant := strings.TrimSuffix(strings.ToLower(name), "s") == "need"; {
		case meant && name != "need":
			return errs.Field(errs.Malformed, name,
				"unknown parameter; the one for permissions is need")
		case meant && strings.Trim(strings.Join(sent, ""), ", ") == "":
			return errs.Field(errs.Malformed, "need",
				"names no permission; leave it out if none is needed")
		}
	}
	return nil
}

// forwardedSameOrigin returns an error for a change that a browser sends to a program for a page of
// another origin, unless the program accepts them. A WebSocket is opened with GET, and can change
// something.
func forwardedSameOrigin(req *web.Request, origin string) error {
	if slices.Contains(req.Server.Now().Forward.CrossOrigin, origin) {
		return nil
	}
	h := req.HTTP.Header
	method := web.FirstForwarded(h, "X-Forwarded-Method")
	switch {
	case h.Get("Sec-Websocket-Key") != "" || h.Get("Sec-Fetch-Mode") == "websocket":
		method = http.MethodPost
	case method == "" && h.Get("Origin") != "": // the proxy does not say; browsers send the origin with changes
		method = http.MethodPost
	}
	_, host, _ := strings.Cut(origin, "://")
	return web.CheckOrigin(programs, &http.Request{Method: method, Host: host, Header: h})
}

// forwardedUser has the values of a user for the program behind the proxy.
type forwardedUser struct {
	id                    store.ID
	username, name, email string
	groups                []string
	scope                 string
}

// forwardedBy returns the user of a session who has some permissions.
func forwardedBy(tx *store.Tx, session *auth.Session, need string) (*forwardedUser, error) {
	a := session.Actor
	if a.App {
		return nil, store.ErrSessionEnded
	}
	if blocked, err := a.Blocked(tx); err != nil || blocked {
		return nil, cmp.Or(err, error(store.ErrSessionEnded))
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

	who := &forwardedUser{
		id:       a.ID,
		username: u.Username,
		name:     u.Nickname,
		email:    u.Email,
		scope:    "all",
	}

	rules := store.PolicyCache.Get(tx)
	who.groups = rules.RoleNames(rules.EnabledRoles(a.RoleIDs))
	if scope := store.ScopeIn(tx, a); !scope.All {
		texts := make([]string, len(scope.DeptIDs))
		for i, id := range scope.DeptIDs {
			texts[i] = id.String()
		}
		who.scope = "user=" + strconv.FormatUint(uint64(a.ID), 10) + ";depts=" + strings.Join(texts, ",")
	}

	return who, nil
}

// deniedFor returns the error for a caller without a permission. An administrator who has mistyped
// its key must see that.
func deniedFor(tx *store.Tx, key string) error {
	if !store.PolicyCache.Get(tx).HasPermissionKey(key) {
		return errs.New(errs.Denied, "there is no permission %s", key)
	}
	return errs.New(errs.Denied, "permission %s is required", key)
}

// write sets the headers that proxies pass on. Values are percent-encoded UTF-8; groups are
// separated by commas.
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
