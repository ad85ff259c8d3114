package reeve

import (
	"context"
	"net/http"
)

// SignOutPath is the path of the program that SignOutPage serves.
const SignOutPath = "/.reeve/sign-out"

// SignOutPage returns the handler of SignOutPath, where users of the backend who have signed in with
// Protect sign out: a link leads to a page with a button, and a page of the program can have a form
// that is sent there with POST. It ends the session at Reeve, so people are signed out of the console
// and of all programs.
//
//	mux.Handle(reeve.SignOutPath, client.SignOutPage())
//
// It panics if Options.Origin is not set.
func (c *Client) SignOutPage() http.Handler {
	if c.origin == nil {
		panic("reeve: SignOutPage needs Options.Origin")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodPost:
			w.Header().Set("Allow", "GET, POST")
			refuse(w, http.StatusMethodNotAllowed, "method not allowed")
			return
		case c.crossOrigin(r):
			refuse(w, http.StatusForbidden, "requests of other origins can't sign out")
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), c.timeout)
		defer cancel()
		c.passOn(ctx, w, r, SignOutPath)
	})
}

// passOn asks Reeve for a page about a request, and sends it to the browser.
func (c *Client) passOn(ctx context.Context, w http.ResponseWriter, r *http.Request, path string) {
	_, res, err := c.forward(ctx, r, r.Method, path)
	if err != nil {
		c.refuseFailed(ctx, w, err)
		return
	}
	copyHeaders(w, res)
	w.WriteHeader(res.status)
	w.Write(res.body) // the client may be gone
}
