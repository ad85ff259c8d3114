package redact

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"reeve/store"
)

const (
	someToken = "rv_0123456789abcdefghij"
	someJWT   = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-_"
)

func TestMask_EqualsSettingsMask(t *testing.T) {
	if hidden != store.SecretMask {
		t.Errorf("hidden is %q, want %q", hidden, store.SecretMask)
	}
}

func TestSecretName(t *testing.T) {
	secret := `code_verifier password old_password oldPassword PASSWORD passwd db_passwd passphrase pwd userPwd secret client-secret token userToken rv_token
		tokens Authorization Proxy-Authorization Cookie set-cookie credentials apikey api_key api-key apiKey APIKey x-api-key X_API_Key access.key accessKey
		signature private private_key key Key KEY keys signing_key signingKey SSHKey user.key key1 filter[key] otp otpCode OTPs totp pin PINs pass
		auth x-auth hash salt paſſword pass passcode recovery_code backupCode mfa_code verification-code kennwort 密码 contraseña pass` + "\u200b" + `word acceſſKey`
	for name := range strings.FieldsSeq(secret) {
		if !IsSecret(name) {
			t.Errorf("%s is not secret", name)
		}
	}

	for _, name := range []string{"pass word", "p.a.s.s.w.o.r.d", "pass\x00word", "\u212aey",
		"a key", strings.Repeat("x", 1<<20) + "_key"} {
		if !IsSecret(name) {
			t.Errorf("%.20q is not secret", name)
		}
	}

	plain := `keywordSearch keyword monkey turkeyName option options passport compass author spinner pinned opinion hashtag salted code session
		session_id id username email values name status created_at[] sorter filter page pageSize sex describe topics`
	for name := range strings.FieldsSeq(plain) {
		if IsSecret(name) {
			t.Errorf("%s is secret", name)
		}
	}

	if IsSecret("") || IsSecret("\xff\xfe") {
		t.Error("a name without letters is secret")
	}
}

func TestRedactHeader(t *testing.T) {
	r := &Redactor{}
	got := r.Header(http.Header{
		"User-Agent":      {"curl/8 " + someToken + " x"},
		"accept":          {"text/html", "*/*"},
		"Accept-Language": {strings.Repeat("é", 200)},
		"Referer":         {"https://me:hunter22@host/media/ABCDEFGHIJKLMNOPQRSTUVWXYZ/list?token=x#y"},
		"Origin":          {"https://host"},
		"Range":           {"bytes=\xff0-1"},
		"Authorization":   {"Basic bWU6b3BlbnNlc2FtZQ=="},
		"Cookie":          {"theme=dark; sid=0123456789"},
		"X-Custom":        {"unknown"},
		"X-Api-Key":       {"0a1b2c3d4e"},
	})

	want := map[string]string{
		"User-Agent": "curl/8 ****** x", "Accept": "text/html, */*",
		"Accept-Language": strings.Repeat("é", 126) + "…",
		"Referer":         "https://host/media/******/list", "Origin": "https://host",
		"Range": "bytes=\uFFFD0-1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	text := r.Text("user me, opensesame, bWU6b3BlbnNlc2FtZQ==, 0123456789, 0a1b2c3d4e, dark, unknown")
	if want := "user me, ******, ******, ******, ******, dark, unknown"; text != want {
		t.Errorf("the text is %s", text)
	}
}

func TestRedactReferer(t *testing.T) {
	for referer, want := range map[string]string{
		"/console/users?x=1":        "/console/users",
		"http://host:8080":          "http://host:8080",
		"http://[::1":               hidden,
		"mailto:password":           hidden,
		"http://h/api/token/abc/ok": "http://h/api/token/******/ok",
	} {
		if got := (&Redactor{}).Header(http.Header{"Referer": {referer}})["Referer"]; got != want {
			t.Errorf("%s is kept as %s", referer, got)
		}
	}
}

func TestRedactURI(t *testing.T) {
	tests := []struct{ name, pattern, path, query, want string }{
		{"nothing to hide", "/admin/role/:id", "/admin/role/7", "page=2&keywordSearch=a%20b",
			"/admin/role/7?page=2&keywordSearch=a+b"},
		{"a path parameter", "/media/:key", "/media/ABC", "", "/media/******"},
		{"a path parameter that is empty", "/media/:key", "/media/", "", "/media/"},
		{"a token for a number", "/admin/role/:id", "/admin/role/" + someToken, "",
			"/admin/role/******"},
		{"no route, a long segment", "", "/media/ABCDEFGHIJKLMNOPQRSTUVWXYZ/", "",
			"/media/******/"},
		{"no route, after a secret name", "", "/api/password/abc/d", "", "/api/password/******/d"},
		{"no route", "", "/wp-login.php", "a", "/wp-login.php?a"},
		{"a path with bytes to escape", "", "/a b/\xff*", "", "/a%20b/%EF%BF%BD*"},
		{"a secret parameter", "", "/", "signature=abc&expires=1&Token=x&token=y",
			"/?signature=******&expires=1&Token=******&token=******"},
		{"a name that is escaped", "", "/", "pass%77ord=abc", "/?password=******"},
		{"an index", "", "/", "filter[password]=abc", "/?filter%5Bpassword%5D=******"},
		{"JSON", "", "/", `filter={"status":["1"],"password":["x"]}`,
			`/?filter=%7B%22status%22%3A%5B%221%22%5D%2C%22password%22%3A%22******%22%7D`},
		{"JSON without a name", "", "/", `{"pin":1}`, `/?%7B%22pin%22%3A%22******%22%7D`},
		{"JSON in JSON", "", "/", `q="{\"pin\":1}"`,
			`/?q=%22%7B%5C%22pin%5C%22%3A%5C%22******%5C%22%7D%22`},
		{"malformed JSON", "", "/", `filter={"password":["x"`, `/?filter=******`},
		{"a malformed array", "", "/", `filter=[{"password":"x"}`, `/?filter=******`},
		{"brackets", "", "/", `q=[draft]`, `/?q=%5Bdraft%5D`},
		{"a malformed escape", "", "/", "a=1&b=%zz&token=x", "/?******"},
		{"a semicolon", "", "/", "a=1;token=x", "/?******"},
		{"a token in a value", "", "/", "q=x+Bearer%20abc&" + someToken,
			"/?q=x+Bearer+******&******"},
		{"not UTF-8", "", "/", "q=%ff", "/?q=%EF%BF%BD"},
		{"an address", "", "/", "to=" + url.QueryEscape("/reset?token=abc&a=1#key=2&b"),
			"/?to=%2Freset%3Ftoken%3D******%26a%3D1%23key%3D******%26b"},
		{"an address in an address", "", "/",
			"to=" + url.QueryEscape("https://h/x?next="+url.QueryEscape("/y?pin=7")),
			"/?to=https%3A%2F%2Fh%2Fx%3Fnext%3D%252Fy%253Fpin%253D******"},
		{"addresses without end", "", "/", "a=" + strings.Repeat("/?a=", 4) + "/?pin=7",
			"/?a=%2F%3Fa%3D%252F%253Fa%253D%25252F%25253Fa%25253D******"},
		{"a question", "", "/", "q=/a+or+b?+key", "/?q=%2Fa+or+b%3F+key"},
		{"a recovery code", "", "/", "q=ABCD-efgh-2345-67ab+abcd-efgh-ijkl+-abcd-efgh-ijkl-mnop",
			"/?q=******+abcd-efgh-ijkl+-abcd-efgh-ijkl-mnop"},
		{"too long", "", "/", "q=" + strings.Repeat("x", 2000),
			"/?q=" + strings.Repeat("x", 1017) + "…"},
	}
	for _, test := range tests {
		if got := (&Redactor{}).URI(test.pattern, test.path, test.query, Fields{}); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}

	if got := (&Redactor{}).URI("/admin/login", "/admin/login", "username=x",
		Fields{Usernames: true}); got != "/admin/login?******" {
		t.Errorf("the query of a sign-in: %s", got)
	}
	if got := (&Redactor{}).URI("/admin/login", "/admin/login", "a=x&b=y",
		Fields{Known: map[string]bool{"b": true}}); got != "/admin/login?a=******&b=y" {
		t.Errorf("a parameter that is not known: %s", got)
	}
}

func TestRedactBody(t *testing.T) {
	none, save, define, change := Fields{}, Fields{Values: true}, Fields{Value: true}, Fields{Value: true}
	tests := []struct {
		name       string
		hide       Fields
		body, want string
	}{
		{"nothing", none, "", ""},
		{"a plain object", none, ` { "a" : [ 1 , -2.50e+999 , true , null , "x" ] , "b" : { } } `,
			`{"a":[1,-2.50e+999,true,null,"x"],"b":{}}`},
		{"the text of a file", Fields{Values: true, Texts: true},
			`{"files":[{"name":"shop","text":"a = 1\nb = 's3cr3t'"}],"prune":1}`,
			`{"files":[{"name":"shop","text":"******"}],"prune":1}`},
		{"a text that is no file", Fields{Values: true}, `{"text":"a"}`, `{"text":"a"}`},
		{"a password", Fields{Usernames: true}, `{"username":"me","password":"x"}`,
			`{"username":"******","password":"******"}`},
		{"a user name that is not one", Fields{Usernames: true}, `{"UserName":["x"]}`,
			`{"UserName":"******"}`},
		{"a user name where it is one", none, `{"username":"me"}`, `{"username":"me"}`},
		{"any type", none,
			`{"pin":1,"key":null,"pass":[{"a":"]}"},"b"],"token":{"c":[]},"otp":true,"z":1}`,
			`{"pin":"******","key":"******","pass":"******","token":"******","otp":"******","z":1}`},
		{"at any depth", none, `{"l":[[{"a":{"b":[{"key":"x","c":1}]}}]]}`,
			`{"l":[[{"a":{"b":[{"key":"******","c":1}]}}]]}`},
		{"a key given twice", none, `{"key":"x","key":"y"}`, `{"key":"******","key":"******"}`},
		{"a key that is escaped", none, `{"\u006bey":"x"}`, `{"\u006bey":"******"}`},
		{"a value that is named like a secret", none, `{"a":"password","b":["key","x"]}`,
			`{"a":"password","b":["key","x"]}`},
		{"escapes stay", none, `{"a":"\u0041\"\n\\"}`, `{"a":"\u0041\"\n\\"}`},
		{"tokens", none,
			`{"` + someToken + `":["a ` + someJWT + ` b","\u0072v_0123456789abcdefghij"]}`,
			`{"******":["a ****** b","******"]}`},
		{"JSON in a string", none, `{"a":"{\"pin\":1,\"b\":2}"}`,
			`{"a":"{\"pin\":\"******\",\"b\":2}"}`},
		{"malformed JSON in a string", none, `{"a":" {pin: 1}","b":"[draft]"}`,
			`{"a":"******","b":"[draft]"}`},
		{"words first in an array in a string", none, `{"a":"[true,{\"pin\":1}]"}`,
			`{"a":"[true,{\"pin\":\"******\"}]"}`},
		{"a string, perhaps a password", none, ` "x"`, `(not a JSON object, 4 bytes)`},
		{"an array, perhaps of passwords", none, `["x"]`, `(not a JSON object, 5 bytes)`},
		{"NUL and half a character", none, `{"a":"\u0000","pin":"\ud800"}`,
			`{"a":"\u0000","pin":"******"}`},
		{"not UTF-8", none, "{\"a\":\"\xff\",\"key\":\"\xff\"}",
			"{\"a\":\"\uFFFD\",\"key\":\"******\"}"},
		{"malformed", none, `{"password":"x`, `(malformed JSON, 14 bytes)`},
		{"two values", none, `{} {"password":"x"}`, `(malformed JSON, 19 bytes)`},
		{"settings", save,
			`{"values":{"mail.dsn":"x","mail.host":"h","mail.smtp_password":"y","auth.idle":"5"}}`,
			`{"values":{"mail.dsn":"******","mail.host":"h","mail.smtp_password":"******","auth.idle":"5"}}`},
		{"settings in capitals", save,
			`{"VALUES" : {"mail.dsn":{"a":1}, "mail.host":{"key":"x","a":1}}}`,
			`{"VALUES":{"mail.dsn":"******","mail.host":{"key":"******","a":1}}}`},
		{"no settings", save, `{"values":{},"a":{"values":["x"]}}`,
			`{"values":{},"a":{"values":"******"}}`},
		{"a setting's name elsewhere", none, `{"values":{"mail.dsn":"x"}}`,
			`{"values":{"mail.dsn":"x"}}`},
		{"a new setting", define, `{"type":"secret","values":"x","title":"t"}`,
			`{"type":"secret","values":"******","title":"t"}`},
		{"a field that is not known", Fields{Known: map[string]bool{"username": true}},
			`{"username":{"b":1},"x":"y","c":{"username":1}}`,
			`{"username":{"b":1},"x":"******","c":"******"}`},
		{"an address", none, `{"to":"/reset?token=abc&a=1"}`, `{"to":"/reset?token=******&a=1"}`},
		{"a recovery code", none, `{"note":"abcd-efgh-2345-mnop!"}`, `{"note":"******!"}`},
		{"a setting changed", change, `{"values":"x","options":[{"label":"a","value":"b"}]}`,
			`{"values":"******","options":[{"label":"a","value":"b"}]}`},
	}
	for _, test := range tests {
		r := &Redactor{IsSecretSetting: func(name string) bool { return name == "mail.dsn" }}
		if got := r.Body("application/json", []byte(test.body), true, test.hide); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}

	r := &Redactor{}
	if got := r.Body("application/json; charset=utf-8", []byte(`{"values":{"a.b":1}}`), true, save); got != `{"values":{"a.b":"******"}}` {
		t.Errorf("without knowing the settings: %s", got)
	}
	if got := r.Body("text/plain", []byte(`{"a":1}`), true, Fields{}); got != "(not JSON, 7 bytes)" {
		t.Errorf("a text: %s", got)
	}
	if got := r.Body("application/json", []byte(`{"a":1}`), false, Fields{}); got != "(not read to its end, 7 bytes)" {
		t.Errorf("half a body: %s", got)
	}
}

func TestRedactBody_Bound(t *testing.T) {
	r := &Redactor{}
	long := `{"a":"` + strings.Repeat("é", 1<<12) + `","password":"after-the-cut"}`
	got := r.Body("application/json", []byte(long), true, Fields{})
	if len(got) > keptBody || !utf8.ValidString(got) ||
		!strings.HasSuffix(got, "é… (cut, 8227 bytes)") {
		t.Errorf("%d bytes that end with %s", len(got), got[max(0, len(got)-40):])
	}
	if got := r.Text("no after-the-cut here"); got != "no ****** here" {
		t.Errorf("a secret behind the cut is not remembered: %s", got)
	}

	for name, shape := range map[string]func(n int) string{
		"arrays": func(n int) string {
			return strings.Repeat("[", n/2) + strings.Repeat("]", n/2)
		},
		"9,000 arrays": func(n int) string {
			return strings.Repeat("[", 9000) + `{"key":"x"}` + strings.Repeat("]", 9000)
		},
		"a huge key": func(n int) string { return `{"` + strings.Repeat("x", n) + `":1}` },
		"a huge secret": func(n int) string {
			return `{"key":"` + strings.Repeat("x", n) + `"}`
		},
		"many secrets": func(n int) string {
			return "[" + strings.Repeat(`{"key":"abcd"},`, n/16) + "1]"
		},
		"a huge string": func(n int) string {
			return `{"a":"` + strings.Repeat("eyJ", n/3) + `"}`
		},
		"words": func(n int) string {
			return `{"a":"` + strings.Repeat("bearerbasic ", n/12) + `"}`
		},
		"escapes": func(n int) string {
			return `{"a":"` + strings.Repeat(`\"`, n/2) + `"}`
		},
		"opening brackets": func(n int) string { return `{"a":"` + strings.Repeat(`[`, n) + `"}` },
		"addresses": func(n int) string {
			return `{"a":"` + strings.Repeat(`://`, n/3) + `"}`
		},
		"capitals": func(n int) string { return `{"` + strings.Repeat("Aa", n/2) + `":1}` },
	} {
		const n, smaller = 1 << 20, 1 << 16
		got, took := redacted(shape(n))
		_, part := redacted(shape(smaller))
		allowed := func() time.Duration { return 4 * n / smaller * max(part, time.Millisecond) } // squared, it would be sixteen times as long
		for range 20 {                                                                           // what else the machine does makes some slower
			if took <= allowed() {
				break
			}
			_, again := redacted(shape(n))
			took = min(took, again)
		}

		t.Logf("%s: %v, and a part of a sixteenth %v", name, took, part)
		if took > allowed() {
			t.Errorf("%s take %v, a sixteenth %v", name, took, part)
		}
		if len(got) > keptBody || strings.Contains(got, "abcd") {
			t.Errorf("%s: %d bytes, %.80s", name, len(got), got)
		}
	}
}

// redacted returns a redacted body, and the shortest of three times that it took.
func redacted(body string) (got string, least time.Duration) {
	least = time.Hour
	for range 3 {
		start := time.Now()
		got = (&Redactor{}).Body("application/json", []byte(body), true, Fields{})
		least = min(least, time.Since(start))
	}
	return got, least
}

func TestRedactText(t *testing.T) {
	const value = `p<w"d\é/1%`
	r := &Redactor{}
	r.Body("application/json",
		[]byte(`{"password":"p\u003cw\"d\\é\/1%","pin":123,"key":["abcdef",4711.0],"token":"cdefgh","hash":{"inside":true},"otp":"abab"}`), true, Fields{})
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"nothing hidden", "all is well, 123 true", "all is well, 123 true"},
		{"as it is", "bad " + value + "!", "bad ******!"},
		{"as it was sent", `bad "p\u003cw\"d\\é\/1%"`, `bad "******"`},
		{"as JSON", `bad "p<w\"d\\é/1%"`, `bad "******"`},
		{"for ASCII", `bad "p<w\"d\\\u00e9/1%"`, `bad "******"`},
		{"in a query", `?a=p%3Cw%22d%5C%C3%A9%2F1%25&b`, `?a=******&b`},
		{"a number", "4711.0 is out of range", "****** is out of range"},
		{"two that overlap", "<abcdefgh>", "<******>"},
		{"one that overlaps itself", "<ababab>", "<******>"},
		{"a token", "x " + someToken + ", y", "x ******, y"},
		{"a short token", "rv_0123456789012345678", "rv_0123456789012345678"},
		{"a JWT", someJWT, hidden},
		{"what only starts like one", "eyJhbGciOi.x", "eyJhbGciOi.x"},
		{"Bearer", "authorization: bEaReR  x1 rest", "authorization: bEaReR  ****** rest"},
		{"Basic", `"Basic YTpi"`, `"Basic ******"`},
		{"basic in English", "the basic settings. Basic", "the basic settings. Basic"},
		{"an address with a user", "dial redis://me:pw@host:1/0 and http://host/@x",
			"dial redis://******@host:1/0 and http://host/@x"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"too long", strings.Repeat("x", maxText+1), hidden},
	}
	for _, test := range tests {
		if got := r.Text(test.text); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}

	for i := range maxFound {
		r.remember(strings.Repeat("x", 4+i))
	}

	if got := r.Text("all is well"); got != hidden {
		t.Errorf("with too many secrets to look for: %s", got)
	}
}

func BenchmarkRedactBody(b *testing.B) {
	body := []byte(`{"username":"someone","nickname":"Some One","email":"someone@example.org","mobile":"+49 170 1234567","sex":1,"status":true,"dept_id":12,` +
		`"role_ids":[1,2,3],"password":"correct horse battery","describe":"A text of a few words, as people write them into such forms.","updated_at":"2025-05-08T03:04:05.000000Z"}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		(&Redactor{}).Body("application/json", body, true, Fields{})
	}
}

func BenchmarkRedactHeaderAndURI(b *testing.B) {
	h := http.Header{
		"User-Agent": {"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"},
		"Accept":     {"application/json"}, "Accept-Language": {"en,de;q=0.5"},
		"Authorization": {"Bearer rv_0123456789012345678901234567890123456789012345678"},
		"Referer":       {"https://host/console/"}, "Accept-Encoding": {"gzip, br"},
	}
	b.ReportAllocs()
	for b.Loop() {
		r := &Redactor{}
		r.Header(h)
		r.URI("/admin/list", "/admin/list",
			`page=1&pageSize=20&filter=%7B%22status%22%3A%5B%221%22%5D%7D`, Fields{})
	}
}
