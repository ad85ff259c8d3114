package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	reeve "reeve/embed/sdk/go"
)

// flagServer is a server with flags, at an address that stays when it starts again.
type flagServer struct {
	t           *testing.T
	dir, listen string
	process     *process
	owner       *client
	key, other  string // API keys that may read the group shop, and that may not
}

func newFlagServer(t *testing.T) *flagServer {
	t.Helper()
	f := &flagServer{t: t, dir: t.TempDir(), listen: freeAddress(t)}
	f.start()
	shop := f.owner.group("shop")
	for key, value := range map[string]string{
		"checkout": `{"enabled":true,"variants":{"on":true,"off":false},"default":"off","rules":[{"attributes":{"country":["CH"]},"variant":"on"}]}`,
		"limit":    `{"enabled":true,"variants":{"low":10,"high":20},"default":"low"}`,
		"split":    `{"enabled":true,"variants":{"a":"A","b":"B"},"default":"a","rules":[{"percent":{"a":50,"b":50}}]}`,
	} {
		f.owner.define(shop, key, "flag", value)
	}
	f.key = f.owner.programKey("program", "system.setting.read.shop")
	f.other = f.owner.programKey("other", "system.dict.query")
	return f
}

func (f *flagServer) start() {
	f.t.Helper()
	f.process = begin(f.t, program(f.t, "serve", "--listen", f.listen, "--data", f.dir))
	f.process.ready()
	f.owner = signedIn(f.t, f.process)
}

func (f *flagServer) setLimit(variant string) {
	f.t.Helper()
	f.owner.want(200, "PUT", "/system/setting", values("shop.limit",
		`{"enabled":true,"variants":{"low":10,"high":20},"default":"`+variant+`"}`))
}

func TestGoFlag_ValuesAndReasons(t *testing.T) {
	t.Parallel()
	f := newFlagServer(t)
	via := newPlanned(t, f.process.url)
	at := func(key, plan string) *reeve.Client {
		return goClient(t, reeve.Options{URL: via.URL + "/" + plan, Key: key})
	}
	c, ctx := at(f.key, "pass.flags"), t.Context()
	swiss := reeve.FlagContext{"country": "CH"}
	if !reeve.Flag(ctx, c, "shop.checkout", swiss, false) ||
		reeve.Flag(ctx, c, "shop.checkout", nil, true) {
		t.Error("the flag is not that of the context")
	}
	if n := reeve.Flag(ctx, c, "shop.limit", swiss, 1); n != 10 {
		t.Errorf("the number is %d", n)
	}
	if seen := via.requests("pass.flags"); len(seen) != 2 {
		t.Errorf("%d requests for two contexts", len(seen))
	}

	type result = reeve.FlagResult[any]
	for _, one := range []struct {
		name    string
		key     string
		about   reeve.FlagContext
		client  *reeve.Client
		want    result
		message string
	}{
		{"a rule", "shop.checkout", swiss, c,
			result{Value: true, Variant: "on", Reason: "TARGETING_MATCH"}, ""},
		{"no rules", "shop.limit", nil, c, result{Value: 10.0, Variant: "low", Reason: "STATIC"}, ""},
		{"no targeting key", "shop.split", nil, c,
			result{Value: "else", Reason: "ERROR", Code: "TARGETING_KEY_MISSING"}, "targetingKey"},
		{"no such flag", "shop.nothing", nil, c,
			result{Value: "else", Reason: "ERROR", Code: "FLAG_NOT_FOUND"}, "does not exist"},
		{"a key that may not read it", "shop.limit", nil, at(f.other, "pass.other"),
			result{Value: "else", Reason: "ERROR", Code: "FLAG_NOT_FOUND"},
			"system.setting.read.shop"},
		{"the same client as another key", "shop.limit", nil, c.As(f.other),
			result{Value: "else", Reason: "ERROR", Code: "FLAG_NOT_FOUND"},
			"system.setting.read.shop"},
		{"a key that is not valid", "shop.limit", nil, at("rv_k_x", "pass.invalid"),
			result{Value: "else", Reason: "ERROR", Code: "GENERAL"}, "token"},
		{"a context that Reeve refuses", "shop.limit",
			reeve.FlagContext{"targetingKey": strings.Repeat("x", 300)}, c,
			result{Value: "else", Reason: "ERROR", Code: "INVALID_CONTEXT"}, "targetingKey"},
		{"a context that can't be sent", "shop.limit", reeve.FlagContext{"a": func() {}}, c,
			result{Value: "else", Reason: "ERROR", Code: "INVALID_CONTEXT"}, "encoded"},
		{"a program in front of Reeve", "shop.limit", nil, at(f.key, "always.502-0.x"),
			result{Value: "else", Reason: "ERROR", Code: "GENERAL"}, "502"},
	} {
		got := reeve.FlagDetails[any](ctx, one.client, one.key, one.about, "else")
		if !strings.Contains(got.Message, one.message) || (one.message == "") != (got.Message == "") {
			t.Errorf("%s: the message is %q", one.name, got.Message)
		}
		if got.Message = ""; got != one.want {
			t.Errorf("%s: %+v, want %+v", one.name, got, one.want)
		}
	}

	if got := reeve.FlagDetails(ctx, c, "shop.limit", nil, "text"); got.Value != "text" ||
		got.Code != "TYPE_MISMATCH" || got.Reason != reeve.FlagError {
		t.Errorf("another type: %+v", got)
	}
}

func TestGoFlag_LastValueWhileUnreachable(t *testing.T) {
	t.Parallel()
	f := newFlagServer(t)
	via, ctx := newPlanned(t, f.process.url), t.Context()
	c := goClient(t, reeve.Options{
		URL:     via.URL + "/pass.flags",
		Key:     f.key,
		FlagAge: time.Nanosecond,
	})
	limit := func() reeve.FlagResult[int] { return reeve.FlagDetails(ctx, c, "shop.limit", nil, 1) }
	current := reeve.FlagResult[int]{Value: 10, Variant: "low", Reason: "STATIC"}
	for range 2 {
		if got := limit(); got != current {
			t.Errorf("%+v", got)
		}
	}
	if seen := via.requests("pass.flags"); len(seen) != 2 ||
		seen[0].Header.Get("If-None-Match") != "" || seen[1].Header.Get("If-None-Match") == "" {
		t.Errorf("the second request does not have the ETag of the first response: %+v", seen)
	}

	f.setLimit("high")
	current.Value, current.Variant = 20, "high"
	if got := limit(); got != current {
		t.Errorf("changed: %+v", got)
	}
	f.process.stop()
	got := limit()
	if got.Value != 20 || got.Reason != reeve.FlagStale || got.Code != "GENERAL" ||
		got.Message == "" {
		t.Errorf("stopped: %+v", got)
	}
	other := reeve.FlagContext{"country": "CH"}
	if got := reeve.FlagDetails(ctx, c, "shop.limit", other, 1); got.Value != 1 ||
		got.Reason != reeve.FlagError || got.Code != "GENERAL" {
		t.Errorf("stopped, with another context: %+v", got)
	}

	f.start()
	if got := limit(); got != current {
		t.Errorf("started again: %+v", got)
	}
	f.process.kill()
	direct := goClient(t, reeve.Options{URL: f.process.url, Key: f.key})
	if got := reeve.FlagDetails(ctx, direct, "shop.limit", nil, 1); got.Value != 1 ||
		!strings.Contains(got.Message, "no response") {
		t.Errorf("without a server: %+v", got)
	}
}

// TestGoFlag_Bounds checks that callers of one context share a request, that no request follows a
// failure at once, and that not more than 1,000 contexts are kept.
func TestGoFlag_Bounds(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	var broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		io.WriteString(w, `{"flags":[{"key":"a.b","value":"yes","reason":"STATIC"}]}`)
	}))
	t.Cleanup(server.Close)
	c := goClient(t, reeve.Options{URL: server.URL, FlagAge: time.Hour})
	evaluate := func(user int) string {
		return reeve.Flag(t.Context(), c, "a.b",
			reeve.FlagContext{"targetingKey": fmt.Sprint(user)}, "no")
	}

	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { evaluate(0) })
	}
	all.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("%d requests for one context", n)
	}

	for user := range 1001 {
		evaluate(user)
		evaluate(1) // used all the time
	}
	evaluate(1)
	if n := asked.Load(); n != 1001 {
		t.Errorf("%d requests for 1,001 contexts", n)
	}
	if evaluate(0); asked.Load() != 1002 {
		t.Error("the flags of the context that was used first are still kept")
	}

	broken.Store(true)
	for range 5 {
		if got := evaluate(-1); got != "no" {
			t.Errorf("a failure gives %s", got)
		}
	}
	if n := asked.Load(); n != 1003 {
		t.Errorf("%d requests after a failure", n-1002)
	}
}

func TestTypeScriptFlag(t *testing.T) {
	t.Parallel()
	f := newFlagServer(t)
	s := startScript(t, "flag.mjs", "SERVER="+f.process.url,
		"PROXY="+newPlanned(t, f.process.url).URL, "KEY="+f.key, "OTHER="+f.other)
	shows := func(step, want string) {
		t.Helper()
		_, err := fmt.Fprintln(s.stdin, step)
		noErr(t, err)
		if got := s.until(step + " "); got != step+" "+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	shows("first", `{"value":10,"variant":"low","reason":"STATIC"} STATIC`)
	f.setLimit("high")
	shows("changed", `{"value":20,"variant":"high","reason":"STATIC"} STATIC`)
	f.process.stop()
	shows("stopped", `{"value":20,"variant":"high","reason":"STALE","errorCode":"GENERAL"} STALE`)
	f.start()
	shows("started", `{"value":20,"variant":"high","reason":"STATIC"} STATIC`)
}
