package server

import (
	"crypto/rand"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/julienschmidt/httprouter"

	"reeve/server/assets"
	"reeve/server/web"
	"reeve/store"
)

// The console consists of compiled-in files: index.html, which gets a new nonce for
// each response, and assets with a hash in their names. They are not operations, so they
// are not in the route table, and monitoring does not record them.

// console adds the console's paths to a router whose NotFound is set. Without a console
// it does nothing.
func console(s *web.Server, router *httprouter.Router) {
	if s.Config.Console == nil {
		return
	}

	missing := router.NotFound
	files := assets.New(s.Config.Console, assets.Limit)
	open := func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		web.DocumentHeaders(w.Header())
		if name, ok := strings.CutPrefix(params.ByName("path"), "/assets/"); ok {
			if !files.Send(w, r, "assets/"+name) {
				missing.ServeHTTP(w, r)
			}
		} else if !sendPage(s, w, r) {
			missing.ServeHTTP(w, r)
		}
	}

	enter := func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		web.DocumentHeaders(w.Header())
		to := url.URL{Path: s.URL("/console/"), RawQuery: r.URL.RawQuery} // a page keeps its state in the query
		http.Redirect(w, r, to.String(), http.StatusFound)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		router.Handle(method, "/console/*path", open)
		router.Handle(method, "/console", enter)
		router.Handle(method, "/", enter)
	}
}

// consolePolicy lets the page load only its own resources, and forbids framing. The
// component library adds its styles with the nonce, and the import map, which maps
// names of scripts to files, is in the page with the nonce.
const consolePolicy = "default-src 'none'; script-src 'self' 'nonce-NONCE'; style-src 'self' 'nonce-NONCE'; img-src 'self' blob: data:; font-src 'self'; " +
	"connect-src 'self'; media-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// sendPage sends index.html for every path that is not an asset. The console itself
// decides which page to show.
func sendPage(s *web.Server, w http.ResponseWriter, r *http.Request) bool {
	page, err := fs.ReadFile(s.Config.Console, "index.html")
	if err != nil {
		return false
	}
	nonce := rand.Text()
	text := atBase(s, strings.ReplaceAll(inAccent(s, string(page)), "__NONCE__", nonce))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", strings.ReplaceAll(consolePolicy, "NONCE", nonce))
	h.Set("Referrer-Policy", "same-origin")
	body, _ := web.Compressed(r, h, []byte(text))
	sendWhole(w, body)
	return true
}

// inAccent returns index.html with the accent colors, so that nothing has another color at first.
func inAccent(s *web.Server, page string) string {
	var style string
	err := s.DB.View(store.Anonymous, func(tx *store.Tx) error {
		style = store.AccentStyle(tx)
		return nil
	})
	if err != nil || style == "" { // without the database, the page itself says so
		return page
	}
	return strings.Replace(page, "</head>", `<style nonce="__NONCE__">`+style+"</style></head>", 1)
}

// atBase returns index.html for a console below the base path: its URLs begin with that path, and
// the scripts, which find one another by relative URLs, read it from the element html.
func atBase(s *web.Server, page string) string {
	base := s.Config.BasePath
	if base == "" {
		return page
	}
	page = strings.ReplaceAll(page, `"/console/`, `"`+base+`/console/`)
	return strings.Replace(page, "<html ", `<html data-base="`+base+`" `, 1)
}

// sendWhole sends a complete body with its Content-Length.
func sendWhole(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body) // an error means that the client has disconnected
}
