package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"reeve/store"
	"reeve/store/errs"
)

// repeatable sends a request with an Idempotency-Key.
func (in *instance) repeatable(key, method, url, body, as string) *reply {
	in.t.Helper()
	r := in.request(method, url, body, as)
	r.Header.Set("Idempotency-Key", key)
	return in.send(r)
}

func TestIdempotency_CarriedOutOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := open(t, dir)
	in.tokens["owner"] = in.signIn(1)
	const body = `{"name":"Sales"}`
	first := in.repeatable("k-1", "POST", "/admin/role", body, "owner")
	if first.Code != 200 || first.Header.Get("Idempotency-Replayed") != "" {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	same := func(a *reply) {
		t.Helper()
		if a.Code != 200 || a.Body != first.Body || a.Header.Get("Idempotency-Replayed") != "true" || a.Header.Get("Etag") != first.Header.Get("Etag") || a.Header.Get("Reeve-Entry") != "" {
			t.Errorf("%d %s %v, want %s", a.Code, a.Body, a.Header, first.Body)
		}
	}
	same(in.repeatable("k-1", "POST", "/admin/role", body, "owner"))
	same(in.repeatable(`"k-1"`, "POST", "/admin/role", body, "owner")) // a structured field
	in.tokens["owner again"] = in.signIn(1)
	same(in.repeatable("k-1", "POST", "/admin/role", body, "owner again")) // another session of the same user

	in.repeatable("k-1", "POST", "/admin/role", body+" ", "owner").brief(422, `"errorCode":"idempotency_key_reused"`, `"Idempotency-Key":`)
	in.repeatable("k-1", "POST", "/admin/dept", body, "owner").brief(422, `"errorCode":"idempotency_key_reused"`)
	in.repeatable("k-2", "POST", "/admin/role", body, "owner").brief(409, `"errorCode":"duplicate"`)
	in.clerk("clerk", "admin.role.create")
	in.repeatable("k-1", "POST", "/admin/role", `{"name":"Support"}`, "clerk").brief(200, `"name":"Support"`) // keys are those of a caller
	in.close()
	in = open(t, dir)
	in.tokens["owner"] = in.signIn(1)
	same(in.repeatable("k-1", "POST", "/admin/role", body, "owner"))
}

func TestIdempotency_FailedCanBeRepeated(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.repeatable("k", "POST", "/admin/dept", `{"name":"","parent_id":77}`, "owner").brief(422)
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Sales"}`, "owner").brief(200, `"name":"Sales"`)
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Sales"}`, "owner").brief(200, `"name":"Sales"`)
	in.ok("GET", "/admin/dept", "", "owner").brief(200, `"id":1`)
	in.view(func(tx *store.Tx) error {
		if n, err := store.Depts.Count(tx); n != 1 || err != nil {
			t.Errorf("%d departments, %v", n, err)
		}
		return nil
	})
}

// TestIdempotency_Concurrent checks that concurrent repetitions are carried out once.
func TestIdempotency_Concurrent(t *testing.T) {
	t.Parallel()
	in := start(t)
	var wg sync.WaitGroup
	answers := make([]*reply, 16)
	for i := range answers {
		r := in.request("POST", "/admin/dept", `{"name":"Sales"}`, "owner")
		r.Header.Set("Idempotency-Key", "k")
		wg.Go(func() { answers[i] = in.send(r) })
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
	in.view(func(tx *store.Tx) error {
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
	for _, rt := range routes() {
		if !rt.Idempotent() {
			continue
		}
		in := withGoodBodies(t)
		send := func() *reply {
			r := in.changing(&rt, func(text string) io.Reader { return strings.NewReader(text) })
			r.Header.Del("Cookie")
			r.Header.Del("Authorization")
			authorize(r, in.tokens[holder(&rt)])
			r.Header.Set("Idempotency-Key", "the-same")
			return in.send(r)
		}
		in.tokens["slow"] = ""
		commits := in.db.Stats().Commits
		first := send()
		changed := in.db.Stats().Commits != commits
		commits = in.db.Stats().Commits
		second := send()
		switch {
		case first.Code != 200 || !changed || rt.LoggedAs != "": // it has changed nothing but the change log
			continue
		case in.db.Stats().Commits != commits:
			t.Errorf("%s: the second request has changed something: %d %s", rt.Name(), second.Code, second.Body)
		case second.Code == 409 && second.envelope().ErrorCode == "already_done":
			if !rt.Reveals && len(first.Body) < store.MaxCompletedAnswer {
				t.Errorf("%s: the response was not stored", rt.Name())
			}
			refused++
		case second.Code != 200 || second.Body != first.Body || rt.Reveals:
			t.Errorf("%s: %d %s, then %d %s", rt.Name(), first.Code, first.Body, second.Code, second.Body)
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
	in := start(t)
	body := `{"name":"shop","role_ids":[` + fmt.Sprint(in.clerk("clerk").RoleIDs[0]) + `]}`
	in.repeatable("k", "POST", "/admin/key", body, "owner").brief(200, `"token":"rv_k_`)
	in.repeatable("k", "POST", "/admin/key", body, "owner").brief(409, `"errorCode":"already_done"`)
	in.view(func(tx *store.Tx) error {
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
	in := start(t)
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Sales","leader":"Lea Lund"}`, "owner").brief(200)
	in.view(func(tx *store.Tx) error {
		for r, err := range store.CompletedRequests.All(tx) {
			if err != nil || len(r.Answer) == 0 || strings.Contains(string(r.Answer), "Lea") || strings.Contains(r.Key+r.Request, "Lea") {
				t.Errorf("%+v, %v", r, err)
			}
		}
		return nil
	})
}

func TestIdempotency_ReplayNeedsPermission(t *testing.T) {
	t.Parallel()
	in := start(t)
	u := in.clerk("clerk", "admin.dept.create")
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Sales"}`, "clerk").brief(200)
	in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", u.RoleIDs[0]), `{"rule_ids":[]}`, "owner")
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Sales"}`, "clerk").brief(403, `"errorCode":"denied"`)
}

// TestIdempotency_UploadOtherBoundary repeats an upload with another boundary, as clients do.
func TestIdempotency_UploadOtherBoundary(t *testing.T) {
	t.Parallel()
	in := start(t)
	send := func(boundary, content string) *reply {
		body := strings.ReplaceAll(multipartBody(filePart("a.txt", content)), "edge", boundary)
		r := in.multipart("/file/list", strings.NewReader(body), "owner")
		r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
		r.Header.Set("Idempotency-Key", "k")
		return in.send(r)
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
	in.lists("/file/list", "name", "owner", "a.txt")
}

func TestBadIdempotencyKeys(t *testing.T) {
	t.Parallel()
	in := start(t)
	for _, key := range []string{"", " ", `""`, strings.Repeat("a", 256), "with space", "é", "a\tb"} {
		if a := in.repeatable(key, "POST", "/admin/dept", `{"name":"x"}`, "owner"); a.Code != 400 || a.envelope().Errors["Idempotency-Key"] == "" {
			t.Errorf("%q: %d %s", key, a.Code, a.Body)
		}
	}
	r := in.request("POST", "/admin/dept", `{"name":"x"}`, "owner")
	r.Header["Idempotency-Key"] = []string{"a", "b"}
	in.send(r).names(400, "Idempotency-Key")
	// Where nobody is signed in, or nothing is changed, it is ignored.
	in.repeatable("", "POST", "/admin/login", `{"username":"admin","password":"`+ownerPassword+`"}`, "nobody").brief(200)
	in.repeatable("", http.MethodGet, "/admin/dept", "", "owner").brief(200)
	in.repeatable("", http.MethodPut, "/admin/info", `{"nickname":"n"}`, "owner").brief(200)
}

func TestIdempotency_LimitPerCaller(t *testing.T) {
	t.Parallel()
	in := start(t)
	add := func(n int, caller string) {
		for begin := 0; begin < n; begin += 100 {
			in.update(func(tx *store.Tx) error {
				for i := begin; i < min(begin+100, n); i++ {
					if err := store.AddCompleted(tx, &store.CompletedRequest{Caller: caller, Key: fmt.Sprint(caller, i)}); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	add(2000, "user 1")
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Sales"}`, "owner").brief(200)
	in.view(func(tx *store.Tx) error {
		_, oldest := store.CompletedByKey.Get(tx, "user 10")
		_, next := store.CompletedByKey.Get(tx, "user 11")
		if n, err := store.CompletedByCaller.Count(tx, "user 1"); n != 2000 || err != nil || oldest == nil || next != nil {
			t.Errorf("%d, %v; the oldest: %v, the next: %v", n, err, oldest, next)
		}
		return nil
	})
}

// TestIdempotency_ReplayNeedsSameScope: the response may have records outside of the present one.
func TestIdempotency_ReplayNeedsSameScope(t *testing.T) {
	t.Parallel()
	in := start(t)
	u := in.clerk("clerk", "admin.dept.create")
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Plans"}`, "clerk").brief(200)
	in.update(func(tx *store.Tx) error {
		_, err := store.Roles.Update(tx, u.RoleIDs[0], func(r *store.Role) error { r.DataScope = store.ScopeSelf; return nil })
		return err
	})
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Plans"}`, "clerk").brief(409, `"errorCode":"already_done"`)
}

// TestIdempotency_FilesDistinguished compares a form with one file to a form with two files whose
// joined parts have the same bytes.
func TestIdempotency_FilesDistinguished(t *testing.T) {
	t.Parallel()
	in := start(t)
	send := func(parts ...formPart) *reply {
		r := in.multipart("/file/list", strings.NewReader(multipartBody(parts...)), "owner")
		r.Header.Set("Idempotency-Key", "k")
		return in.send(r)
	}
	if a := send(filePart("a.txt", "X5:b.txtY")); a.Code != 200 {
		t.Fatal(a.Body)
	}
	if a := send(filePart("a.txt", "X"), filePart("b.txt", "Y")); a.Code != 422 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// TestIdempotency_ReplayAfterFailedCommit: a write of the same commit has seen a completed request, and the commit has failed.
func TestIdempotency_ReplayAfterFailedCommit(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.repeatable("k", "POST", "/admin/dept", `{"name":"Sales"}`, "owner").brief(200)
	req := in.server.NewRequest(httptest.NewRecorder(), httptest.NewRequest("POST", "/admin/dept", nil))
	in.view(func(tx *store.Tx) error {
		for done, err := range store.CompletedRequests.All(tx) {
			must(t, err)
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
