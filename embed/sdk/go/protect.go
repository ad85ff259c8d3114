package reeve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Caller is who has sent a request to the program.
type Caller struct {
	ID       int64 // ID of the user or app user; for an API key, of its owner
	Username string
	Realm    string // Admin or App

	Name, Email string   // display name and e-mail address; only of browsers that have signed in
	Groups      []string // names of the enabled roles; only of browsers that have signed in

	KeyID   int64  // ID of the API key; 0 if there is none
	KeyName string // name of the API key
	Scope   *Scope // data scope; nil for app users
}

type callerKey struct{}

// permissionForm and maxPermission, in bytes, are Reeve's rule for keys of permissions.
var permissionForm = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){0,4}$`)

const maxPermission = 100

// maxToken is the length of the longest token that Reeve checks.
const maxToken = 4000

// CallerOf returns the caller of a request that Protect or ProtectApp has let through, nil for
// others.
func CallerOf(ctx context.Context) *Caller {
	caller, _ := ctx.Value(callerKey{}).(*Caller)
	return caller
}

// Protect returns a middleware that lets users of the backend and API keys through that have all of
// some permissions: those with the header Authorization, and browsers that have signed in at Reeve
// if Options.Origin is set. Browsers that open a page without having signed in are sent to the
// sign-in page; other requests get 401, and 403 without a permission. Reeve is asked for every
// request, so that changes of users and permissions count at once; while it can't be reached, the
// answer is 503.
//
// The key of the client needs the permission auth.check. Origin must be among forward_auth.origins
// in the configuration of Reeve, and CallbackPath must lead to Callback. Protect panics if a text
// is not the key of a permission: 1 to 5 segments such as orders or shop.order.refund.
func (c *Client) Protect(permissions ...string) func(http.Handler) http.Handler {
	return c.protect(Admin, permissions)
}

func (c *Client) protect(realm string, permissions []string) func(http.Handler) http.Handler {
	for _, permission := range permissions {
		if len(permission) > maxPermission || !permissionForm.MatchString(permission) {
			panic("reeve: not the key of a permission: " + permission)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.origin != nil && realm == Admin && r.URL.Path == CallbackPath { // of a router all of whose routes are protected
				c.Callback().ServeHTTP(w, r)
				return
			}
			if c.origin != nil && realm == Admin && r.URL.Path == SignOutPath {
				c.SignOutPage().ServeHTTP(w, r)
				return
			}
			if c.origin != nil && realm == App && r.URL.Path == AppCallbackPath {
				c.AppCallback().ServeHTTP(w, r)
				return
			}
			caller := c.caller(w, r, realm, permissions)
			if caller != nil {
				next.ServeHTTP(w,
					r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
			}
		})
	}
}

// caller returns the caller of a request; nil if it has answered the request.
func (c *Client) caller(w http.ResponseWriter, r *http.Request, realm string,
	permissions []string) *Caller {
	ctx, cancel := context.WithTimeout(r.Context(), c.timeout) // all attempts
	defer cancel()
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return c.callerByToken(ctx, w, strings.TrimSpace(token), realm, permissions, unauthorized)
	}
	switch {
	case c.origin == nil:
		unauthorized(w)
		return nil
	case realm == App:
		return c.appCaller(ctx, w, r, permissions)
	}
	return c.callerByCookie(ctx, w, r, permissions)
}

// callerByToken returns the caller with a token. anonymous answers the request if it is not valid.
func (c *Client) callerByToken(ctx context.Context, w http.ResponseWriter, token, realm string,
	permissions []string, anonymous func(http.ResponseWriter)) *Caller {
	if token == "" || len(token) > maxToken {
		anonymous(w)
		return nil
	}

	check, err := c.Check(ctx, token, permissions...)
	if err != nil {
		c.refuseFailed(ctx, w, err)
		return nil
	}
	if check.Allowed == nil {
		c.refuseFailed(ctx, w,
			fmt.Errorf("reeve: POST /auth/check: %s answers in another form than expected; is the URL right?", c.url))
		return nil
	}

	u := check.User
	if !check.Active || u == nil || u.Realm != realm {
		anonymous(w)
		return nil
	}

	for _, permission := range permissions {
		if slices.Contains(check.Unknown, permission) {
			refuse(w, http.StatusForbidden, "there is no permission "+permission)
			return nil
		}
		if !check.Allowed[permission] {
			refuse(w, http.StatusForbidden, "permission "+permission+" is required")
			return nil
		}
	}

	return &Caller{
		ID:       u.ID,
		Username: u.Username,
		Realm:    u.Realm,
		KeyID:    u.KeyID,
		KeyName:  u.KeyName,
		Scope:    check.Scope,
	}
}

func (c *Client) callerByCookie(ctx context.Context, w http.ResponseWriter, r *http.Request,
	permissions []string) *Caller {
	if c.crossOrigin(r) {
		refuse(w, http.StatusForbidden,
			"requests of other origins must have the header Authorization")
		return nil
	}

	query := url.Values{}
	if len(permissions) > 0 {
		query.Set("need", strings.Join(permissions, ","))
	}

	a, res, err := c.forward(ctx, r, http.MethodGet, "/auth/verify?"+query.Encode())
	if err != nil {
		c.refuseFailed(ctx, w, err)
		return nil
	}
	if res.status == http.StatusNoContent {
		caller, err := callerIn(res.header)
		if err != nil {
			c.refuseFailed(ctx, w, err)
		}
		return caller
	}

	failed := res.failure(a)
	switch {
	case res.status == http.StatusFound, res.status == http.StatusForbidden && isPage(res):
		copyHeaders(w, res)
		w.WriteHeader(res.status)
		w.Write(res.body) // the client may be gone
	case res.status == http.StatusUnauthorized:
		unauthorized(w)
	case res.status == http.StatusForbidden && failed.Code != "unknown_origin" &&
		failed.Code != badResponse:
		refuse(w, http.StatusForbidden, failed.Message)
	default:
		c.refuseFailed(ctx, w, failed)
	}

	return nil
}

// crossOrigin reports whether a browser sends a request that can change something for a page of
// another origin. A WebSocket is opened with GET, and can change something.
func (c *Client) crossOrigin(r *http.Request) bool {
	if r.Header.Get("Upgrade") == "" &&
		(r.Method == http.MethodGet || r.Method == http.MethodHead ||
			r.Method == http.MethodOptions) {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site != "same-origin" && site != "none"
	}
	origin := r.Header.Get("Origin")
	return origin != "" && !strings.EqualFold(origin, c.origin.Scheme+"://"+c.origin.Host)
}

// forward asks Reeve about a request, of which it passes on the URL and Reeve's own cookies.
func (c *Client) forward(ctx context.Context, r *http.Request,
	method, path string) (*attempt, *response, error) {
	anonymous := c.As("")
	a := anonymous.newAttempt(method, path)
	a.path, _, _ = strings.Cut(path, "?")
	a.header.Set("Accept", r.Header.Get("Accept"))
	a.header.Set("X-Forwarded-Proto", c.origin.Scheme)
	a.header.Set("X-Forwarded-Host", c.origin.Host)
	a.header.Set("X-Forwarded-Uri", requested(r))
	a.header.Set("X-Forwarded-Method", r.Method)
	// With these Reeve knows that a script asks, which gets 401 instead of a redirect, and in which
	// language people read.
	for _, name := range []string{"Accept-Language", "Sec-Fetch-Mode", "Sec-Fetch-Dest",
		"X-Requested-With"} {
		if value := r.Header.Get(name); value != "" {
			a.header.Set(name, value)
		}
	}

	var cookies []string
	for _, cookie := range r.Cookies() {
		name := strings.TrimPrefix(cookie.Name, "__Host-")
		if strings.HasPrefix(name, "reeve-forward") || strings.HasPrefix(name, "reeve-state") {
			cookies = append(cookies, cookie.Name+"="+cookie.Value)
		}
	}

	if cookies != nil {
		a.header.Set("Cookie", strings.Join(cookies, "; "))
	}

	res, err := anonymous.send(ctx, a)
	return a, res, err
}

// requested returns path and query as the browser has sent them, before a router has cut a prefix
// off.
func requested(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// callerIn returns the caller that the headers of a response of /auth/verify describe.
func callerIn(h http.Header) (*Caller, error) {
	caller := &Caller{Realm: Admin, Scope: &Scope{All: true}}
	var faults [4]error
	caller.ID, faults[0] = strconv.ParseInt(h.Get("X-Reeve-User"), 10, 64)
	caller.Username, faults[1] = url.PathUnescape(h.Get("Remote-User"))
	caller.Name, faults[2] = url.PathUnescape(h.Get("Remote-Name"))
	caller.Email, faults[3] = url.PathUnescape(h.Get("Remote-Email"))
	err := errors.Join(faults[:]...)
	for group := range strings.SplitSeq(h.Get("Remote-Groups"), ",") {
		if name, fault := url.PathUnescape(group); fault != nil {
			err = errors.Join(err, fault)
		} else if name != "" {
			caller.Groups = append(caller.Groups, name)
		}
	}

	if caller.Scope.UserID = caller.ID; h.Get("X-Reeve-Scope") != "all" {
		caller.Scope.All = false
		_, depts, ok := strings.Cut(h.Get("X-Reeve-Scope"), ";depts=")
		if !ok {
			err = errors.Join(err, errors.New("no scope"))
		}
		for text := range strings.FieldsFuncSeq(depts, func(r rune) bool { return r == ',' }) {
			id, fault := strconv.ParseInt(text, 10, 64)
			caller.Scope.DeptIDs, err = append(caller.Scope.DeptIDs, id), errors.Join(err, fault)
		}
	}
	if caller.ID <= 0 || caller.Username == "" {
		err = errors.Join(err, errors.New("no user"))
	}
	if err != nil {
		return nil,
			fmt.Errorf("the headers of /auth/verify have another form than expected; is the URL right? %w", err)
	}

	return caller, nil
}

// CallbackPath is the path of the program that Callback serves.
const CallbackPath = "/.reeve/callback"

// Callback returns the handler of CallbackPath, where browsers come back from the sign-in page.
//
//	mux.Handle(reeve.CallbackPath, client.Callback())
//
// It panics if Options.Origin is not set.
func (c *Client) Callback() http.Handler {
	if c.origin == nil {
		panic("reeve: Callback needs Options.Origin")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			refuse(w, http.StatusMethodNotAllowed, "method not allowed")
			return
		}

		ctx, cancel := context.WithTimeout(r.Context(), c.timeout)
		defer cancel()
		c.passOn(ctx, w, r, CallbackPath+"?"+r.URL.RawQuery)
	})
}

// isPage reports whether Reeve itself answers with a page for people, not a proxy in front of it.
func isPage(res *response) bool {
	return strings.HasPrefix(res.header.Get("Content-Type"), "text/html") &&
		res.header.Get("X-Request-Id") != ""
}

// copyHeaders passes what a browser needs from a response of Reeve on.
func copyHeaders(w http.ResponseWriter, res *response) {
	for _, name := range []string{"Location", "Content-Type", "Content-Security-Policy", "Refresh"} {
		if value := res.header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	for _, cookie := range res.header.Values("Set-Cookie") {
		w.Header().Add("Set-Cookie", cookie) // the program may have set some
	}
	w.Header().Set("Cache-Control", "no-store")
}

// refuseFailed answers a request that Reeve could not be asked about.
func (c *Client) refuseFailed(ctx context.Context, w http.ResponseWriter, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return // the client is gone
	}

	var failed *Error
	if errors.As(err, &failed) &&
		(failed.Status == 0 || failed.Status >= 500 ||
			failed.Status == http.StatusTooManyRequests) {
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable,
			"permissions can't be checked at the moment; try again")
		if c.warned.now() {
			c.logger.Warn("reeve: permissions can't be checked", "error", err)
		}
		return
	}

	refuse(w, http.StatusInternalServerError, "internal error")
	c.logger.Error("reeve: permissions can't be checked; is the configuration of this program right?", "error", err)
}

// sometimes limits warnings to one in ten seconds: a program can get many requests while Reeve is
// unreachable.
type sometimes struct{ last atomic.Int64 }

// now reports whether to warn now.
func (s *sometimes) now() bool {
	now, last := time.Now().Unix(), s.last.Load()
	return now-last >= 10 && s.last.CompareAndSwap(last, now)
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, http.StatusUnauthorized, "sign in first")
}

// refuse answers a request with an error.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": text}) // the client may be gone
}
