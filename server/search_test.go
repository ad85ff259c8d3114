package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/fold"
)

// sameSearch are lists that search like another one, with the reason.
var sameSearch = map[string]string{
	"/system/monitor/request": "all kinds of events are searched by one function, tested with /system/monitor/auth",
	"/system/monitor/query":   "like /system/monitor/request",
	"/system/monitor/cache":   "like /system/monitor/request",
	"/system/monitor/redis":   "like /system/monitor/request",
}

// searched returns, for each list that can be searched, the path of a response in which a record
// whose name is Müller, or muller where names have no accents, is found, and the name of the caller.
func searched(in *servertest.Instance) map[string][2]string {
	t := in.T
	made := func(path, body string) store.ID { t.Helper(); return in.Made(path, body) }
	made("/admin/list", `{"username":"muller","password":"correct horse 1"}`)
	made("/admin/list", `{"username":"jurgen","nickname":"Jürgen Müller","password":"correct horse 1"}`)
	in.OK("POST", "/admin/list", `{"username":"muller.guest","invite":"link"}`, "owner")
	made("/user/list", `{"username":"jurgen","nickname":"Jürgen Müller","password":"correct horse 1"}`)
	in.OK("POST", "/user/list", `{"username":"muller.guest","invite":"link"}`, "owner")
	in.OK("POST", "/admin/account/key", `{"name":"Müller"}`, "owner")
	in.Enter("müller", "muller", "correct horse 1")
	in.Login("muller", "wrong horse 12")
	made("/admin/role", `{"name":"Müller"}`)
	made("/user/role", `{"name":"Müller"}`)
	made("/file/group", `{"name":"Müller"}`)
	in.Keep("owner", "Müller.txt", "kept")
	gone := in.Keep("owner", "Müller, old.txt", "gone")
	in.OK("DELETE", fmt.Sprint("/file/list/", gone.ID), "", "owner")
	dict := made("/system/dict", `{"code":"names","name":"Müller"}`)
	made(fmt.Sprintf("/system/dict/%d/item", dict), `{"label":"Müller","value":"m"}`)
	made("/system/field", `{"realm":"admin","key":"names","title":"Müller","type":"input"}`)
	group := made("/system/setting-group", `{"key":"names","title":"Müller"}`)
	made("/system/setting", fmt.Sprintf(`{"key":"m","title":"Müller","type":"input","group_id":%d}`, group))
	in.OK("POST", "/system/webhook", `{"url":"https://example.org/","description":"Müller","types":["*"]}`, "owner")
	provider := simpleAt("/system/provider")
	provider.needs(in)
	of := in.Made(provider.path, provider.nth(1))
	in.Update(func(tx *store.Tx) error {
		return store.Identities.Create(tx, &store.Identity{ProviderID: of, UserID: 1, Subject: "1", Email: "müller@example.org"})
	})
	in.Flush()

	all := map[string][2]string{"/admin/choice": {"/admin/choice?of=user", "owner"},
		"/system/dict/:id/item": {fmt.Sprintf("/system/dict/%d/item", dict), "owner"},
		"/admin/loginlog":       {"/admin/loginlog", "müller"},
	}
	for _, path := range []string{
		"/admin/list", "/admin/list-export", "/admin/invite", "/admin/key", "/admin/account/key", "/admin/role", "/user/list",
		"/user/list-export", "/user/invite", "/user/role", "/file/group", "/file/list", "/file/trash", "/system/audit",
		"/system/dict", "/system/field", "/system/loginlog", "/system/monitor/auth", "/system/provider-person",
		"/system/setting", "/system/setting-group", "/system/webhook",
	} {
		all[path] = [2]string{path, "owner"}
	}
	return all
}

// searches reports whether an operation that is no list has a search, which trees ignore.
func searches(rt *web.Route) bool {
	return rt.Input != nil && slices.ContainsFunc(rt.Input.Fields, func(f *web.Field) bool {
		return f.Name == "keywordSearch" && f.Doc != "Ignored"
	})
}

// TestSearch_CaseAndAccents goes over all operations that search by keyword: what people type without
// accents, in another case, another width or another normal form is found.
func TestSearch_CaseAndAccents(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	places, tested := searched(in), map[string]bool{}
	for _, rt := range server.Routes() {
		lists := rt.List != nil && rt.List.Keywords != nil || searches(&rt)
		if rt.Method != "GET" || !lists || sameSearch[rt.Path] != "" {
			continue
		}
		place, ok := places[rt.Path]
		if tested[rt.Path] = true; !ok {
			t.Errorf("%s: what does a search find?", rt.Path)
			continue
		}
		answer := func(text string) string {
			separator := "?"
			if strings.Contains(place[0], "?") {
				separator = "&"
			}
			return in.OK("GET", place[0]+separator+"keywordSearch="+url.QueryEscape(text), "", place[1]).Body
		}
		for _, text := range []string{"muller", "MULLER", "müller", "MÜLLER", "Mu\u0308ller", "ｍｕｌｌｅｒ"} {
			if got := answer(text); !strings.Contains(fold.Search(got), "muller") {
				t.Errorf("%s: %q finds nothing: %.200s", rt.Path, text, got)
			}
		}
		if got := answer("mullerx"); strings.Contains(fold.Search(got), "muller") {
			t.Errorf("%s: finds what does not match: %.200s", rt.Path, got)
		}
	}
	for path := range places {
		if !tested[path] {
			t.Errorf("there is no search at %s", path)
		}
	}
}
