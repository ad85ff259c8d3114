package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	reeve "reeve/embed/sdk/go"
)

func goClient(t *testing.T, o reeve.Options) *reeve.Client {
	t.Helper()
	c, err := reeve.New(o)
	noErr(t, err)
	return c
}

// failure returns the error of the Go client in err.
func failure(t testing.TB, err error) *reeve.Error {
	t.Helper()
	var failed *reeve.Error
	if !errors.As(err, &failed) {
		t.Fatalf("the error is %v", err)
	}
	return failed
}

func TestGoClientOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]reeve.Options{
		"no URL":             {},
		"a host":             {URL: "127.0.0.1:8080"},
		"another scheme":     {URL: "ftp://127.0.0.1"},
		"a query":            {URL: "http://127.0.0.1/?a=b"},
		"a password":         {URL: "http://a:b@127.0.0.1"},
		"a key of two lines": {URL: "http://127.0.0.1", Key: "rv_k_a\nrv_k_b"},
		"an origin's path":   {URL: "http://127.0.0.1", Origin: "http://127.0.0.1:3000/shop"},
		"no origin":          {URL: "http://127.0.0.1", Origin: "shop"},
	} {
		if c, err := reeve.New(o); err == nil {
			t.Errorf("%s is accepted: %+v", name, c)
		} else if strings.Contains(err.Error(), "rv_k_") {
			t.Errorf("%s: the error has the key: %v", name, err)
		}
	}
}

func TestGoClientCalls(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	ctx, anonymous := t.Context(), goClient(t, reeve.Options{URL: server.url + "/"})

	_, err := anonymous.SignIn(ctx, reeve.Admin, "admin", "wrong password")
	if failed := failure(t, err); failed.Status != 401 {
		t.Errorf("a wrong password: %v", err)
	}

	session, err := anonymous.SignIn(ctx, reeve.Admin, "admin", password)
	noErr(t, err)
	if session.Token == "" || session.ExpiresAt.Before(time.Now()) ||
		session.MustChangePassword != 0 {
		t.Errorf("the session is %+v", session)
	}

	c := anonymous.As(session.Token)

	var dept struct {
		ID   int64
		Name string
	}
	noErr(t, c.Call(ctx, "POST", "/admin/dept", map[string]any{"name": "Sales"}, &dept))
	if dept.ID == 0 || dept.Name != "Sales" {
		t.Errorf("the department is %+v", dept)
	}

	noErr(t,
		c.Call(ctx, "PUT", fmt.Sprintf("/admin/dept/%d", dept.ID),
			map[string]any{"name": "Support"}, nil))
	var page struct {
		Total int
	}
	noErr(t, c.Do(ctx, reeve.Request{
		Method: "GET",
		Path:   "/admin/list",
		Query:  url.Values{"keywordSearch": {"ADM"}},
	}, &page))
	if page.Total != 1 {
		t.Errorf("%d users", page.Total)
	}

	err = c.Call(ctx, "POST", "/admin/list", map[string]any{"username": "a", "email": "b"}, nil)
	if failed := failure(t, err); failed.Status != 422 || failed.Code != "invalid" ||
		failed.Fields["username"] == "" || failed.Fields["email"] == "" || failed.RequestID == "" {
		t.Errorf("%+v", failed)
	}
	if text := err.Error(); !strings.Contains(text, "POST /admin/list") ||
		!strings.Contains(text, "username: must") || strings.Contains(text, session.Token) {
		t.Errorf("the text is %s", text)
	}
	if failed := failure(t, c.Call(ctx, "GET", "/admin/nothing", nil, nil)); failed.Status != 404 {
		t.Errorf("%+v", failed)
	}
	if failed := failure(t, c.Call(ctx, "GET", "/admin/dept/1", nil, new([]string))); failed.Code != "bad_response" {
		t.Errorf("%+v", failed)
	}

	noErr(t, c.SignOut(ctx, reeve.Admin))
	if failed := failure(t, c.Call(ctx, "GET", "/admin/info", nil, nil)); failed.Status != 401 {
		t.Errorf("signed out: %+v", failed)
	}

	server.stop()
	if failed := failure(t, c.Call(ctx, "GET", "/health", nil, nil)); failed.Status != 0 ||
		failed.Code != "unreachable" || failed.Unwrap() == nil {
		t.Errorf("%+v", failed)
	}
}

// TestGoClient_Retries checks that requests are repeated if and only if that is safe.
// TestGoClientFrom_LimitsAreThoseOfTheBrowser, not of the program.
func TestGoClientFrom_LimitsAreThoseOfTheBrowser(t *testing.T) {
	t.Parallel()
	p := begin(t,
		program(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(),
			"REEVE_SERVER__TRUSTED_PROXIES=127.0.0.1"))
	p.ready()
	c := signedIn(t, p)
	c.create("/user/list", "username", "zoe", "password", password)
	client, err := reeve.New(reeve.Options{URL: p.url})
	noErr(t, err)
	for _, from := range []string{"203.0.113.7:1234", "[2001:db8::7]:1234", "203.0.113.8"} {
		_, err := client.From(from).SignIn(t.Context(), reeve.App, "zoe", password)
		noErr(t, err)
	}

	list := string(c.want(200, "GET", "/system/loginlog?pageSize=10", "").Data)
	for _, want := range []string{"203.0.113.7", "2001:db8::7", "203.0.113.8"} {
		if !strings.Contains(list, `"`+want+`"`) {
			t.Errorf("%s is not in %s", want, list)
		}
	}
}

// TestGoClientFrom_WithPermission: a key with the permission passes on addresses, without a proxy in the
// configuration.
func TestGoClientFrom_WithPermission(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	c := signedIn(t, p)
	c.create("/user/list", "username", "zoe", "password", password)
	key := c.programKey("shop", "auth.login")
	for from, row := range map[string]struct{ key, logged string }{
		"203.0.113.7:1234":       {key, "203.0.113.7"},
		"[::ffff:203.0.113.8]:1": {key, "203.0.113.8"},
		"203.0.113.9":            {c.programKey("other", "auth.check"), "127.0.0.1"},
	} {
		client, err := reeve.New(reeve.Options{URL: p.url, Key: row.key})
		noErr(t, err)
		_, err = client.From(from).SignIn(t.Context(), reeve.App, "zoe", password)
		noErr(t, err)
		if list := string(c.want(200, "GET", "/system/loginlog?pageSize=1", "").Data); !strings.Contains(list, `"`+row.logged+`"`) {
			t.Errorf("%s is not in %s", row.logged, list)
		}
	}
	client, err := reeve.New(reeve.Options{URL: p.url, Key: key})
	noErr(t, err)
	var failed *reeve.Error
	if _, err = client.From("203.0.113.7").SignIn(t.Context(), reeve.App, "zoe", "wrong password"); !errors.As(err, &failed) || failed.Status != 401 {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestGoProtect_KeysOfOneSegment are permissions, too.
func TestGoProtect_KeysOfOneSegment(t *testing.T) {
	client, err := reeve.New(reeve.Options{URL: "http://127.0.0.1"})
	noErr(t, err)
	for key, want := range map[string]bool{
		"orders":      true,
		"a.b.c.d.e":   true,
		"a.b.c.d.e.f": false,
		"Orders":      false,
		"orders.":     false,
		"":            false,
	} {
		func() {
			defer func() {
				if refused := recover() != nil; refused == want {
					t.Errorf("%q: refused %v", key, refused)
				}
			}()
			client.Protect(key)
		}()
	}
}

func TestGoClient_Retries(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	owner := signedIn(t, server)
	via := newPlanned(t, server.url)
	through := func(plan string) *reeve.Client {
		return goClient(t, reeve.Options{URL: via.URL + "/" + plan, Key: owner.token})
	}

	ctx := t.Context()

	type dept struct {
		ID   int64  `json:"id,omitempty"`
		Name string `json:"name"`
	}
	var made dept
	noErr(t, through("lose.create").Call(ctx, "POST", "/admin/dept", dept{Name: "Sales"}, &made))
	seen := via.requests("lose.create")
	if len(seen) != 2 || len(seen[0].Key) < 20 || seen[1].Key != seen[0].Key ||
		made.Name != "Sales" {
		t.Errorf("the requests are %+v; created %+v", seen, made)
	}

	var tree struct{ Data []dept }
	noErr(t, through("pass.read").Call(ctx, "GET", "/admin/dept", nil, &tree))
	if !slices.Equal(tree.Data, []dept{made}) {
		t.Errorf("there are %+v", tree.Data)
	}

	path := fmt.Sprintf("/admin/dept/%d", made.ID)
	for _, c := range []struct {
		plan, method string
		requests     int
		status       int // of the error; -1 for none
	}{
		{"lose.get", "GET", 2, -1},
		{"always.lose.get", "GET", 4, 0},
		{"lose.put", "PUT", 1, 0},
		{"502-.put", "PUT", 1, 502},
		{"502-.get", "GET", 2, -1},
		{"busy.put", "PUT", 2, -1},
		{"503-1.put", "PUT", 1, 503},
		{"503-1.get", "GET", 2, -1},
		{"unknown.put", "PUT", 1, 503},
		{"unknown.post", "POST", 2, -1},
		{"429-1.put", "PUT", 2, -1},
		{"429-900.put", "PUT", 1, 429},
		{"302-.get", "GET", 1, 302},
	} {
		status, to, in := -1, path, any(dept{Name: "Changed"})
		switch c.method {
		case "POST":
			to = "/admin/dept"
		case "GET":
			in = nil
		}
		if err := through(c.plan).Call(ctx, c.method, to, in, nil); err != nil {
			status = failure(t, err).Status
		}
		if n := len(via.requests(c.plan)); n != c.requests || status != c.status {
			t.Errorf("%s: %d requests and status %d, want %d and %d", c.plan, n, status,
				c.requests, c.status)
		}
	}

	_, err := through("lose.sign-in").SignIn(ctx, reeve.Admin, "admin", password)
	if n := len(via.requests("lose.sign-in")); failure(t, err).Status != 0 || n != 1 {
		t.Errorf("a lost sign-in: %d requests, %v", n, err)
	}

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := through("pass.cancelled").Call(cancelled, "GET", path, nil, nil); !errors.Is(err,
		context.Canceled) || len(via.requests("pass.cancelled")) > 0 {
		t.Errorf("cancelled: %v", err)
	}

	impatient := goClient(t, reeve.Options{
		URL:     via.URL + "/hang.get",
		Key:     owner.token,
		Timeout: 200 * time.Millisecond,
		Retries: -1,
	})
	if err := impatient.Call(ctx, "GET", path, nil, nil); failure(t, err).Code != "timeout" {
		t.Errorf("no response in time: %v", err)
	}
}

func TestGoClient_FollowsConfig(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), freeAddress(t)
	serve := func() *process {
		server := begin(t, program(t, "serve", "--listen", address, "--data", dir))
		server.ready()
		return server
	}
	server := serve()
	owner := signedIn(t, server)
	group := owner.create("/system/setting-group", "key", "payment", "title", "Payment")
	setting := owner.create("/system/setting", "group_id", group, "key", "vat_rate", "title",
		"VAT", "type", "number", "values", "20")
	owner.create("/system/setting", "group_id", group, "key", "stripe_key", "title", "Stripe",
		"type", "secret", "values", "sk_test_1")
	owner.dict("state", "tag", "New", "Paid")
	key := into[grant](t, owner.want(200, "POST", "/admin/account/key", object("name", "shop"))).Token
	change := func(value string) {
		owner.want(200, "PUT", fmt.Sprintf("/system/setting/%d", setting), object("values", value))
	}

	ctx, cancel := context.WithCancel(t.Context())
	c := goClient(t, reeve.Options{URL: server.url, Key: key})
	if _, err := c.Follow(ctx, reeve.ConfigQuery{Groups: []string{"nothing"}}); failure(t, err).Status != 403 {
		t.Errorf("an unknown group: %v", err)
	}

	config, err := c.Follow(ctx, reeve.ConfigQuery{
		Groups: []string{"payment"},
		Dicts:  []string{"state"},
	})
	noErr(t, err)
	changed := make(chan struct{}, 10)
	config.OnChange(func() { changed <- struct{}{} })
	vat := func(want float64) {
		t.Helper()
		if got, err := reeve.Value[float64](config, "payment", "vat_rate"); err != nil ||
			got != want {
			t.Errorf("the VAT rate is %v %v, want %v", got, err, want)
		}
	}
	vat(20)
	if secret, err := reeve.Value[string](config, "payment", "stripe_key"); err != nil ||
		secret != "sk_test_1" {
		t.Errorf("the secret is %q %v", secret, err)
	}
	if n, err := reeve.Value[int](config, "payment", "stripe_key"); err == nil ||
		strings.Contains(err.Error(), "sk_test") {
		t.Errorf("a secret as a number: %v %v", n, err)
	}
	if _, err := reeve.Value[int](config, "payment", "nothing"); err == nil {
		t.Error("a setting that does not exist has a value")
	}
	if d, ok := config.Dict("state"); !ok || len(d.Items) != 2 || d.Items[1].Label != "Paid" {
		t.Errorf("the dictionary is %+v", d)
	}

	change("19")
	<-changed
	vat(19)

	anonymous, err := c.As(owner.token).Follow(ctx, reeve.ConfigQuery{Groups: []string{"payment"}}) // a session gets no secrets
	noErr(t, err)
	if _, err := reeve.Value[string](anonymous, "payment", "stripe_key"); err == nil ||
		!strings.Contains(err.Error(), "system.setting.secret.payment") {
		t.Errorf("without the permission: %v", err)
	}

	server.stop()
	vat(19)
	server = serve()
	owner = signedIn(t, server)
	change("7")
	<-changed
	vat(7)
	cancel()
	<-config.Done()
	<-anonymous.Done()
}

func TestGoWebhook(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir(), allowLocal)
	owner := signedIn(t, server)
	arrived, fail := make(chan *reeve.Event, 10), true
	var handler http.Handler
	var saved []*http.Request
	var bodies [][]byte
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		saved, bodies = append(saved, r), append(bodies, body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	secret := into[struct{ Secret string }](t,
		owner.want(200, "POST", "/system/webhook",
			object("url", web.URL, "types", []string{"dict.*"}))).Secret
	handler = reeve.Webhook(secret, func(_ context.Context, e *reeve.Event) error {
		if fail {
			fail = false
			return errors.New("not now") // it is sent again
		}
		arrived <- e
		return nil
	})

	owner.create("/system/dict", "code", "state", "name", "States", "type", "tag")
	e := <-arrived
	var data reeve.EventData
	noErr(t, json.Unmarshal(e.Data, &data))
	if data.Collection != "dict" || data.Record != 1 || data.Operation == "" || data.Seq == 0 ||
		e.ID == "" || time.Since(e.Timestamp).Abs() > time.Hour {
		t.Errorf("the event is %+v %+v", e, data)
	}

	web.Close() // no other goroutine uses what follows
	r, body := saved[len(saved)-1], bodies[len(bodies)-1]
	with := func(name, value string) http.Header {
		h := r.Header.Clone()
		h.Set(name, value)
		return h
	}

	other := strings.Repeat("A", 40)
	signature := r.Header.Get("Webhook-Signature")
	for name, c := range map[string]struct {
		secret string
		header http.Header
		body   string
		ok     bool
	}{
		"as it was sent": {secret, r.Header, string(body), true},
		"two signatures": {secret, with("Webhook-Signature", "v1,"+other+" "+signature),
			string(body), true},
		"another body": {secret, r.Header, string(body) + " ", false},
		"another time": {secret, with("Webhook-Timestamp", "1795400000"), string(body),
			false},
		"another ID":     {secret, with("Webhook-Id", "a"), string(body), false},
		"no ID":          {secret, with("Webhook-Id", ""), string(body), false},
		"another secret": {"whsec_" + other, r.Header, string(body), false},
		"no signature":   {secret, with("Webhook-Signature", ""), string(body), false},
		"of another version": {secret,
			with("Webhook-Signature", "v2"+strings.TrimPrefix(signature, "v1")), string(body),
			false},
		"not base64":           {secret, with("Webhook-Signature", "v1,%%%"), string(body), false},
		"a secret without key": {"whsec_", r.Header, string(body), false},
	} {
		if _, err := reeve.VerifyWebhook(c.secret, c.header, []byte(c.body)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}

	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder,
		httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("a", 2<<20))))
	if recorder.Code != 413 {
		t.Errorf("2 MiB: %d", recorder.Code)
	}

	recorder = httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest("POST", "/", strings.NewReader(string(body))))
	if recorder.Code != 401 {
		t.Errorf("without a signature: %d", recorder.Code)
	}
}
