package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"reeve/server/web"
	"reeve/store"
)

// bodiless are the conditional operations without a body that are no deletions in deletable.
var bodiless = map[string]string{
	"POST /admin/key/:id/rotate":         "/admin/key/1/rotate",
	"POST /admin/key/:id/adopt":          "/admin/key/1/adopt",
	"POST /admin/key/:id/resume":         "/admin/key/1/resume",
	"POST /admin/account/key/:id/rotate": "/admin/account/key/2/rotate",
	"POST /system/field/:id/apply":       "/system/field/1/apply",
	"PUT /file/trash/:id":                "/file/trash/2",
	"DELETE /admin/list/:id/factor":      "/admin/list/2/factor",
	"DELETE /user/list/:id/factor":       "/user/list/1/factor",
}

func changesSomething(rt *web.Route) bool { return rt.Method != http.MethodGet && !rt.ReadOnly }

// TestCondition_EveryRoute checks that no route carries out a change whose condition does not hold: it
// compares the record with what the client has read, or refuses to work with a condition.
func TestCondition_EveryRoute(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	in.upload("/file/list", "another text", "owner")
	in.ok("DELETE", "/file/list/2", "", "owner")
	mails := queuedTwo(in)
	in.addPasskey(newAuthenticator(), "Mine", "owner")
	in.addPasskey(newAuthenticator(), "Mine", "clerk")
	in.setUpAppFactor("customer")
	for _, rt := range routes() {
		if !changesSomething(&rt) {
			continue
		}
		t.Run(rt.Name(), func(t *testing.T) {
			here, as := in.in(t), holder(&rt)
			good, url := goodBodies()[rt.Name()], bodiless[rt.Name()]
			if good.url != "" {
				url = good.url
			}
			switch {
			case !rt.Conditional:
				for _, name := range web.Conditions {
					here.ifMatch(name, `"x"`, rt.Method, urlOf(&rt), good.body, as).brief(400, `"`+name+`":`)
				}
				return
			case strings.HasPrefix(rt.Path, "/system/mail/:id"):
				url = strings.Replace(rt.Path, ":id", mails[0].String(), 1)
			case deletesOne(&rt):
				path := rt.Path[:strings.LastIndex(rt.Path, "/")]
				here = start(t)
				id := deletable()[path](here)[0]
				url = fmt.Sprintf("%s/%d", strings.Replace(path, ":id", "1", 1), id)
			case url == "":
				t.Fatal("add the operation to goodBodies in server/fields_test.go or to bodiless")
			}
			here.refusesStale(&rt, url, good.body, as)
		})
	}
}

// refusesStale sends a change of a record with every kind of condition that does not hold.
func (in *instance) refusesStale(rt *web.Route, url, body, as string) {
	in.t.Helper()
	before := in.dump()
	in.ifMatch("If-Match", `"x"`, rt.Method, url, body, as).brief(409, `"errorCode":"stale"`, `"If-Match":`)
	in.ifMatch("If-Match", "", rt.Method, url, body, as).brief(400, `"If-Match":`)
	in.ifMatch("If-None-Match", "*", rt.Method, url, body, as).brief(400, `"If-None-Match":`)
	for _, name := range rt.Input.State {
		value := map[string]string{"version": "77", "updated_at": "1999-01-01T00:00:00Z"}[name]
		if rt.Method == http.MethodDelete {
			mark := "?"
			if strings.Contains(url, "?") {
				mark = "&"
			}
			in.call(rt.Method, url+mark+name+"="+value, body, as).brief(409, `"errorCode":"stale"`, `"`+name+`":`)
			in.call(rt.Method, url+mark+name+"=x", body, as).names(400, name)
		}
		stated := with(in.t, "{}", name, `"`+value+`"`)
		if body != "" {
			stated = with(in.t, body, name, `"`+value+`"`)
		}
		in.call(rt.Method, url, stated, as).brief(409, `"errorCode":"stale"`, `"`+name+`":`)
	}
	in.unchanged(before)
}

// ifMatch sends a request with a condition.
func (in *instance) ifMatch(header, value, method, url, body, as string) *reply {
	in.t.Helper()
	r := in.request(method, url, body, as)
	r.Header.Set(header, value)
	return in.send(r)
}

func TestCondition_DeletionOfWhatWasRead(t *testing.T) {
	t.Parallel()
	in := start(t)
	for _, state := range []string{"If-Match", "version", "updated_at"} {
		in.create("/system/dict", `{"code":"`+strings.ToLower(strings.ReplaceAll(state, "-", "_"))+`","name":"N"}`)
	}
	tag := in.ok("GET", "/system/dict/1", "", "owner").Header.Get("Etag")
	in.ifMatch("If-Match", tag, "DELETE", "/system/dict/1", "", "owner").brief(200)
	in.ok("DELETE", "/system/dict/2?version=1", "", "owner")
	var d store.Dict
	in.ok("GET", "/system/dict/3", "", "owner").data(&d)
	in.ok("DELETE", "/system/dict/3?updated_at="+d.UpdatedAt.String(), "", "owner")
	in.ifMatch("If-Match", `"x"`, "DELETE", "/system/dict/9", "", "owner").brief(404)
}

// A condition must not reveal that a record exists which the caller may not see.
func TestCondition_UnseenRecord(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("clerk")
	id, _ := in.key(1, personalKey)
	for _, url := range []string{fmt.Sprint("/admin/account/key/", id), fmt.Sprint("/admin/session/", in.sessionsOf(1)[0]), "/admin/account/key/999"} {
		in.ifMatch("If-Match", `"x"`, "DELETE", url, "", "clerk").brief(404)
	}
}

func TestCondition_SeveralSettings(t *testing.T) {
	t.Parallel()
	in := start(t)
	values := func() string { return in.ok("GET", "/system/setting-value", "", "owner").Header.Get("Etag") }
	save := func(tag, body string) *reply {
		return in.ifMatch("If-Match", tag, "PUT", "/system/setting", body, "owner")
	}
	const two = `{"values":{"site.title":%q,"site.contact":"c"}}`
	first := values()
	save(first, fmt.Sprintf(two, "a")).brief(200)
	save(first, fmt.Sprintf(two, "b")).brief(409, `"errorCode":"stale"`)
	second := values()
	save(`"x", W/`+second, fmt.Sprintf(two, "b")).brief(200)

	title := "/system/setting/" + in.setting("site.title").String()
	tag := in.ok("GET", title, "", "owner").Header.Get("Etag")
	save(tag, `{"values":{"site.title":"c"}}`).brief(200)
	save(tag, `{"values":{"site.title":"d"}}`).brief(409, `"errorCode":"stale"`)
	var s store.Setting
	in.ok("GET", title, "", "owner").data(&s)
	at := s.UpdatedAt.String()
	in.ok("PUT", "/system/setting", `{"values":{"site.title":"e"},"updated_at":"`+at+`"}`, "owner")
	in.call("PUT", "/system/setting", `{"values":{"site.title":"f"},"updated_at":"`+at+`"}`, "owner").brief(409, `"errorCode":"stale"`)
	in.call("PUT", "/system/setting", fmt.Sprintf(`{"values":{"site.title":"f","site.contact":"g"},"updated_at":%q}`, at), "owner").names(400, "updated_at")

	in.create("/system/setting-group", `{"key":"mine","title":"Mine"}`)
	in.create("/system/setting", `{"key":"k","title":"T","type":"secret","values":"x","group_id":7}`)
	hidden := values()
	in.ok("PUT", "/system/setting", `{"values":{"mine.k":"y"}}`, "owner")
	save(hidden, `{"values":{"site.title":"z"}}`).brief(409, `"errorCode":"stale"`)
}
