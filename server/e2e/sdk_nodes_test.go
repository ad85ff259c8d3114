package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	reeve "reeve/embed/sdk/go"
	"reeve/server/servertest"
	"reeve/store/disk/disktest"
)

// balancer returns the URL of a load balancer that sends each request to the next of some nodes.
func balancer(t *testing.T) (url, key string) {
	t.Helper()
	nodes := servertest.StartNodes(t, 3)
	nodes.Log.Delay = 5 * time.Millisecond
	var next atomic.Uint64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nodes.All[next.Add(1)%3].Server.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, nodes.All[0].Tokens["owner"]
}

// TestGoClient_EachRequestAtAnotherNode reads at other nodes what it has written.
func TestGoClient_EachRequestAtAnotherNode(t *testing.T) {
	t.Parallel()
	url, key := balancer(t)
	c, ctx := goClient(t, reeve.Options{URL: url, Key: key, Retries: -1}), t.Context()
	for i := range 20 {
		var dict struct {
			ID   uint64
			Name string
		}
		in := map[string]string{"code": fmt.Sprint("c", i), "name": fmt.Sprint(i)}
		noErr(t, c.Call(ctx, "POST", "/system/dict", in, &dict))
		noErr(t, c.As(key).Call(ctx, "GET", fmt.Sprint("/system/dict/", dict.ID), nil, &dict))
		disktest.Equal(t, "name", dict.Name, fmt.Sprint(i))
	}
}

func TestTypeScriptClient_EachRequestAtAnotherNode(t *testing.T) {
	t.Parallel()
	url, key := balancer(t)
	text, err := json.Marshal(positions)
	noErr(t, err)
	runScript(t, "nodes.mjs", "SERVER="+url, "KEY="+key, "ECHO="+echo(t).URL, "POSITIONS="+string(text))
}

// positions are what a server answers as Reeve-Commit, and what a client must send with the next request.
var positions = []struct{ Answered, Sent string }{
	{"", ""},
	{"a-5", "a-5"},
	{"", "a-5"},
	{"a-4", "a-5"},
	{"a-10", "a-10"},
	{"a-9", "a-10"},
	{"b-2", "b-2"},
	{"b-18446744073709551615", "b-18446744073709551615"},
	{"b-18446744073709551614", "b-18446744073709551615"},
}

// echo returns a server that answers with the position that it got, and the one in the query.
func echo(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := r.URL.Query().Get("at"); at != "" {
			w.Header().Set("Reeve-Commit", at)
		}
		json.NewEncoder(w).Encode(map[string]any{"success": true, "data": map[string]string{"sent": r.Header.Get("Reeve-Commit")}})
	}))
	t.Cleanup(s.Close)
	return s
}

func TestGoClient_KeepsHighestPosition(t *testing.T) {
	t.Parallel()
	c, ctx := goClient(t, reeve.Options{URL: echo(t).URL}), t.Context()
	var got struct{ Sent string }
	for _, p := range positions {
		noErr(t, c.Do(ctx, reeve.Request{Method: "GET", Path: "/x", Query: url.Values{"at": {p.Answered}}}, nil))
		noErr(t, c.As("token").Call(ctx, "GET", "/x", nil, &got))
		disktest.Equal(t, "sent after "+p.Answered, got.Sent, p.Sent)
	}
	for _, strange := range []string{"b", "-7", "b-x", "b--1", "b-18446744073709551616"} {
		noErr(t, c.Do(ctx, reeve.Request{Method: "GET", Path: "/x", Query: url.Values{"at": {strange}}}, &got))
		noErr(t, c.Call(ctx, "GET", "/x", nil, &got))
		disktest.Equal(t, "sent after "+strange, got.Sent, "b-18446744073709551615")
	}
}
