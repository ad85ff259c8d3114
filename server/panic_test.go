package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

const innards = "innards of the program"

// failingRoutes fail in every way that a handler can.
func failingRoutes() []web.Route {
	view := func(fail func() error) func(*store.Tx, *web.Request, *web.None) (web.Nothing, error) {
		return func(*store.Tx, *web.Request, *web.None) (web.Nothing, error) { return web.Nothing{}, fail() }
	}
	alone := func(fail func() error) func(*web.Request, *web.None) (web.Nothing, error) {
		return func(*web.Request, *web.None) (web.Nothing, error) { return web.Nothing{}, fail() }
	}
	text := func() error { panic(innards) }
	value := func() error { panic(errors.New(innards)) }
	denied := func() error { panic(errs.New(errs.Denied, innards)) }
	null := func() error { var u *store.User; u.Username = innards; return nil }
	plain := func() error { return fmt.Errorf("open /etc/%s: refused", innards) }
	caused := func() error { return fmt.Errorf("x: %w", errs.Of(errors.New(innards))) }
	return []web.Route{
		web.Read("/t/view/text", web.Public, "T", view(text)), web.Read("/t/view/value", web.Public, "T", view(value)), web.Read("/t/view/null", web.Public, "T", view(null)),
		web.Read("/t/view/denied", web.Public, "T", view(denied)), web.Read("/t/view/plain", web.Public, "T", view(plain)), web.Read("/t/view/caused", web.Public, "T", view(caused)),
		web.Write("GET", "/t/write/text", web.Public, "T", view(text)), web.Write("GET", "/t/write/denied", web.Public, "T", view(denied)), web.Write("GET", "/t/write/null", web.Public, "T", view(null)),
		web.Write("GET", "/t/write/plain", web.Public, "T", view(plain)),
		web.Action("GET", "/t/free/text", web.Public, "T", alone(text)), web.Action("GET", "/t/free/denied", web.Public, "T", alone(denied)), web.Action("GET", "/t/free/plain", web.Public, "T", alone(plain)),
		web.Raw("/t/raw/text", web.Public, "T", "text/plain", func(*web.Request, *web.None, http.ResponseWriter) error { return text() }),
		web.Raw("/t/raw/plain", web.Public, "T", "text/plain", func(*web.Request, *web.None, http.ResponseWriter) error { return plain() }),
		web.Action("GET", "/t/free/unencodable", web.Public, "T", func(*web.Request, *web.None) (map[string]any, error) { return map[string]any{innards: func() {}}, nil }),
	}
}

func TestInternalError_NotSent(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	in := start(t, func(su *setup) { su.log = &log })
	before := in.dump()
	all := failingRoutes()
	router := in.server.Router(all)
	for _, rt := range all {
		log.Reset()
		a := in.sendTo(router, in.request("GET", rt.Path, "", "owner"))
		e := a.envelope()
		if a.Code != 500 || e.ErrorCode != "internal" || e.ShowType != 5 || strings.Contains(a.Body, innards) || strings.Contains(a.Body, "goroutine") {
			t.Errorf("%s: %d %s", rt.Path, a.Code, a.Body)
		}
		logged := log.String()
		if n := strings.Count(logged, `"level":"error"`); n != 1 || !strings.Contains(logged, e.RequestID) {
			t.Errorf("%s: logged as an error %d times, wanted once with %s: %s", rt.Path, n, e.RequestID, logged)
		}
		if strings.Contains(logged, in.tokens["owner"]) {
			t.Errorf("%s: the token is logged: %s", rt.Path, logged)
		}
		if !strings.Contains(logged, innards) && !strings.Contains(rt.Path, "null") && !strings.Contains(rt.Path, "unencodable") {
			t.Errorf("%s: the log does not say why: %s", rt.Path, logged)
		}
	}
	in.unchanged(before)
	in.ok("GET", "/admin/info", "", "owner")
	in.ok("PUT", "/admin/info", `{"nickname":"still writing"}`, "owner")
}

// TestRawResponse_FailureAborts has a raw response fail after it has begun.
func TestRawResponse_FailureAborts(t *testing.T) {
	t.Parallel()
	in := start(t)
	router := in.server.Router([]web.Route{web.Raw("/t", web.Public, "T", "text/plain", func(_ *web.Request, _ *web.None, w http.ResponseWriter) error {
		fmt.Fprint(w, "half of it")
		return errors.New("disk gone")
	})})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("the handler ended with %v", p)
		}
	}()
	router.ServeHTTP(httptest.NewRecorder(), in.request("GET", "/t", "", "nobody"))
	t.Error("the client takes half an answer for whole")
}

// TestRawResponse_EarlyFailureIsAnswered: headers set for the file are not
// sent with the error.
func TestRawResponse_EarlyFailureIsAnswered(t *testing.T) {
	t.Parallel()
	in := start(t)
	router := in.server.Router([]web.Route{web.Raw("/t", web.Public, "T", "text/plain", func(_ *web.Request, _ *web.None, w http.ResponseWriter) error {
		for _, name := range []string{"Content-Disposition", "Etag"} {
			w.Header().Set(name, `attachment; filename="x"`)
		}
		return errs.New(errs.Denied, "not any more")
	})})
	a := in.sendTo(router, in.request("GET", "/t", "", "nobody"))
	a.brief(403)
	if a.Header.Get("Content-Disposition") != "" || a.Header.Get("Etag") != "" {
		t.Errorf("an error with the header %v", a.Header)
	}
}

// TestErrorKinds_Status checks the map status.
func TestErrorKinds_Status(t *testing.T) {
	t.Parallel()
	in := start(t)
	for kind, want := range map[errs.Kind]struct {
		code, show int
		name       string
	}{
		errs.Internal: {500, 5, "internal"}, errs.Malformed: {400, 1, "malformed"}, errs.Unauthenticated: {401, 2, "unauthenticated"},
		errs.Denied: {403, 4, "denied"}, errs.NotFound: {404, 2, "not_found"}, errs.BadMethod: {405, 2, "method_not_allowed"},
		errs.Conflict: {409, 2, "conflict"}, errs.TooLarge: {413, 2, "too_large"}, errs.BadMedia: {415, 2, "unsupported_media_type"},
		errs.Invalid: {422, 1, "invalid"}, errs.TooMany: {429, 1, "too_many_requests"}, errs.Busy: {503, 5, "busy"}, errs.Full: {507, 5, "disk_full"},
	} {
		router := in.server.Router([]web.Route{web.Action("GET", "/t", web.Public, "T", func(*web.Request, *web.None) (web.Nothing, error) {
			return web.Nothing{}, fmt.Errorf("wrapped: %w", errs.New(kind, "a sentence"))
		})})
		a := in.sendTo(router, in.request("GET", "/t", "", "nobody"))
		if e := a.envelope(); a.Code != want.code || e.ShowType != want.show || e.ErrorCode != want.name || e.Msg != "a sentence" {
			t.Errorf("%s: %d %s", want.name, a.Code, a.Body)
		}
	}
}
