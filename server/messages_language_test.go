package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"reeve/server/ops"
	"reeve/server/servertest"
)

// Requests that fail in the ways that people meet most, as somebody.
var failingRequests = []struct{ as, method, url, body string }{
	{"nobody", "POST", "/admin/login", `{"username":"admin","password":"wrong password"}`},
	{"nobody", "GET", "/admin/info", ""},
	{"owner", "GET", "/admin/list?ids=1", ""},
	{"owner", "GET", "/nowhere", ""},
	{"owner", "DELETE", "/admin/info", ""},
	{"owner", "GET", "/admin/list/999", ""},
	{"owner", "GET", "/admin/list/x", ""},
	{"owner", "GET", "/admin/list?page=0&color=red&status=1&sorter=%7B%22email%22:%22ascend%22%7D",
		""},
	{"owner", "GET", "/admin/list?current=1&page=2", ""},
	{"owner", "GET", "/system/monitor/request/unknown", ""},
	{"owner", "POST", "/admin/list",
		`{"username":"a b","email":"x","sex":7,"NickName":"x","dept_id":99}`},
	{"owner", "POST", "/admin/list", `{"username":"x"`},
	{"owner", "POST", "/admin/role", `{"name":"Owner"}`},
	{"owner", "DELETE", "/admin/role/1", ""},
	{"owner", "PUT", "/admin/list/1/status", `{"status":0}`},
	{"owner", "PUT", "/admin/list/1", `{"nickname":"x","updated_at":"2020-01-01T00:00:00Z"}`},
	{"owner", "PUT", "/admin/password", `{"old_password":"x","new_password":"short"}`},
	{"owner", "PUT", "/system/setting", `{"values":{"site.unknown":"x"}}`},
}

// messageGolden is what a request gets in both languages.
type messageGolden struct {
	Request string               `json:"request"`
	Status  int                  `json:"status"`
	Code    string               `json:"code"`
	English string               `json:"english"`
	Chinese string               `json:"chinese"`
	Reason  json.RawMessage      `json:"reason,omitempty"`
	Errors  map[string][2]string `json:"errors,omitempty"`
	Details json.RawMessage      `json:"details,omitempty"`
}

type parsedMessages struct {
	servertest.Parsed
	Reason, Details json.RawMessage
}

func TestGoldenMessages(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var all []messageGolden
	for _, f := range failingRequests {
		var got [2]parsedMessages
		var status int
		for i, language := range []string{"en-US,en;q=0.9,zh;q=0.8", "zh-CN,zh;q=0.9,en;q=0.8"} {
			r := in.Request(f.method, f.url, f.body, f.as)
			r.Header.Set("Accept-Language", language)
			a := in.Send(r)
			servertest.Must(t, json.Unmarshal([]byte(a.Body), &got[i]))
			if want := []string{"en", "zh-CN"}[i]; a.Header.Get("Content-Language") != want ||
				a.Header.Get("Vary") != "Accept-Language" {
				t.Errorf("%s: Content-Language %q, Vary %q", a.Sent,
					a.Header.Get("Content-Language"), a.Header.Get("Vary"))
			}
			status = a.Code
		}

		en, zh := got[0], got[1]
		if string(en.Reason) != string(zh.Reason) || string(en.Details) != string(zh.Details) ||
			(en.Reason == nil) == (en.Details == nil) {
			t.Errorf("%s %s: reasons %s and %s, details %s and %s", f.method, f.url, en.Reason,
				zh.Reason, en.Details, zh.Details)
		}

		g := messageGolden{f.method + " " + f.url, status, en.ErrorCode, en.Msg, zh.Msg, en.Reason,
			nil, en.Details}
		for field, text := range en.Errors {
			if g.Errors == nil {
				g.Errors = map[string][2]string{}
			}
			g.Errors[field] = [2]string{text, zh.Errors[field]}
		}

		all = append(all, g)
	}

	b, err := json.Marshal(all)
	servertest.Must(t, err)
	golden(t, "messages", servertest.Steady(string(b)))
}

// Texts of health are in the language of the request, with a code for programs.
func TestHealthTexts_RequestLanguage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	if _, err := in.DB.FilesOpened(); err != nil { // until then the text changes between the requests
		t.Fatal(err)
	}

	r := in.Request("GET", "/system/health", "", "owner")
	r.Header.Set("Accept-Language", "zh")
	var out ops.SystemHealthOut
	a := in.Send(r)
	a.Brief(200)
	a.Data(&out)
	if a.Header.Get("Content-Language") != "zh-CN" || a.Header.Get("Vary") != "Accept-Language" {
		t.Errorf("got the headers %v", a.Header)
	}

	_, parts := in.HealthParts()
	for _, p := range out.Parts {
		if en := parts[p.Name]; p.Text == en.Text || p.Reason.Code == "" ||
			p.Reason.Code != en.Reason.Code || !strings.ContainsFunc(p.Text, func(r rune) bool {
			return unicode.Is(unicode.Han, r)
		}) {
			t.Errorf("%s: %q in English, %q in Chinese, code %s", p.Name, en.Text, p.Text,
				p.Reason.Code)
		}
	}

	if len(out.Parts) < 8 {
		t.Errorf("%d parts", len(out.Parts))
	}
}

// A response with no text that depends on the language names none in its header.
func TestContentLanguage_AbsentForRecords(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	r := in.Request("GET", "/admin/info", "", "owner")
	r.Header.Set("Accept-Language", "zh")
	a := in.Send(r)
	a.Brief(200)
	if a.Header.Get("Content-Language") != "" || len(a.Header) > 8 {
		t.Errorf("got the headers %v", a.Header)
	}
}
