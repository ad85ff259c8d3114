package account_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// together sends one request from many clients at once, and counts the responses by status.
// Each client repeats the request while the response says to retry later.
func together(in *servertest.Instance, clients int, method, url, body string) map[int]int {
	count := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range 100 {
				r := httptest.NewRequest(method, url, strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				in.Server.Handler().ServeHTTP(w, r)
				if w.Code == http.StatusServiceUnavailable {
					continue
				}
				mu.Lock()
				count[w.Code]++
				mu.Unlock()
				return
			}
		})
	}

	wg.Wait()
	return count
}

func TestRegistration_ConcurrentSameName(t *testing.T) {
	// Not parallel: other tests would make the queue for hashing overflow.
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting",
		`{"values":{"app.registration":true,"security.login_tries":5}}`, "owner") // 50 registrations, without those that find no place in the queue
	body := `{"username":"Same.Name","password":"long enough for all"}`
	got := together(in, 48, "POST", "/api/register", body)
	if got[200] != 1 || got[409] != 47 {
		t.Errorf("48 clients register one name: %v, want one 200 and 47 times 409", got)
	}

	var users, sessions int
	in.View(func(tx *store.Tx) (err error) {
		if users, err = store.AppUsers.Count(tx); err != nil {
			return err
		}
		ids, err := store.SessionsOf(tx, store.Account{App: true, ID: 1})
		sessions = len(ids)
		return err
	})
	if users != 1 || sessions != 1 {
		t.Errorf("%d users with %d sessions, want one of each", users, sessions)
	}
	in.OK("PUT", "/system/setting", `{"values":{"security.login_tries":50}}`, "owner")
	if got := together(in, 48, "POST", "/api/login",
		strings.Replace(body, "Same.Name", "same.name", 1)); got[200] != 48 {
		t.Errorf("48 clients sign in with one name: %v", got)
	}

	in.View(func(tx *store.Tx) error {
		ids, err := store.SessionsOf(tx, store.Account{App: true, ID: 1})
		if len(ids) != 10 {
			t.Errorf("%d sessions are left, want ten", len(ids))
		}
		return err
	})
}
