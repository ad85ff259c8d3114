package settings_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
)

// dictsOf returns the data of GET /admin/dict.
func dictsOf(in *servertest.Instance, as string) string {
	in.T.Helper()
	return string(in.OK("GET", "/admin/dict", "", as).Envelope().Data)
}

const openOnes = `{"empty":{"name":"Empty","type":"default","items":[]},` +
	`"level":{"name":"Level of a log","type":"badge","items":[{"label":"Ünder","value":"1","status":"warning"}]},` +
	`"sex":{"name":"Sex","type":"tag","items":[{"label":"Unknown","value":"0","status":"default"},` +
	`{"label":"Male","value":"1","status":"processing"},{"label":"Female","value":"2","status":"success"}]}}`

func TestDictRead_EnabledForSignedIn(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk")
	if got := dictsOf(in, "clerk"); got != "{}" {
		t.Errorf("of a new database: %s", got)
	}

	in = withDicts(t)
	in.Clerk("clerk")
	if got := dictsOf(in, "clerk"); got != openOnes {
		t.Errorf("got  %s\nwant %s", got, openOnes)
	}

	in.Close()
	in = servertest.Open(t, in.Dir)
	in.Tokens["owner"] = in.SignIn(auth.FirstUser)
	if got := dictsOf(in, "owner"); got != openOnes {
		t.Errorf("after a start: %s", got)
	}
}

func TestDictRead_ETag(t *testing.T) {
	t.Parallel()
	in := withDicts(t)
	read := func(match string) *servertest.Reply {
		r := in.Request("GET", "/admin/dict", "", "owner")
		if match != "" {
			r.Header.Set("If-None-Match", match)
		}
		return in.Send(r)
	}
	first := read("")
	tag := first.Header.Get("ETag")
	if len(tag) < 10 || first.Header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("the tag is %s: %v", tag, first.Header)
	}

	for _, change := range []struct {
		name, method, url, body string
		shows                   bool
	}{
		{"nothing", "PUT", "/system/dict/1", `{}`, false},
		{"a description", "PUT", "/system/dict/1", `{"describe":"d"}`, false},
		{"a disabled dictionary", "PUT", "/system/dict/3", `{"name":"x"}`, false},
		{"an item of a disabled one", "POST", "/system/dict/3/item", `{"label":"x","value":"x"}`,
			false},
		{"an item that is off", "PUT", "/system/dict/1/item/4", `{"label":"x"}`, false},
		{"a sort that moves nothing", "PUT", "/system/dict/1/item/3", `{"sort":1}`, false},
		{"something else", "PUT", "/admin/info", `{"nickname":"x"}`, false},
		{"an order", "PUT", "/system/dict/1/item/2", `{"sort":1}`, true},
		{"a label", "PUT", "/system/dict/1/item/1", `{"label":"Man"}`, true},
		{"a value", "PUT", "/system/dict/1/item/1", `{"value":"m"}`, true},
		{"a colour", "PUT", "/system/dict/1/item/1", `{"status":"error"}`, true},
		{"an item switched off", "PUT", "/system/dict/1/item/1", `{"switch":0}`, true},
		{"an item deleted that is off", "DELETE", "/system/dict/1/item/1", "", false},
		{"an item deleted", "DELETE", "/system/dict/1/item/2", "", true},
		{"a new item", "POST", "/system/dict/4/item", `{"label":"x","value":"x"}`, true},
		{"a name", "PUT", "/system/dict/4", `{"name":"Full"}`, true},
		{"a type", "PUT", "/system/dict/4", `{"type":"badge"}`, true},
		{"a code", "PUT", "/system/dict/4", `{"code":"full"}`, true},
		{"a dictionary disabled", "PUT", "/system/dict/4", `{"status":0}`, true},
		{"one enabled", "PUT", "/system/dict/3", `{"status":1}`, true},
		{"a new dictionary", "POST", "/system/dict", `{"code":"new","name":"New"}`, true},
		{"a dictionary deleted", "DELETE", "/system/dict/5", "", true},
	} {
		in.OK(change.method, change.url, change.body, "owner")
		a := read(tag)
		if changed := a.Code == http.StatusOK; changed != change.shows ||
			a.Code != http.StatusOK && a.Code != http.StatusNotModified {
			t.Errorf("%s: %d", change.name, a.Code)
		}
		tag = a.Header.Get("ETag")
	}

	if got := dictsOf(in, "owner"); got != `{"hidden":{"name":"x","type":"default","items":[{"label":"Never","value":"1","status":"default"},{"label":"x","value":"x","status":"default"}]},`+
		`"level":{"name":"Level of a log","type":"badge","items":[{"label":"Ünder","value":"1","status":"warning"}]},`+
		`"sex":{"name":"Sex","type":"tag","items":[{"label":"Unknown","value":"0","status":"default"}]}}` {
		t.Errorf("in the end: %s", got)
	}
}

// TestDictRead_FollowsWritesAtOnce has several concurrent writers. Each reads its own
// acknowledged writes.
func TestDictRead_FollowsWritesAtOnce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/dict", `{"code":"busy","name":"Busy"}`)
	ask := func(method, url, body string) string {
		w := httptest.NewRecorder()
		in.Server.Handler().ServeHTTP(w, in.Request(method, url, body, "owner"))
		if w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %s", method, url, w.Code, w.Body)
		}
		return w.Body.String()
	}

	var wg sync.WaitGroup
	for writer := range 4 {
		wg.Go(func() {
			for i := range servertest.Size(15, 100, 1000) {
				value := fmt.Sprintf("%d-%d", writer, i)
				shown := func(when string, want bool, text string) {
					if got := strings.Contains(ask("GET", "/admin/dict", ""), text); got != want {
						t.Errorf("%s %s: shown is %t", value, when, got)
					}
				}

				_, rest, _ := strings.Cut(ask("POST", "/system/dict/1/item",
					`{"label":"x","value":"`+value+`"}`), `"id":`)
				id, _, _ := strings.Cut(rest, ",")
				url := "/system/dict/1/item/" + id
				shown("created", true, `"label":"x","value":"`+value+`"`)
				ask("PUT", url, `{"label":"y"}`)
				shown("changed", true, `"label":"y","value":"`+value+`"`)
				ask("PUT", url, `{"switch":0}`)
				shown("switched off", false, `"value":"`+value+`"`)
				ask("PUT", url, `{"switch":1}`)
				shown("switched on", true, `"value":"`+value+`"`)
				ask("DELETE", url, "")
				shown("deleted", false, `"value":"`+value+`"`)
			}
		})
	}

	wg.Wait()
	if got := dictsOf(in, "owner"); got != `{"busy":{"name":"Busy","type":"default","items":[]}}` {
		t.Errorf("in the end: %s", got)
	}
}
