package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/errs"
)

// repeatable sends a request with an Idempotency-Key.
func repeatable(in *servertest.Instance, key, method, url, body, as string) *servertest.Reply {
	in.T.Helper()
	r := in.Request(method, url, body, as)
	r.Header.Set("Idempotency-Key", key)
	return in.Send(r)
}

func TestIdempotency_CarriedOutOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := servertest.Open(t, dir)
	in.Tokens["owner"] = in.SignIn(1)
	const body = `{"name":"Sales"}`
	first := repeatable(in, "k-1", "POST", "/admin/role", body, "owner")
	if first.Code != 200 || first.Header.Get("Idempotency-Replayed") != "" {
		t.Fatalf("%d %s", first.Code, first.Body)
	}

	same := func(a *servertest.Reply) {
		t.Helper()
		if a.Code != 200 || a.Body != first.Body ||
			a.Header.Get("Idempotency-Replayed") != "true" ||
			a.Header.Get("Etag") != first.Header.Get("Etag") || a.Header.Get("Reeve-Entry") != "" {
			t.Errorf("%d %s %v, want %s", a.Code, a.Body, a.Header, first.Body)
		}
	}
	same(repeatable(in, "k-1", "POST", "/admin/role", body, "owner"))
	same(repeatable(in, `"k-1"`, "POST", "/admin/role", body, "owner")) // a structured field
	in.Tokens["owner again"] = in.SignIn(1)
	same(repeatable(in, "k-1", "POST", "/admin/role", body, "owner again")) // another session of the same user

	repeatable(in, "k-1", "POST", "/admin/role", body+" ", "owner").Brief(422,
		`"errorCode":"idempotency_key_reused"`, `"Idempotency-Key":`)
	repeatable(in, "k-1", "POST", "/admin/dept", body, "owner").Brief(422,
		`"errorCode":"idempotency_key_reused"`)
	repeatable(in, "k-2", "POST", "/admin/role", body, "owner").Brief(409,
		`"errorCode":"duplicate"`)
	in.Clerk("clerk", "admin.role.create")
	repeatable(in, "k-1", "POST", "/admin/role", `{"name":"Support"}`, "clerk").Brief(200, `"name":"Support"`) // keys are those of a caller
	in.Close()
	in = servertest.Open(t, dir)
	in.Tokens["owner"] = in.SignIn(1)
	same(repeatable(in, "k-1", "POST", "/admin/role", body, "owner"))
}

func TestIdempotency_FailedCanBeRepeated(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"","parent_id":77}`, "owner").Brief(422)
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Sales"}`, "owner").Brief(200,
		`"name":"Sales"`)
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Sales"}`, "owner").Brief(200,
		`"name":"Sales"`)
	in.OK("GET", "/admin/dept", "", "owner").Brief(200, `"id":1`)
	in.View(func(tx *store.Tx) error {
		if n, err := store.Depts.Count(tx); n != 1 || err != nil {
			t.Errorf("%d departments, %v", n, err)
		}
		return nil
	})
}

// TestIdempotency_Concurrent checks that concurrent repetitions are carried out once.
func TestIdempotency_Concurrent(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var wg sync.WaitGroup
	answers := make([]*servertest.Reply, 16)
	for i := range answers {
		r := in.Request("POST", "/admin/dept", `{"name":"Sales"}`, "owner")
		r.Header.Set("Idempotency-Key", "k")
		wg.Go(func() { answers[i] = in.Send(r) })
	}

	wg.Wait()
	stored := 0
	for _, a := range answers {
		switch {
		case a.Code == 200 && a.Body == answers[0].Body:
		default:
			t.Errorf("%d %s", a.Code, a.Body)
		}
		if a.Header.Get("Idempotency-Replayed") == "" && a.Code == 200 {
			stored++
		}
	}

	in.View(func(tx *store.Tx) error {
		if n, err := store.Depts.Count(tx); n != 1 || err != nil || stored != 1 {
			t.Errorf("%d departments, %d requests were carried out", n, stored)
		}
		return nil
	})
}

// TestIdempotency_EveryPost sends a valid request to every route twice.
func TestIdempotency_EveryPost(t *testing.T) {
	t.Parallel()
	replayed, refused := 0, 0
	for _, rt := range server.Routes() {
		if !rt.Idempotent() {
			continue
		}

		in := withGoodBodies(t)
		send := func() *servertest.Reply {
			r := changing(in, &rt, func(text string) io.Reader { return strings.NewReader(text) })
			r.Header.Del("Cookie")
			r.Header.Del("Authorization")
			servertest.Authorize(r, in.Tokens[holder(&rt)])
			r.Header.Set("Idempotency-Key", "the-same")
			return in.Send(r)
		}

		in.Tokens["slow"] = ""
		commits := in.DB.Stats().Commits
		first := send()
		changed := in.DB.Stats().Commits != commits
		commits = in.DB.Stats().Commits
		second := send()
		switch {
		case first.Code != 200 || !changed || rt.LoggedAs != "": // it has changed nothing but the change log
			continue
		case in.DB.Stats().Commits != commits:
			t.Errorf("%s: the second request has changed something: %d %s", rt.Name(), second.Code,
				second.Body)
		case second.Code == 409 && second.Envelope().ErrorCode == "already_done":
			if !rt.Reveals && len(first.Body) < store.MaxCompletedAnswer {
				t.Errorf("%s: the response was not stored", rt.Name())
			}
			refused++
		case second.Code != 200 || second.Body != first.Body || rt.Reveals:
			t.Errorf("%s: %d %s, then %d %s", rt.Name(), first.Code, first.Body, second.Code,
				second.Body)
		default:
			replayed++
		}
	}

	if replayed < 15 || refused < 4 {
		t.Errorf("%d responses were replayed, %d not stored", replayed, refused)
	}
}

// TestIdempotency_SecretsNotReplayed checks that secrets are not stored, either.
func TestIdempotency_SecretsNotReplayed(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	body := `{"name":"shop","role_ids":[` + fmt.Sprint(in.Clerk("clerk").RoleIDs[0]) + `]}`
	repeatable(in, "k", "POST", "/admin/key", body, "owner").Brief(200, `"token":"rv_k_`)
	repeatable(in, "k", "POST", "/admin/key", body, "owner").Brief(409,
		`"errorCode":"already_done"`)
	in.View(func(tx *store.Tx) error {
		for r, err := range store.CompletedRequests.All(tx) {
			if err != nil || r.Answer != nil {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if n, err := store.APIKeys.Count(tx); n != 1 || err != nil {
			t.Errorf("%d keys, %v", n, err)
		}
		return nil
	})
}

// TestIdempotency_ResponseEncrypted checks that a stored response is encrypted with the
// Idempotency-Key, so that erased data does not stay in it.
func TestIdempotency_ResponseEncrypted(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Sales","leader":"Lea Lund"}`, "owner").Brief(200)
	in.View(func(tx *store.Tx) error {
		for r, err := range store.CompletedRequests.All(tx) {
			if err != nil || len(r.Answer) == 0 || strings.Contains(string(r.Answer), "Lea") ||
				strings.Contains(r.Key+r.Request, "Lea") {
				t.Errorf("%+v, %v", r, err)
			}
		}
		return nil
	})
}

func TestIdempotency_ReplayNeedsPermission(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.Clerk("clerk", "admin.dept.create")
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Sales"}`, "clerk").Brief(200)
	in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", u.RoleIDs[0]), `{"rule_ids":[]}`, "owner")
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Sales"}`, "clerk").Brief(403,
		`"errorCode":"denied"`)
}

// TestIdempotency_UploadOtherBoundary repeats an upload with another boundary, as clients do.
func TestIdempotency_UploadOtherBoundary(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	send := func(boundary, content string) *servertest.Reply {
		body := strings.ReplaceAll(servertest.MultipartBody(servertest.FilePart("a.txt", content)),
			"edge", boundary)
		r := in.Multipart("/file/list", strings.NewReader(body), "owner")
		r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
		r.Header.Set("Idempotency-Key", "k")
		return in.Send(r)
	}
	first := send("one", "a text")
	if first.Code != 200 {
		t.Fatal(first.Body)
	}
	if second := send("two", "a text"); second.Code != 200 || second.Body != first.Body {
		t.Errorf("%d %s", second.Code, second.Body)
	}
	if third := send("two", "another"); third.Code != 422 {
		t.Errorf("%d %s", third.Code, third.Body)
	}

	in.Lists("/file/list", "name", "owner", "a.txt")
}

func TestBadIdempotencyKeys(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, key := range []string{"", " ", `""`, strings.Repeat("a", 256), "with space", "é",
		"a\tb"} {
		if a := repeatable(in, key, "POST", "/admin/dept", `{"name":"x"}`, "owner"); a.Code != 400 ||
			a.Envelope().Errors["Idempotency-Key"] == "" {
			t.Errorf("%q: %d %s", key, a.Code, a.Body)
		}
	}

	r := in.Request("POST", "/admin/dept", `{"name":"x"}`, "owner")
	r.Header["Idempotency-Key"] = []string{"a", "b"}
	in.Send(r).Names(400, "Idempotency-Key")
	// Where nobody is signed in, or nothing is changed, it is ignored.
	repeatable(in, "", "POST", "/admin/login",
		`{"username":"admin","password":"`+servertest.OwnerPassword+`"}`, "nobody").Brief(200)
	repeatable(in, "", http.MethodGet, "/admin/dept", "", "owner").Brief(200)
	repeatable(in, "", http.MethodPut, "/admin/info", `{"nickname":"n"}`, "owner").Brief(200)
}

func TestIdempotency_LimitPerCaller(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	add := func(n int, caller string) {
		for begin := 0; begin < n; begin += 100 {
			in.Update(func(tx *store.Tx) error {
				for i := begin; i < min(begin+100, n); i++ {
					if err := store.AddCompleted(tx, &store.CompletedRequest{
						Caller: caller,
						Key:    fmt.Sprint(caller, i),
					}); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	add(2000, "user 1")
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Sales"}`, "owner").Brief(200)
	in.View(func(tx *store.Tx) error {
		_, oldest := store.CompletedByKey.Get(tx, "user 10")
		_, next := store.CompletedByKey.Get(tx, "user 11")
		if n, err := store.CompletedByCaller.Count(tx, "user 1"); n != 2000 || err != nil ||
			oldest == nil || next != nil {
			t.Errorf("%d, %v; the oldest: %v, the next: %v", n, err, oldest, next)
		}
		return nil
	})
}

// TestIdempotency_ReplayNeedsSameScope: the response may have records outside of the present one.
func TestIdempotency_ReplayNeedsSameScope(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.Clerk("clerk", "admin.dept.create")
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Plans"}`, "clerk").Brief(200)
	in.Update(func(tx *store.Tx) error {
		_, err := store.Roles.Update(tx, u.RoleIDs[0], func(r *store.Role) error {
			r.DataScope = store.ScopeSelf
			return nil
		})
		return err
	})
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Plans"}`, "clerk").Brief(409,
		`"errorCode":"already_done"`)
}

// TestIdempotency_FilesDistinguished compares a form with one file to a form with two files whose
// joined parts have the same bytes.
func TestIdempotency_FilesDistinguished(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	send := func(parts ...servertest.FormPart) *servertest.Reply {
		r := in.Multipart("/file/list", strings.NewReader(servertest.MultipartBody(parts...)),
			"owner")
		r.Header.Set("Idempotency-Key", "k")
		return in.Send(r)
	}
	if a := send(servertest.FilePart("a.txt", "X5:b.txtY")); a.Code != 200 {
		t.Fatal(a.Body)
	}
	if a := send(servertest.FilePart("a.txt", "X"), servertest.FilePart("b.txt", "Y")); a.Code != 422 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// TestIdempotency_ReplayAfterFailedCommit: a write of the same commit has seen a completed request,
// and the commit has failed.
func TestIdempotency_ReplayAfterFailedCommit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	repeatable(in, "k", "POST", "/admin/dept", `{"name":"Sales"}`, "owner").Brief(200)
	req := in.Server.NewRequest(httptest.NewRecorder(),
		httptest.NewRequest("POST", "/admin/dept", nil))
	in.View(func(tx *store.Tx) error {
		for done, err := range store.CompletedRequests.All(tx) {
			servertest.Must(t, err)
			if err := req.ConfirmCompleted(done); err != nil {
				t.Error(err)
			}
			done.RequestID = "another"
			if err := req.ConfirmCompleted(done); !errs.Is(err, errs.Busy) {
				t.Errorf("another request was committed: %v", err)
			}
			done.Key = "unknown"
			if err := req.ConfirmCompleted(done); !errs.Is(err, errs.Busy) {
				t.Errorf("none was committed: %v", err)
			}
		}
		return nil
	})
}
