package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"reeve/server/limit"
	"reeve/server/people"
	"reeve/server/redact"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// jsonShapes return bodies of about n bytes that are expensive for a naive parser.
var jsonShapes = map[string]func(n int) string{
	"a long key over many elements": func(n int) string { return longKey(n/8, n*7/8) },
	"long keys inside each other":   func(n int) string { return longKeys(n) },
	"many short keys": func(n int) string {
		return objectOf(n, func(i int) string { return fmt.Sprintf(`"%d":0`, i) })
	},
	"many unknown objects": func(n int) string {
		return objectOf(n, func(i int) string { return fmt.Sprintf(`"%d":{}`, i) })
	},
	"elements of one byte": func(n int) string {
		return `{"a":[` + strings.Repeat("1,", n/2) + `1]}`
	},
	"empty arrays": func(n int) string {
		return `{"a":[` + strings.Repeat("[],", n/3) + `[]]}`
	},
	"a long string": func(n int) string {
		return `{"a":"` + strings.Repeat("x", n) + `"}`
	},
	"a string of escapes": func(n int) string {
		return `{"a":"` + strings.Repeat(`\u00e9`, n/6) + `"}`
	},
	"a long number": func(n int) string {
		return `{"a":` + strings.Repeat("9", n) + `}`
	},
	"spaces": func(n int) string {
		return strings.Repeat(" ", n) + `{"a":1}`
	},
	"lines and then a mistake": func(n int) string {
		return `{"a":1` + strings.Repeat("\n", n) + `]`
	},
	"the last key twice": func(n int) string { return twice(n) },
	"secrets that monitoring hides": func(n int) string {
		return `{"password":["` + strings.Repeat(`secret","`, n/9) + `x"]}`
	},
	"different secrets": func(n int) string {
		return `{"password":` + objectOf(n, func(i int) string {
			return fmt.Sprintf(`"%d":"s%07d"`, i, i)
		}) + `}`
	},
	"a string with JSON in it": func(n int) string {
		return `{"a":"[` + strings.Repeat(`\"x\",`, n/6) + `1]"}`
	},
	"a level too many, far inside": func(n int) string {
		return `{"a":[` + strings.Repeat("1,", n/2) + servertest.Nested(40) + `]}`
	},
	"brackets that are never closed": func(n int) string { return strings.Repeat("[", n) },
	"a value that is not one, at end": func(n int) string {
		return `{"a":"` + strings.Repeat("x", n) + `",}`
	},
}

// ordinaryBody is a typical body: some fields with short texts.
func ordinaryBody(n int) string {
	return objectOf(n, func(i int) string {
		return fmt.Sprintf(`"field_%d":{"name":"A name of ordinary length","note":"a text of a sentence or two, as people write them","sort":%d}`, i, i)
	})
}

func objectOf(n int, member func(i int) string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(member(i))
	}
	b.WriteByte('}')
	return b.String()
}

func longKey(key, elements int) string {
	return `{"` + strings.Repeat("k", key) + `":[` + strings.Repeat("0,", elements/2) + `0]}`
}

func longKeys(n int) string {
	key := `{"` + strings.Repeat("k", n/60) + `":`
	return strings.Repeat(key, 30) + `[` + strings.Repeat("0,", n/4) + `0]` + strings.Repeat("}",
		30)
}

func twice(n int) string {
	s := objectOf(n, func(i int) string { return fmt.Sprintf(`"%d":0`, i) })
	return s[:len(s)-1] + `,"0":1}`
}

// perByte returns the minimum time of several runs of fn, per byte of the body.
func perByte(body string, fn func(body []byte)) float64 {
	least := math.Inf(1)
	for range 5 {
		b := []byte(body)
		from := time.Now()
		fn(b)
		least = min(least, float64(time.Since(from))/float64(len(b)))
	}
	return least
}

// TestJSON_LinearDecoding: no shape of a body costs more per byte when it is longer, or much more
// than an ordinary body. The number of values is unlimited here, since a limit would hide what a
// larger one reveals. A body 32 times as long would cost 32 times as much per byte if the time were
// quadratic; memory that no longer fits a cache costs up to 4 times as much.
func TestJSON_LinearDecoding(t *testing.T) {
	small, large := 32<<10, servertest.Size(256<<10, 1<<20, 1<<20)
	parse := func(b []byte) { web.ParseJSON(context.Background(), b, math.MaxInt) } // whether it is valid does not matter
	redact := func(b []byte) {
		(&redact.Redactor{}).Body("application/json", b, true, redact.Fields{Usernames: true})
	}
	for work, fn := range map[string]func([]byte){"parse": parse, "redact": redact} {
		ordinary := perByte(ordinaryBody(large), fn)
		for name, shape := range jsonShapes {
			short, long := perByte(shape(small), fn), perByte(shape(large), fn)
			tooSlow := func() bool { return long > 8*max(short, ordinary/4) || long > 40*ordinary }
			for try := 0; try < 10 && tooSlow(); try++ { // perhaps the machine is busy
				long = min(long, perByte(shape(large), fn))
			}
			t.Logf("%s %s: %.1f ns per byte of %d KiB, %.1f of %d KiB; an ordinary body %.1f",
				work, name, short, small>>10, long, large>>10, ordinary)
			if tooSlow() {
				t.Errorf("%s %s: %.1f ns per byte of %d KiB, %.1f of %d KiB; an ordinary body %.1f", work, name, short, small>>10, long, large>>10, ordinary)
			}
		}
	}
}

// BenchmarkDecoding measures the time per byte of every shape, which does not depend on
// the size.
func BenchmarkDecoding(b *testing.B) {
	shapes := map[string]func(int) string{"ordinary": ordinaryBody}
	for name, shape := range jsonShapes {
		shapes[name] = shape
	}
	for name, shape := range shapes {
		for _, n := range []int{16 << 10, 128 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKiB", strings.ReplaceAll(name, " ", "_"), n>>10),
				func(b *testing.B) {
					body := []byte(shape(n))
					b.ReportAllocs()
					for b.Loop() {
						web.ParseJSON(context.Background(), body, math.MaxInt)
					}
					b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(len(body)), "ns/byte")
				})
		}
	}
}

// FuzzParseJSON compares the parser with encoding/json: it accepts only JSON, and
// returns the same value.
func FuzzParseJSON(f *testing.F) {
	for _, shape := range jsonShapes {
		f.Add([]byte(shape(600)))
	}

	f.Add([]byte(ordinaryBody(200)))
	f.Add([]byte(`{"a":[{"b":1,"b":2}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := web.ParseJSON(context.Background(), b, web.MaxValues)
		if err != nil {
			if e := (*errs.Error)(nil); !errors.As(err, &e) ||
				e.Kind != errs.Malformed && e.Kind != errs.Invalid || len(e.Msg.String()) > 2<<10 {
				t.Fatalf("%v", err)
			}
			return
		}

		var want any
		decoder := json.NewDecoder(strings.NewReader(string(b)))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("%q was taken: %v", b, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %v, want %v", b, got, want)
		}
	})
}

func TestJSON_ErrorPath(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 100_000)
	for body, want := range map[string]string{
		`{"a":{"b":[0,{"c":1,"c":2}]}}`:     "a.b[1].c",
		`{"a":[[],[[0],{"c":1,"c":2}]]}`:    "a[1][1].c",
		`{"x":1,"y":{"z":2},"x":3}`:         "x",
		`{"` + long + `":{"a":1,"a":2}}`:    strings.Repeat("k", 128) + "…",
		`{"a":{"":{"b":0,"b":0}},"c":"\""}`: "a..b",
	} {
		_, err := web.ParseJSON(context.Background(), []byte(body), web.MaxValues)
		if e := errs.Of(err); len(e.Fields) != 1 || e.Fields[want].String() != "is given twice" {
			t.Errorf("%.60s: %.300v", body, err)
		}
	}
}

func TestJSON_ValueLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	array := func(n int) string {
		return `{"rule_ids":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`
	}
	in.Call("PUT", "/admin/role/2/rule", array(web.MaxValues), "owner").Brief(400,
		`"errorCode":"malformed"`, "at most 20000 values")
	in.Call("PUT", "/admin/role/999999/rule", array(10_000), "owner").Brief(404) // as many as the field allows
	in.Call("PUT", "/admin/info", objectOf(400_000, func(i int) string {
		return fmt.Sprintf(`"%d":[]`, i)
	}), "owner").Brief(400, "at most 20000 values")
}

// TestJSON_QuotedInputTruncated: input that is quoted in an error is truncated, wherever it was
// wrong.
func TestJSON_QuotedInputTruncated(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	long := strings.Repeat("k", 40_000)
	many := objectOf(100_000, func(i int) string { return fmt.Sprintf(`"%d":0`, i) })[:100_000]
	many = many[:strings.LastIndex(many, ",")] + "}"
	var query strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&query, "&q%d=%s", i, long[:10])
	}

	for name, a := range map[string]*servertest.Reply{
		"a long key":   in.Call("PUT", "/admin/info", `{"`+long+`":1}`, "owner"),
		"a long value": in.Call("PUT", "/admin/info", `{"email":"`+long+`"}`, "owner"),
		"a long setting": in.Call("PUT", "/system/setting", `{"values":{"`+long+`":1}}`,
			"owner"),
		"a long parameter": in.Call("GET", "/system/setting?"+long+"=1", "", "owner"),
		"a long parameter twice": in.Call("GET", "/system/setting?"+long+"=1&"+long+"=2", "",
			"owner"),
		"a long filter": in.Call("GET", `/system/setting?filter={"`+long+`":["1"]}`, "",
			"owner"),
		"a long sorter": in.Call("GET", `/system/setting?sorter={"`+long+`":"ascend"}`,
			"", "owner"),
		"a long direction": in.Call("GET", `/system/setting?sorter={"id":"`+long+`"}`, "",
			"owner"),
		"many parameters": in.Call("GET", "/system/setting?"+query.String()[1:], "",
			"owner"),
		"many keys": in.Call("PUT", "/admin/info",
			many[:min(len(many), 60_000)][:strings.LastIndex(many[:60_000], ",")]+"}", "owner"),
		"many settings": in.Call("PUT", "/system/setting",
			`{"values":`+many[:strings.LastIndex(many[:60_000], ",")]+"}}", "owner"),
		"a long id":             in.Call("GET", "/system/setting/"+long, "", "owner"),
		"a long address":        in.Call("GET", "/"+long, "", "owner"),
		"a column that is none": in.Upload("/admin/list-import", long+"\nx\n", "owner"),
		"a long department": in.Upload("/admin/list-import",
			"username,department\nnew,"+long+"\n", "owner"),
		"long roles": in.Upload("/admin/list-import",
			"username,roles\nnew,"+long+";"+long+"x\n", "owner"),
		"rows with many faults": in.Upload("/admin/list-import",
			"username\n"+strings.Repeat("? ?\n", 5000), "owner"),
		"a long name of a field":  in.Send(formField(in, "f"+long, "1")),
		"a long value of a field": in.Send(formField(in, "group_id", long)),
		"a long media type":       withMedia(in, long),
	} {
		faults, bytes := 100, 130<<10
		if name == "rows with many faults" {
			faults, bytes = errs.MaxRowFaults, 200<<10
		}
		if a.Code < 400 || a.Code >= 500 || len(a.Body) > bytes {
			t.Errorf("%s: %d with %d bytes", name, a.Code, len(a.Body))
		}
		if n := len(a.Envelope().Errors); n > faults {
			t.Errorf("%s: %d faults", name, n)
		}

		for field, text := range a.Envelope().Errors {
			if len(field)+len(text) > 1300 {
				t.Errorf("%s: %d bytes about a field", name, len(field)+len(text))
			}
		}
	}
}

func withMedia(in *servertest.Instance, media string) *servertest.Reply {
	r := in.Request("PUT", "/admin/info", `{"sex":1}`, "owner")
	r.Header.Set("Content-Type", media)
	return in.Send(r)
}

// TestJSON_DecodingEndsWithClient: decoding stops once the client has disconnected.
func TestJSON_DecodingEndsWithClient(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancelCause(context.Background())
	leave(io.ErrClosedPipe)
	if _, err := web.ParseJSON(ctx, []byte(jsonShapes["elements of one byte"](100_000)),
		math.MaxInt); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
	in := servertest.Start(t)
	r := in.Request("PUT", "/admin/info", ordinaryBody(web.LargeDecode), "owner").WithContext(ctx)
	in.Send(r).Brief(400, "connection was closed")
	if n := in.Server.Limits.BodyMemory.Now(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
}

func TestBodyMemory_Bound(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	body := `{"nickname":"` + strings.Repeat("x", 100_000) + `"}`
	memory := in.Server.Limits.BodyMemory
	in.Call("PUT", "/admin/info", body, "owner").Brief(422)
	servertest.Must(t, memory.Acquire(web.BodyShare, limit.Share{Client: "192.0.2.1", Most: web.BodyShare})) // the client address of test requests
	in.Call("PUT", "/admin/info", body, "owner").Brief(429, `"errorCode":"too_many_requests"`)
	in.Call("PUT", "/admin/info", `{"nickname":"short"}`, "owner").Brief(200)
	memory.Release(web.BodyShare, limit.Share{Client: "192.0.2.1", Most: web.BodyShare})
	servertest.Must(t, memory.Acquire(web.BodyMemory, limit.Share{
		Client: "203.0.113.1",
		Most:   web.BodyMemory,
	}))
	if a := in.Call("PUT", "/admin/info", body, "owner"); a.Code != 503 ||
		a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	in.Call("PUT", "/admin/info", `{"nickname":"short"}`, "owner").Brief(200)
	memory.Release(web.BodyMemory, limit.Share{Client: "203.0.113.1", Most: web.BodyMemory})
	in.Call("PUT", "/admin/info", body, "owner").Brief(422)
	if memory.Now() != 0 || len(memory.ByClient) != 0 {
		t.Errorf("%d bytes are still held, by %v", memory.Now(), memory.ByClient)
	}
}

// TestFormMemory_Bound: files kept in memory, for an import or an avatar, share
// the budget.
func TestFormMemory_Bound(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	memory := in.Server.Limits.BodyMemory
	large, small := "username\n"+strings.Repeat("x", 100_000), "username\nann\n"
	in.Upload("/admin/list-import?dry_run=1", large, "owner").Brief(422)
	servertest.Must(t, memory.Acquire(web.BodyShare, limit.Share{
		Client: "192.0.2.1",
		Most:   web.BodyShare,
	}))
	in.Upload("/admin/list-import?dry_run=1", large, "owner").Brief(429,
		`"errorCode":"too_many_requests"`)
	in.Upload("/admin/avatar", large, "owner").Brief(429, `"errorCode":"too_many_requests"`)
	in.Upload("/admin/list-import?dry_run=1", small, "owner").Brief(200)
	memory.Release(web.BodyShare, limit.Share{Client: "192.0.2.1", Most: web.BodyShare})
	if memory.Now() != 0 || len(memory.ByClient) != 0 {
		t.Errorf("%d bytes are still held, by %v", memory.Now(), memory.ByClient)
	}
	if most := web.FormCost * people.MaxImportBytes; most > web.BodyShare {
		t.Errorf("the largest import takes %d bytes, an address has %d", most, web.BodyShare)
	}
}

// formField returns an upload with a form field before the file.
func formField(in *servertest.Instance, name, value string) *http.Request {
	r := in.Form("/file/list", "a file", "owner")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	servertest.Must(in.T, form.WriteField(name, value))
	part, err := form.CreateFormFile("file", "a.txt")
	servertest.Must(in.T, err)
	_, err = part.Write([]byte("a file"))
	servertest.Must(in.T, err)
	servertest.Must(in.T, form.Close())
	r.Body, r.ContentLength = io.NopCloser(&body), int64(body.Len())
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}

// TestFormPart_HeaderLimit: the headers of every part are limited like those
// of a request.
func TestFormPart_HeaderLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	const before = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\na file\r\n"
	for name, body := range map[string]string{
		"the first part": "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\na file\r\n--b--\r\n",
		"a later part":   before + "--b\r\nX-Long: %s\r\nContent-Disposition: form-data; name=\"public\"\r\n\r\n1\r\n--b--\r\n",
	} {
		for length, code := range map[int]int{1000: 200, 1 << 20: 413} {
			text := fmt.Sprintf(body, strings.Repeat("x", length))
			read := &countedReader{Reader: strings.NewReader(text)}
			r := in.Form("/file/list", "", "owner")
			r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			r.Body, r.ContentLength = io.NopCloser(read), int64(len(text))
			if a := in.Send(r); a.Code != code {
				t.Errorf("%s, %d bytes: %d %s", name, length, a.Code, a.Body)
			}
			if code == 413 && read.n > 256<<10 {
				t.Errorf("%s: %d bytes were read", name, read.n)
			}
		}
	}
}

type countedReader struct {
	io.Reader
	n int
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// TestJSON_OneValidator sends JSON that clients can't read to everything that takes JSON.
func TestJSON_OneValidator(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"shop","title":"Shop"}`)
	id := in.Made("/system/setting", `{"key":"j","title":"T","type":"json","group_id":8}`)
	in.Create("/system/field",
		`{"realm":"app","key":"j","type":"json","title":"J","self_access":"write"}`)
	user := in.AppUser("customer").ID
	flag := func(value string) string {
		return `{"enabled":true,"variants":{"a":{"x":` + value + `}},"default":"a"}`
	}

	before := in.Dump()
	for value, status := range map[string]int{
		`"\ud800"`:      422,
		`1e999`:         422,
		`{"a":1,"a":2}`: 422,
		strings.Repeat("[", 40) + strings.Repeat("]", 40): 422,
	} {
		text := string(servertest.EncodeJSON(t, value)) // as a text, it is a value of the field
		for name, send := range map[string]func(value string) *servertest.Reply{
			"settings": func(v string) *servertest.Reply {
				return in.Call("PUT", "/system/setting", `{"values":{"shop.j":`+v+`}}`, "owner")
			},
			"a setting": func(v string) *servertest.Reply {
				return in.Call("PUT", fmt.Sprint("/system/setting/", id), `{"values":`+v+`}`,
					"owner")
			},
			"a new one": func(v string) *servertest.Reply {
				return in.Call("POST", "/system/setting",
					`{"key":"k","title":"T","type":"json","group_id":8,"values":`+v+`}`, "owner")
			},
			"a field": func(v string) *servertest.Reply {
				return in.Call("PUT", fmt.Sprint("/user/list/", user), `{"fields":{"j":`+v+`}}`,
					"owner")
			},
			"an own field": func(v string) *servertest.Reply {
				return in.Call("PUT", "/api/user", `{"fields":{"j":`+v+`}}`, "customer")
			},
		} {
			if a := send(text); a.Code != status {
				t.Errorf("%s: %s: %d %s", name, text, a.Code, a.Body)
			}
			if a := send(value); a.Code != 400 && a.Code != 422 {
				t.Errorf("%s: %s: %d %s", name, value, a.Code, a.Body)
			}
		}

		a := in.Call("POST", "/system/setting",
			fmt.Sprintf(`{"key":"f","title":"T","type":"flag","group_id":8,"values":%s}`,
				servertest.EncodeJSON(t, flag(value))), "owner")
		if a.Code != 422 {
			t.Errorf("a flag: %s: %d %s", value, a.Code, a.Body)
		}
	}

	in.Unchanged(before)
	in.OK("PUT", "/system/setting", `{"values":{"shop.j":{"id":9007199254740993}}}`, "owner")
	in.OK("GET", "/config", "", "owner").Brief(200, `"j":{"id":9007199254740993}`)
	in.OK("PUT", "/api/user", `{"fields":{"j":[9007199254740993]}}`, "customer").Brief(200,
		`"j":[9007199254740993]`)
}

// A setting takes the same forms of its value when it is created, changed, and saved with others.
func TestSetting_FormsOfValues(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"mine","title":"Mine"}`)
	const options = `"options":[{"label":"A","value":"a"},{"label":"B","value":"b"}]`
	for i, c := range []struct{ kind, sent, want string }{
		{"checkbox", `["a","b"]`, `["a","b"]`}, {"checkbox", `"[\"b\"]"`, `["b"]`},
		{"checkbox", `null`, ``},
		{"json", `null`, `null`}, {"json", `{"a":[1]}`, `{"a":[1]}`}, {"json", `"[1]"`, `[1]`},
		{"json", `true`, `true`}, {"json", `12`, `12`},
		{"number", `5`, `5`}, {"number", `"5"`, `5`}, {"number", `null`, ``},
		{"switch", `true`, `true`}, {"switch", `1`, `true`}, {"switch", `"0"`, `false`},
		{"switch", `null`, ``},
		{"input", `"x"`, `"x"`}, {"input", `null`, ``}, {"date", `null`, ``},
		{"flag", `{"enabled":true,"variants":{"a":1},"default":"a"}`,
			`{"default":"a","enabled":true,"variants":{"a":1}}`},
		{"input", `5`, ``}, {"input", `["x"]`, ``}, {"number", `[]`, ``}, {"switch", `{}`, ``},
		{"checkbox", `{"a":1}`, ``}, {"flag", `[]`, ``},
	} {
		for j, how := range []string{"POST", "PUT one", "PUT several"} {
			key := fmt.Sprintf("k%d_%d", i, j)
			create := func(values string) *servertest.Reply {
				return in.Call("POST", "/system/setting",
					fmt.Sprintf(`{"key":%q,"title":"T","type":%q,"group_id":8,%s%s}`, key, c.kind,
						options, values), "owner")
			}

			var a *servertest.Reply
			if how == "POST" {
				a = create(`,"values":` + c.sent)
			} else {
				var s store.Setting
				create("").Data(&s)
				if a = in.Call("PUT", "/system/setting",
					fmt.Sprintf(`{"values":{"mine.%s":%s}}`, key, c.sent), "owner"); how == "PUT one" {
					a = in.Call("PUT", fmt.Sprint("/system/setting/", s.ID),
						`{"values":`+c.sent+`}`, "owner")
				}
			}
			if c.want == "" {
				a.Brief(422, "values")
				continue
			}

			a.Brief(200)
			if values := in.OK("GET", "/system/setting-value", "", "owner").Body; !strings.Contains(values, fmt.Sprintf("%q:%s", key, c.want)) {
				t.Errorf("%s of %s as %s: %s", how, c.sent, c.kind, values)
			}
		}
	}
}
