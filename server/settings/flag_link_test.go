package settings_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/servertest"
)

func TestFlagStream_EndsWithSession(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Server.Streams.Beat = time.Hour // only the revocation can end a stream
	in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"all"`))
	in.Clerk("clerk")
	in.Clerk("holder")
	key := in.NewKey("key", "/admin/account/key", `{"name":"k"}`, "holder")
	base := in.Live()
	for as, end := range map[string]func(){
		"clerk": func() { in.OK("POST", "/admin/logout", "", "clerk") },
		"key":   func() { in.OK("DELETE", fmt.Sprintf("/admin/account/key/%d", key.ID), "", "holder") },
	} {
		signed := base + flagStream(in, as)
		for _, l := range []*servertest.Listener{in.Follow(signed, "nobody"), in.Follow(base+flagEvents, as)} {
			refetches(t, l)
			defer func() {
				if kind, _ := l.Next(); kind != "" {
					t.Errorf("%s: event %s", as, kind)
				}
			}()
		}
		end()
		for at, by := range map[string]string{signed: "nobody", base + flagEvents: as} {
			if l := in.Follow(at, by); l.Reply.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: the stream opens again: %d", as, l.Reply.StatusCode)
			}
		}
	}
}

// TestFlagStream_Links: a signed URL is for one session, for a limited time.
func TestFlagStream_Links(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"all"`))
	in.Clerk("clerk")
	signed := flagStream(in, "clerk")
	if signed != flagStream(in, "clerk") || flagStream(in, "nobody") != flagEvents {
		t.Errorf("%s is another one the next time, or one without a token is signed", signed)
	}
	reply := in.OK("POST", servertest.AllFlags, `{}`, "clerk")
	r := in.Request("POST", servertest.AllFlags, `{}`, "clerk")
	r.Header.Set("If-None-Match", reply.Header.Get("ETag"))
	if again := in.Send(r); again.Code != http.StatusNotModified {
		t.Errorf("the same state: %d", again.Code)
	}

	at, err := url.Parse(signed)
	servertest.Must(t, err)
	theirs, err := url.Parse(flagStream(in, "owner"))
	servertest.Must(t, err)
	changed := func(name, value string) string {
		q := at.Query()
		q.Set(name, value)
		return at.Path + "?" + q.Encode()
	}
	for what, link := range map[string]string{
		"another session":   changed("session", theirs.Query().Get("session")),
		"no such session":   changed("session", "99"),
		"a later end":       changed("expires", at.Query().Get("expires")+"0"),
		"another signature": changed("signature", theirs.Query().Get("signature")),
		"no signature":      changed("signature", ""),
		"a session alone":   at.Path + "?session=1",
	} {
		a := in.Call("GET", link, "", "owner")
		if a.Code != 401 || a.Envelope().ErrorCode != "link_expired" {
			t.Errorf("%s: %d %s", what, a.Code, a.Body)
		}
	}
	in.Tokens["wrong"] = "rv_x"
	in.Call("GET", flagEvents, "", "wrong").Brief(401)
}

// TestFlagStream_LinkEnds: a signed URL, and the stream that it has opened, live for 12 to 24 hours.
func TestFlagStream_LinkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := servertest.Start(t)
		in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"all"`))
		in.NewKey("key", "/admin/account/key", `{"name":"k"}`, "owner")
		signed, begun := flagStream(in, "key"), time.Now()
		in.Server.Streams.Ended = make(chan struct{})
		body := in.Call("GET", signed, "", "nobody").Body
		if life := time.Since(begun); life <= 12*time.Hour || life > 24*time.Hour+15*time.Second ||
			strings.Count(body, "refetchEvaluation") != 1 {
			t.Errorf("after %s: %.200s", life, body)
		}
		in.Call("GET", signed, "", "nobody").Brief(401, `"errorCode":"link_expired"`)
		if next := flagStream(in, "key"); next == signed {
			t.Errorf("%s is given again", next)
		}
	})
}

// TestFlagStream_LinkIsNotRecorded: neither the log nor monitoring has the signature, of a URL that
// is refused either.
func TestFlagStream_LinkIsNotRecorded(t *testing.T) {
	t.Parallel()
	var lines servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &lines })
	base := in.Live()
	signed := flagStream(in, "owner")
	at, err := url.Parse(signed)
	servertest.Must(t, err)
	refetches(t, in.Follow(base+signed, "nobody"))
	refused := in.Follow(base+strings.Replace(signed, "session=", "session=9", 1), "nobody")
	if refused.Reply.StatusCode != http.StatusUnauthorized {
		t.Errorf("%d", refused.Reply.StatusCode)
	}
	in.Flush()
	seen := in.OK("GET", "/system/monitor/request?pageSize=200", "", "owner").Body
	if !strings.Contains(seen, flagEvents) {
		t.Errorf("the refused request is not recorded: %s", seen)
	}
	if signature := at.Query().Get("signature"); strings.Contains(seen+lines.String(), signature) {
		t.Errorf("%s is in %s%s", signature, seen, lines.String())
	}
}
