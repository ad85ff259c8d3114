package server_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/changes"
	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/redact"
	"reeve/server/servertest"
	"reeve/server/web"
)

// leakMark is in every secret that the test generates, so that a part of one is found, too.
const leakMark = "Zq7Xk9Wv"

// leaks sends secrets, and remembers those that the server has generated.
type leaks struct {
	*servertest.Instance
	*rand.Rand
	log  servertest.Log
	real []string
	sent int
}

func (l *leaks) token() string              { return leakMark + strconv.FormatUint(l.Uint64(), 36) }
func (l *leaks) pick(from ...string) string { return from[l.IntN(len(from))] }

// value returns a token between characters that JSON, URLs and Go escape in several ways.
func (l *leaks) value() string {
	odd := []string{"", `"\`, "/<&", "%41 +", "é\u2028", "\n\x00", "😀=;", `'\u0041`}
	return l.pick(odd...) + l.token() + l.pick(odd...)
}

// try sends a request with secrets in its headers and, if query is set, in its query.
func (l *leaks) try(method, address, contentType, body, as string, query bool) int {
	l.T.Helper()
	if query {
		v := l.value()
		nested := fmt.Sprintf(`{"password":[%s],"a":{"api_key":%[1]s}}`,
			servertest.EncodeJSON(l.T, v))
		separator := "?"
		if strings.Contains(address, "?") {
			separator = "&"
		}
		address += separator + url.Values{
			"token":     {v},
			"sig":       {v},
			"X-Api-Key": {l.value()},
			"filter":    {nested},
			"sorter":    {nested},
		}.Encode()
	}

	r := httptest.NewRequest(method, address, strings.NewReader(body))
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", contentType)
	}

	token, known := l.Tokens[as]
	if !known {
		token = l.token()
	}

	switch as {
	case "nobody":
	case "basic":
		r.SetBasicAuth("admin", l.token())
	default:
		r.Header.Set("Authorization", "Bearer "+token)
	}

	r.Header.Set("Cookie", "session="+l.token()+"; b="+l.token())
	r.Header.Set(l.pick("X-Api-Key", "X-Auth", "Proxy-Authorization", "X-Token", "X-Whatever"),
		l.token())
	r.Header.Set("Referer",
		"https://u:"+l.token()+"@h/media/"+l.token()+"ABCDEFGHIJKLM?token="+l.token())
	w := httptest.NewRecorder()
	l.Server.Handler().ServeHTTP(w, r)
	if l.sent++; l.sent%200 == 0 {
		l.Flush()
	}

	return w.Code
}

// body returns a valid body with secrets in secret fields and, if unknown is set, in unknown
// fields at every depth.
func (l *leaks) body(good string, unknown bool) string {
	object := servertest.DecodeObject(l.T, good)
	for name, value := range object {
		if _, text := value.(string); text && redact.IsSecret(name) && name != "key" {
			object[name] = l.value()
		}
	}

	if unknown {
		v := l.value()
		inner := string(servertest.EncodeJSON(l.T, map[string]any{"Secret": v}))
		object["password2"] = v
		object["to"] = "/reset?token=" + url.QueryEscape(v)
		object["any"] = map[string]any{
			"token": []any{l.value(), map[string]any{"deep": v}},
			"list":  []any{map[string]any{"pin": v}},
			"text":  inner,
		}
	}

	return string(servertest.EncodeJSON(l.T, object))
}

// everyRoute sends secrets to every route, as every kind of caller, in every form.
func (l *leaks) everyRoute(statuses map[int]int) {
	for _, rt := range server.Routes() {
		good, takes := goodBodies()[rt.Name()]
		address := good.url
		id := "1"
		if rt.Method == "DELETE" {
			id = "999" // the other users are needed until the end
		}
		if strings.HasSuffix(rt.Path, "/erase") {
			address = strings.NewReplacer(":id", "999").Replace(rt.Path) // for the same reason
		}
		if !takes {
			address = strings.NewReplacer(":key", l.token()+"ABCDEFGHIJ", ":id", id, ":item_id",
				id).Replace(rt.Path)
		}

		for _, as := range []string{"owner", "clerk", "customer", "nobody", "wrong", "basic"} {
			if _, gone := l.Tokens[as]; gone && (as == "owner" || as == "customer") {
				l.renew()
			}
			for _, query := range []bool{false, true} {
				if !takes {
					statuses[l.try(rt.Method, address, "", "", as, query)]++
					continue
				}
				for _, body := range []string{l.body(good.body, false), l.body(good.body, true),
					`{"password":"` + l.token(), `["` + l.token() + `"]`} {
					statuses[l.try(rt.Method, address, "application/json", body, as, query)]++
				}
			}
		}

		l.renew()
		if takes {
			body := l.body(good.body, true)
			statuses[l.try(rt.Method, address, "text/plain", body, "owner", false)]++
			statuses[l.try(rt.Method, address, "application/json",
				`{"password":"`+l.token()+strings.Repeat(" ", web.MaxBody)+`"}`, "owner", false)]++
		}
		if rt.Input != nil && rt.Input.Upload {
			parts := servertest.MultipartBody(servertest.FieldPart("password", l.value()),
				servertest.FieldPart(l.token(), "x"),
				servertest.FilePart(l.token()+".txt", l.token()))
			for _, as := range []string{"owner", "nobody", "clerk"} {
				statuses[l.try(rt.Method, address, "multipart/form-data; boundary=edge", parts, as,
					as != "owner")]++
			}
		}
	}
}

// renew signs in again the users that a request may have signed out.
func (l *leaks) renew() {
	l.Tokens["owner"], l.Tokens["customer"] = l.SignIn(1), l.AppSignIn(1)
	l.real = append(l.real, l.Tokens["owner"], l.Tokens["customer"])
}

// specials sends secrets that belong to a certain URL or field.
func (l *leaks) specials(statuses map[int]int) {
	send := func(method, address, body, as string) {
		statuses[l.try(method, address, "application/json", body, as, false)]++
	}

	f := l.Keep("owner", "signed.txt", "signed for")
	signed := l.Link(f.ID, "", "owner").URL
	parsedURL, err := url.Parse(signed)
	servertest.Must(l.T, err)
	signatures := 0
	for name, values := range parsedURL.Query() {
		if redact.IsSecret(name) {
			signatures++
			l.real = append(l.real, values...)
		}
	}

	if signatures == 0 {
		l.T.Errorf("no parameter of %s has the name of a secret", signed)
	}

	l.OK("PUT", fmt.Sprint("/file/list/", f.ID), `{"public":1}`, "owner")
	public := l.PublicURL(f.ID)
	l.real = append(l.real, strings.TrimPrefix(public, "/media/"))
	for _, address := range []string{signed, signed + "0", public, public + "?x=1", public + "/x",
		"/medium" + public, public + "x"} {
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE"} {
			send(method, address, "", "nobody")
		}
	}

	for range 12 {
		for _, realm := range []string{"/admin/login", "/api/login"} {
			send("POST", realm,
				string(servertest.EncodeJSON(l.T, map[string]string{
					"username": "admin",
					"password": l.value(),
				})), "nobody")
		}
	}

	id := l.Create("/system/setting",
		string(servertest.EncodeJSON(l.T, map[string]any{
			"key":      "vault",
			"title":    "V",
			"type":     "secret",
			"values":   l.token(),
			"group_id": 8,
		})))

	for _, name := range []string{"mine.vault", "MINE.vault", "mine.vautl", "vault", "site.title2"} {
		send("PUT", "/system/setting",
			string(servertest.EncodeJSON(l.T,
				map[string]any{"values": map[string]any{name: l.value()}})), "owner")
		send("PUT", "/system/setting",
			string(servertest.EncodeJSON(l.T,
				map[string]any{"values": map[string]any{name: []string{l.value()}}})), "owner")
		send("PUT", "/system/setting",
			string(servertest.EncodeJSON(l.T,
				map[string]any{"values": map[string]any{name: l.value()}})), "clerk")
	}

	for _, body := range []map[string]any{{"values": l.value()}, {
		"values": l.value(),
		"type":   "number",
	}, {"values": l.value(), "updated_at": "2000-01-01T00:00:00.000000Z"}} {
		send("PUT", fmt.Sprint("/system/setting/", id), string(servertest.EncodeJSON(l.T, body)),
			"owner")
	}

	for _, rt := range server.Routes() { // a credential under a name that the route does not know
		if rt.KnownFields() == nil ||
			rt.Method == "GET" && rt.Raw != nil && rt.Binary == changes.EventStream {
			continue
		}

		address, body := goodRequest(&rt)
		address = strings.NewReplacer(":key", "ABCDEFGHIJ", ":id", "1").Replace(address)
		if body != "" {
			object := servertest.DecodeObject(l.T, body)
			object["kod"], object["code"] = l.value(), map[string]any{"recovery": []string{l.value()}}
			body = string(servertest.EncodeJSON(l.T, object))
		}

		send(rt.Method, address, body, "nobody")
		separator := map[bool]string{false: "?", true: "&"}[strings.Contains(address, "?")]
		send(rt.Method,
			address+separator+"kod="+url.QueryEscape(l.value())+"&passcode="+url.QueryEscape(l.value()), "", "nobody")
	}

	send("POST", "/admin/role", `{"name":"Owner","password":"`+l.token()+`"}`, "owner")
	send("POST", "/admin/role", `{"name":"Owner"}`, "owner")
}

// find reports every place where a text contains a secret, however it is escaped.
func (l *leaks) find(where, text string) {
	l.T.Helper()
	needles := []string{strings.ToLower(leakMark), hex.EncodeToString([]byte(leakMark))}
	folded := strings.ToLower(servertest.Plain(text))
	for _, needle := range needles {
		if i := strings.Index(folded, needle); i >= 0 {
			l.T.Errorf("%s has a secret: …%q…", where,
				folded[max(0, i-300):min(len(folded), i+100)])
		}
	}

	for shift := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + leakMark))
		if i := strings.Index(text, encoded[2*shift:len(encoded)-2]); i >= 0 {
			l.T.Errorf("%s has a secret in base64: …%q…", where,
				text[max(0, i-300):min(len(text), i+100)])
		}
	}
	// There are thousands of spellings: the text is read once for all, by their first bytes.
	const head = 8
	spellings := map[string][][2]string{}
	for _, value := range append(l.real, servertest.MetricsSecret, servertest.OwnerPassword,
		"another password", "long enough it is") {
		for _, spelled := range redact.Spellings(value) {
			if len(spelled) < head {
				l.T.Fatalf("%q is too short to be looked for", spelled)
			}
			spellings[spelled[:head]] = append(spellings[spelled[:head]], [2]string{value, spelled})
		}
	}

	for i := range max(0, len(text)-head+1) {
		for _, s := range spellings[text[i:i+head]] {
			if strings.HasPrefix(text[i:], s[1]) {
				l.T.Errorf("%s has the secret %q: …%q…", where, s[0],
					text[max(0, i-300):min(len(text), i+100)])
			}
		}
	}
}

// TestMonitoring_KeepsNoSecrets sends secrets wherever one can be, through every route, in requests
// that succeed and that fail in every way, and looks for them in everything that the server writes
// and returns about these requests.
func TestMonitoring_KeepsNoSecrets(t *testing.T) {
	l := &leaks{Rand: rand.New(rand.NewPCG(7, uint64(servertest.Size(1, 2, 3))))}
	l.Instance = withGoodBodies(t, func(s *servertest.Setup) { s.Log = &l.log })
	l.renew()
	statuses := map[int]int{}
	l.specials(statuses)
	l.everyRoute(statuses)
	l.Flush()
	for _, status := range []int{200, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429} {
		if statuses[status] == 0 {
			t.Errorf("no request was answered %d: %v", status, statuses)
		}
	}

	l.find("the log", l.log.String())
	files, err := os.ReadDir(filepath.Join(l.Dir, "monitor"))
	servertest.Must(t, err)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(l.Dir, "monitor", f.Name()))
		servertest.Must(t, err)
		l.find(f.Name(), string(b))
	}

	l.Tokens["owner"] = l.SignIn(1)
	told := 0
	for _, kind := range []string{monitor.RequestKind, monitor.AuthKind, monitor.QueryKind,
		monitor.CacheKind, monitor.RedisKind} {
		for at, more := 1, true; more; at++ {
			var events ops.MonitorPage[json.RawMessage]
			a := l.OK("GET", fmt.Sprintf("/system/monitor/%s?pageSize=1000&page=%d", kind, at), "",
				"owner")
			a.Data(&events)
			l.find("the list of "+kind, a.Body)
			more = len(events.Data) == 1000
			if told += len(events.Data); kind == monitor.RequestKind {
				for n := 0; n < len(events.Data); n += 50 {
					var head monitor.EventHead
					servertest.Must(t, json.Unmarshal(events.Data[n], &head))
					l.find("a story",
						l.OK("GET", "/system/monitor/request/"+head.RequestID, "", "owner").Body)
				}
			}
		}
	}

	if told < l.sent {
		t.Errorf("%d events are told of %d requests", told, l.sent)
	}

	l.OK("POST", "/system/monitor/trace", `{"user_id":1}`, "owner")
	for _, address := range []string{"/system/monitor/stats", "/system/monitor/trace",
		"/system/info", "/system/health"} {
		l.find(address, l.OK("GET", address, "", "owner").Body)
	}

	l.find("/metrics", l.OK("GET", "/metrics", "", "metrics").Body)
}

// TestMonitoring_CanaryFoundInAnySpelling checks that the test above can fail.
func TestMonitoring_CanaryFoundInAnySpelling(t *testing.T) {
	secret := "x" + leakMark + "y"
	for name, text := range map[string]string{
		"raw": secret, "in capitals": strings.ToUpper(secret), "as JSON": `\u005a` + secret[2:],
		"as URL": "%5a" + secret[2:], "as URL twice": "%255A" + secret[2:],
		"in base64":              base64.StdEncoding.EncodeToString([]byte(secret)),
		"in base64 elsewhere":    base64.URLEncoding.EncodeToString([]byte("a:" + secret)),
		"in base64 at the start": base64.StdEncoding.EncodeToString([]byte(secret[1:])),
		"in hex":                 hex.EncodeToString([]byte(secret)),
		"the server's":           "a " + servertest.MetricsSecret,
	} {
		l := &leaks{Instance: &servertest.Instance{T: &quietT{TB: t}}}
		if l.find(name, "before "+text+" after"); !l.T.Failed() {
			t.Errorf("%s: it is not found in %s", name, text)
		}
	}
}

// quietT records an expected failure.
type quietT struct {
	testing.TB
	failed bool
}

func (q *quietT) Helper()               {}
func (q *quietT) Errorf(string, ...any) { q.failed = true }
func (q *quietT) Failed() bool          { return q.failed }
