package settings_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

func TestBuiltinSetting_KeepsShape(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	var cases []servertest.Case
	var last servertest.Case
	for _, b := range store.Builtins {
		url := fmt.Sprintf("/system/setting/%d", in.Setting(b.Name()))
		inUse := func(what, body string, fields ...string) {
			has := []string{`"errorCode":"in_use"`, b.Name()}
			for _, f := range fields {
				has = append(has, `"`+f+`":`)
			}
			method := "PUT"
			if body == "" {
				method = "DELETE"
			}
			cases = append(cases,
				servertest.Case{b.Name() + " " + what, method, url, body, "owner", 409, has, nil})
		}
		inUse("deleted", "")
		inUse("renamed", `{"key":"other"}`, "key")
		inUse("moved", `{"group_id":8}`, "group_id")
		inUse("retyped", `{"type":"json"}`, "type")
		inUse("with other bounds", `{"props":[{"name":"width","value":"1"}]}`, "props")
		inUse("with options", `{"options":`+servertest.TwoOptions+`}`, "options")
		inUse("all of it",
			`{"key":"other","group_id":8,"type":"json","props":[{"name":"width","value":"1"}]}`,
			"key", "group_id", "type", "props")
		if b.Optional {
			cases = append(cases,
				servertest.Case{b.Name() + " emptied", "PUT", url, `{"values":""}`, "owner", 200,
					[]string{`"values":""`}, nil})
		} else {
			cases = append(cases,
				servertest.Case{b.Name() + " emptied", "PUT", url, `{"values":""}`, "owner", 422,
					[]string{`"values":`}, nil})
			cases = append(cases,
				servertest.Case{b.Name() + " emptied with many", "PUT", "/system/setting",
					`{"values":{"` + b.Name() + `":""}}`, "owner", 422,
					[]string{`"values.` + b.Name() + `":`}, nil})
		}
		if b.Type == "number" {
			bads := []string{"-1", "1.5", "1e1", "9999999999999", "x", "5.0", "9223372036854775808"}
			if b.Props[0].Value != "0" {
				bads = append(bads, "0")
			}
			for _, bad := range bads {
				cases = append(cases,
					servertest.Case{b.Name() + " " + bad, "PUT", url, `{"values":"` + bad + `"}`,
						"owner", 422, []string{`"errors":{"values":`}, nil})
			}
			cases = append(cases,
				servertest.Case{b.Name() + " as a fraction", "PUT", "/system/setting",
					`{"values":{"` + b.Name() + `":7.5}}`, "owner", 422, nil, nil})
		}

		for _, prop := range b.Props {
			if prop.Name == "max" || prop.Name == "min" && !strings.HasPrefix(b.Key, "login_log_") { // retention can only be increased
				extreme := servertest.Case{b.Name() + " at its " + prop.Name, "PUT", url,
					`{"values":"` + prop.Value + `"}`, "owner", 200,
					[]string{`"values":"` + prop.Value + `"`}, nil}
				if b.Name() == store.ReauthMinutes.Name() && prop.Name == "min" { // the owner may have confirmed earlier, before the test
					last = extreme
					continue
				}
				cases = append(cases, extreme)
				if prop.Name == "min" { // or the cases that follow have to end within the shortest session
					cases = append(cases,
						servertest.Case{b.Name() + " at its default", "PUT", url,
							`{"values":"` + b.Default + `"}`, "owner", 200, nil, nil})
				}
			}
		}
	}

	cases = append(cases,
		servertest.Case{"a title of 61 characters", "PUT", "/system/setting/1",
			`{"values":"` + fmt.Sprintf("%061d", 0) + `"}`, "owner", 422, []string{`"values":`},
			nil},
		servertest.Case{"the group renamed", "PUT", "/system/setting-group/1", `{"key":"other"}`,
			"owner", 409, []string{`"errorCode":"in_use"`, `"key":`}, nil},
		servertest.Case{"the group deleted", "DELETE", "/system/setting-group/1", "", "owner", 409,
			[]string{`"errorCode":"in_use"`}, nil},
		servertest.Case{"the words of a setting changed", "PUT", "/system/setting/1",
			`{"title":"Name","describe":"two\nlines","sort":-4}`, "owner", 200,
			[]string{`"title":"Name"`, `"sort":-4`}, nil},
		servertest.Case{"the words of a group changed", "PUT", "/system/setting-group/1",
			`{"title":"Place","remark":"r","public":0}`, "owner", 200, []string{`"title":"Place"`},
			nil},
		last,
	)
	servertest.RunCases(t, in, cases)
}

// TestBuiltinSetting_EmptyGroupIsNotDeleted removes all settings from a built-in
// group, as an older version may have done.
func TestBuiltinSetting_EmptyGroupIsNotDeleted(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Update(func(tx *store.Tx) error {
		return store.Settings.Delete(tx, store.SettingCache.Get(tx).ID("site.title"))
	})
	in.Call("DELETE", "/system/setting-group/1", "", "owner").Brief(409, `"errorCode":"in_use"`)
}

func TestBuiltinSetting_InForceAtOnce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting",
		`{"values":{"security.session_idle_minutes":60,"site.title":"Mine","app.session_days":"7"}}`, "owner")
	in.View(func(tx *store.Tx) error {
		if m, s, d := store.SessionIdleMinutes.Get(tx), store.SiteTitle.Get(tx), store.AppSessionDays.Get(tx); m != 60 || s != "Mine" || d != 7 {
			t.Errorf("in force are %d, %q and %d", m, s, d)
		}
		return nil
	})
}

func TestBuiltinSetting_Marked(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting", `{"key":"mine","title":"M","type":"input","group_id":1}`)
	var told map[string][]string
	in.OK("GET", "/system/setting-builtin", "", "owner").Data(&told)
	n := 0
	for group, keys := range told {
		for _, key := range keys {
			n++
			in.Call("DELETE", fmt.Sprintf("/system/setting/%d", in.Setting(group+"."+key)), "",
				"owner").Brief(409, `"errorCode":"in_use"`)
		}
	}

	if n != len(store.Builtins) {
		t.Errorf("%d are told, there are %d", n, len(store.Builtins))
	}
}
