package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store/errs"
)

func TestInternalError_NotSent(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	before := in.Dump()
	all := servertest.FailingRoutes()
	router := in.Server.Router(all)
	for _, rt := range all {
		log.Reset()
		a := in.SendTo(router, in.Request("GET", rt.Path, "", "owner"))
		e := a.Envelope()
		if a.Code != 500 || e.ErrorCode != "internal" || e.ShowType != 5 ||
			strings.Contains(a.Body, servertest.Innards) || strings.Contains(a.Body, "goroutine") {
			t.Errorf("%s: %d %s", rt.Path, a.Code, a.Body)
		}

		logged := log.String()
		if n := strings.Count(logged, `"level":"error"`); n != 1 ||
			!strings.Contains(logged, e.RequestID) {
			t.Errorf("%s: logged as an error %d times, wanted once with %s: %s", rt.Path, n,
				e.RequestID, logged)
		}
		if strings.Contains(logged, in.Tokens["owner"]) {
			t.Errorf("%s: the token is logged: %s", rt.Path, logged)
		}
		if !strings.Contains(logged, servertest.Innards) && !strings.Contains(rt.Path, "null") &&
			!strings.Contains(rt.Path, "unencodable") {
			t.Errorf("%s: the log does not say why: %s", rt.Path, logged)
		}
	}

	in.Unchanged(before)
	in.OK("GET", "/admin/info", "", "owner")
	in.OK("PUT", "/admin/info", `{"nickname":"still writing"}`, "owner")
}

// TestRawResponse_FailureAborts has a raw response fail after it has begun.
func TestRawResponse_FailureAborts(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	router := in.Server.Router([]web.Route{web.Raw("/t", web.Public, "T", "text/plain",
		func(_ *web.Request, _ *web.None, w http.ResponseWriter) error {
			fmt.Fprint(w, "half of it")
			return errors.New("disk gone")
		})})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("the handler ended with %v", p)
		}
	}()
	router.ServeHTTP(httptest.NewRecorder(), in.Request("GET", "/t", "", "nobody"))
	t.Error("the client takes half an answer for whole")
}

// TestRawResponse_EarlyFailureIsAnswered: headers set for the file are not
// sent with the error.
func TestRawResponse_EarlyFailureIsAnswered(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	router := in.Server.Router([]web.Route{web.Raw("/t", web.Public, "T", "text/plain",
		func(_ *web.Request, _ *web.None, w http.ResponseWriter) error {
			for _, name := range []string{"Content-Disposition", "Etag"} {
				w.Header().Set(name, `attachment; filename="x"`)
			}
			return errs.New(errs.Denied, "not any more")
		})})
	a := in.SendTo(router, in.Request("GET", "/t", "", "nobody"))
	a.Brief(403)
	if a.Header.Get("Content-Disposition") != "" || a.Header.Get("Etag") != "" {
		t.Errorf("an error with the header %v", a.Header)
	}
}

// TestErrorKinds_Status checks the map status.
func TestErrorKinds_Status(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for kind, want := range map[errs.Kind]struct {
		code, show int
		name       string
	}{
		errs.Internal: {500, 5, "internal"}, errs.Malformed: {400, 1, "malformed"},
		errs.Unauthenticated: {401, 2, "unauthenticated"},
		errs.Denied:          {403, 4, "denied"}, errs.NotFound: {404, 2, "not_found"},
		errs.BadMethod: {405, 2, "method_not_allowed"},
		errs.Conflict:  {409, 2, "conflict"}, errs.TooLarge: {413, 2, "too_large"},
		errs.BadMedia: {415, 2, "unsupported_media_type"},
		errs.Invalid:  {422, 1, "invalid"}, errs.TooMany: {429, 1, "too_many_requests"},
		errs.Busy: {503, 5, "busy"}, errs.Full: {507, 5, "disk_full"},
	} {
		router := in.Server.Router([]web.Route{web.Action("GET", "/t", web.Public, "T",
			func(*web.Request, *web.None) (web.Nothing, error) {
				return web.Nothing{}, fmt.Errorf("wrapped: %w", errs.New(kind, "a sentence"))
			})})
		a := in.SendTo(router, in.Request("GET", "/t", "", "nobody"))
		if e := a.Envelope(); a.Code != want.code || e.ShowType != want.show ||
			e.ErrorCode != want.name || e.Msg != "a sentence" {
			t.Errorf("%s: %d %s", want.name, a.Code, a.Body)
		}
	}
}
