package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// bodiless are the conditional operations without a body that are no deletions in deletable.
var bodiless = map[string]string{
	"POST /admin/key/:id/rotate":             "/admin/key/1/rotate",
	"POST /admin/key/:id/adopt":              "/admin/key/1/adopt",
	"POST /admin/key/:id/resume":             "/admin/key/1/resume",
	"POST /admin/account/key/:id/rotate":     "/admin/account/key/2/rotate",
	"POST /system/field/:id/apply":           "/system/field/1/apply",
	"PUT /file/trash/:id":                    "/file/trash/2",
	"PUT /file/list/:id/version/:version_id": "/file/list/1/version/1",
	"DELETE /admin/list/:id/factor":          "/admin/list/2/factor",
	"DELETE /user/list/:id/factor":           "/user/list/1/factor",
}

func changesSomething(rt *web.Route) bool { return rt.Method != http.MethodGet && !rt.ReadOnly }

// TestCondition_EveryRoute checks that no route carries out a change whose condition does not hold:
// it compares the record with what the client has read, or refuses to work with a condition.
func TestCondition_EveryRoute(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	in.Upload("/file/list", "another text", "owner")
	in.OK("DELETE", "/file/list/2", "", "owner")
	mails := queuedTwo(in)
	in.AddPasskey(servertest.NewAuthenticator(), "Mine", "owner")
	in.AddPasskey(servertest.NewAuthenticator(), "Mine", "clerk")
	passkey := in.AddAppPasskey(servertest.NewAuthenticator(), "customer")
	in.SetUpAppFactor("customer")
	for _, rt := range server.Routes() {
		if !changesSomething(&rt) {
			continue
		}
		t.Run(rt.Name(), func(t *testing.T) {
			here, as := in.In(t), holder(&rt)
			good, url := goodBodies()[rt.Name()], bodiless[rt.Name()]
			if good.url != "" {
				url = good.url
			}

			switch {
			case !rt.Conditional:
				for _, name := range web.Conditions {
					named := `"` + name + `":`
					if rt.Protocol != nil {
						named = name
					}
					ifMatch(here, name, `"x"`, rt.Method, servertest.URLOf(&rt), good.body, as).Brief(400, named)
				}
				return
			case strings.HasPrefix(rt.Path, "/system/mail/:id"):
				url = strings.Replace(rt.Path, ":id", mails[0].String(), 1)
			case deletesOne(&rt):
				path := rt.Path[:strings.LastIndex(rt.Path, "/")]
				here = servertest.Start(t)
				id := deletable()[path](here)[0]
				url = fmt.Sprintf("%s/%d", strings.Replace(path, ":id", "1", 1), id)
			case rt.Name() == "PUT /api/user/passkey/:id":
				url = fmt.Sprint("/api/user/passkey/", passkey)
			case url == "":
				t.Fatal("add the operation to goodBodies in server/fields_test.go or to bodiless")
			}

			refusesStale(here, &rt, url, good.body, as)
		})
	}
}

// refusesStale sends a change of a record with every kind of condition that does not hold.
func refusesStale(in *servertest.Instance, rt *web.Route, url, body, as string) {
	in.T.Helper()
	before := in.Dump()
	ifMatch(in, "If-Match", `"x"`, rt.Method, url, body, as).Brief(409, `"errorCode":"stale"`,
		`"If-Match":`)
	ifMatch(in, "If-Match", "", rt.Method, url, body, as).Brief(400, `"If-Match":`)
	ifMatch(in, "If-None-Match", "*", rt.Method, url, body, as).Brief(400, `"If-None-Match":`)
	for _, name := range rt.Input.State {
		value := map[string]string{"version": "77", "updated_at": "1999-01-01T00:00:00Z"}[name]
		if rt.Method == http.MethodDelete {
			mark := "?"
			if strings.Contains(url, "?") {
				mark = "&"
			}
			in.Call(rt.Method, url+mark+name+"="+value, body, as).Brief(409, `"errorCode":"stale"`,
				`"`+name+`":`)
			in.Call(rt.Method, url+mark+name+"=x", body, as).Names(400, name)
		}

		stated := servertest.With(in.T, "{}", name, `"`+value+`"`)
		if body != "" {
			stated = servertest.With(in.T, body, name, `"`+value+`"`)
		}

		in.Call(rt.Method, url, stated, as).Brief(409, `"errorCode":"stale"`, `"`+name+`":`)
	}

	in.Unchanged(before)
}

// ifMatch sends a request with a condition.
func ifMatch(in *servertest.Instance,
	header, value, method, url, body, as string) *servertest.Reply {
	in.T.Helper()
	r := in.Request(method, url, body, as)
	r.Header.Set(header, value)
	return in.Send(r)
}

func TestCondition_DeletionOfWhatWasRead(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, state := range []string{"If-Match", "version", "updated_at"} {
		in.Create("/system/dict",
			`{"code":"`+strings.ToLower(strings.ReplaceAll(state, "-", "_"))+`","name":"N"}`)
	}
	tag := in.OK("GET", "/system/dict/1", "", "owner").Header.Get("Etag")
	ifMatch(in, "If-Match", tag, "DELETE", "/system/dict/1", "", "owner").Brief(200)
	in.OK("DELETE", "/system/dict/2?version=1", "", "owner")
	var d store.Dict
	in.OK("GET", "/system/dict/3", "", "owner").Data(&d)
	in.OK("DELETE", "/system/dict/3?updated_at="+d.UpdatedAt.String(), "", "owner")
	ifMatch(in, "If-Match", `"x"`, "DELETE", "/system/dict/9", "", "owner").Brief(404)
}

// A condition must not reveal that a record exists which the caller may not see.
func TestCondition_UnseenRecord(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk")
	id, _ := in.Key(1, servertest.PersonalKey)
	for _, url := range []string{fmt.Sprint("/admin/account/key/", id),
		fmt.Sprint("/admin/session/", in.SessionsOf(1)[0]), "/admin/account/key/999"} {
		ifMatch(in, "If-Match", `"x"`, "DELETE", url, "", "clerk").Brief(404)
	}
}

func TestCondition_SeveralSettings(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	values := func() string {
		return in.OK("GET", "/system/setting-value", "", "owner").Header.Get("Etag")
	}

	save := func(tag, body string) *servertest.Reply {
		return ifMatch(in, "If-Match", tag, "PUT", "/system/setting", body, "owner")
	}

	const two = `{"values":{"site.title":%q,"site.contact":"c"}}`
	first := values()
	save(first, fmt.Sprintf(two, "a")).Brief(200)
	save(first, fmt.Sprintf(two, "b")).Brief(409, `"errorCode":"stale"`)
	second := values()
	save(`"x", W/`+second, fmt.Sprintf(two, "b")).Brief(200)

	title := "/system/setting/" + in.Setting("site.title").String()
	tag := in.OK("GET", title, "", "owner").Header.Get("Etag")
	save(tag, `{"values":{"site.title":"c"}}`).Brief(200)
	save(tag, `{"values":{"site.title":"d"}}`).Brief(409, `"errorCode":"stale"`)
	var s store.Setting
	in.OK("GET", title, "", "owner").Data(&s)
	at := s.UpdatedAt.String()
	in.OK("PUT", "/system/setting", `{"values":{"site.title":"e"},"updated_at":"`+at+`"}`, "owner")
	in.Call("PUT", "/system/setting", `{"values":{"site.title":"f"},"updated_at":"`+at+`"}`,
		"owner").Brief(409, `"errorCode":"stale"`)
	in.Call("PUT", "/system/setting",
		fmt.Sprintf(`{"values":{"site.title":"f","site.contact":"g"},"updated_at":%q}`, at),
		"owner").Names(400, "updated_at")

	in.Create("/system/setting-group", `{"key":"mine","title":"Mine"}`)
	in.Create("/system/setting",
		`{"key":"k","title":"T","type":"secret","values":"x","group_id":8}`)
	hidden := values()
	in.OK("PUT", "/system/setting", `{"values":{"mine.k":"y"}}`, "owner")
	save(hidden, `{"values":{"site.title":"z"}}`).Brief(409, `"errorCode":"stale"`)
}
