package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// Concurrent requests: the effect of an acknowledged request holds for every request
// that begins afterwards.

// status sends a request without checking the form of the response.
func status(in *servertest.Instance, method, url, as string) int {
	w := httptest.NewRecorder()
	in.Server.Handler().ServeHTTP(w, in.Request(method, url, "", as))
	return w.Code
}

// TestSession_NoRequestAfterEnd sends requests while the session is
// ended, in every possible way.
func TestSession_NoRequestAfterEnd(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.Clerk("clerk", "system.setting.query")
	ways := map[string]func() error{
		"logout": func() error {
			if code := status(in, "POST", "/admin/logout", "ending"); code != 200 {
				return fmt.Errorf("logout: %d", code)
			}
			return nil
		},
		"deleted session": func() error {
			return in.DB.Update(store.System, func(tx *store.Tx) error {
				ids, err := store.SessionByUser.IDs(tx, u.ID)
				if err != nil {
					return err
				}
				for _, id := range ids {
					if err := store.Sessions.Delete(tx, id); err != nil {
						return err
					}
				}
				return nil
			})
		},
		"disabled user": func() error {
			return in.DB.Update(store.System, func(tx *store.Tx) error {
				_, err := store.Users.Update(tx, u.ID, func(u *store.User) error {
					u.Status = false
					return nil
				})
				return err
			})
		},
		"new password": func() error {
			return in.DB.Update(store.System, func(tx *store.Tx) error {
				hash, err := store.HashOf(tx, store.Account{ID: u.ID})
				if err != nil {
					return err
				}
				return store.SetHash(tx, store.Account{ID: u.ID}, hash.Hash, false, 0)
			})
		},
	}
	for name, end := range ways {
		t.Run(name, func(t *testing.T) {
			for range servertest.Size(15, 100, 1000) {
				in.Update(func(tx *store.Tx) error {
					_, err := store.Users.Update(tx, u.ID, func(u *store.User) error {
						u.Status = true
						return nil
					})
					return err
				})
				in.Tokens["ending"] = in.SignIn(u.ID)
				hammer(in, t, "/system/setting", "ending", http.StatusOK, http.StatusUnauthorized,
					end)
			}
		})
	}
}

// TestPermission_NoRequestAfterRevocation does the same by changing a role.
func TestPermission_NoRequestAfterRevocation(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "system.setting.query")
	id := in.Permission("system.setting.query")
	set := func(on bool) error {
		return in.DB.Update(store.System, func(tx *store.Tx) error {
			_, err := store.Permissions.Update(tx, id, func(p *store.Permission) error {
				p.Status = store.Flag(on)
				return nil
			})
			return err
		})
	}
	for range servertest.Size(15, 100, 1000) {
		servertest.Must(t, set(true))
		hammer(in, t, "/system/setting", "clerk", http.StatusOK, http.StatusForbidden,
			func() error {
				return set(false)
			})
	}
}

// hammer sends requests from several goroutines while end runs. Before end begins, the
// status must be the first one; after end has been acknowledged, the second.
func hammer(in *servertest.Instance, t *testing.T, url, as string, before, after int,
	end func() error) {
	t.Helper()
	var ended atomic.Bool
	var wg sync.WaitGroup
	ready := make(chan struct{}, 3)
	for range 3 {
		wg.Go(func() {
			first := status(in, "GET", url, as)
			ready <- struct{}{}
			if first != before {
				t.Errorf("before: %d, want %d", first, before)
				return
			}

			for {
				done := ended.Load() // read before the request begins
				code := status(in, "GET", url, as)
				if done {
					if code != after {
						t.Errorf("after the end was answered: %d, want %d", code, after)
					}
					return
				}
			}
		})
	}

	for range 3 {
		<-ready
	}

	if err := end(); err != nil {
		t.Error(err)
	}

	ended.Store(true)
	wg.Wait()
}

// TestConcurrentWrites_AllKept creates records from many goroutines at once, some of
// them duplicates.
func TestConcurrentWrites_AllKept(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	n := servertest.Size(40, 200, 2000)
	var created, refused atomic.Int64
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := worker % 4; i < n; i += 4 { // every key is sent twice
				w := httptest.NewRecorder()
				in.Server.Handler().ServeHTTP(w,
					in.Request("POST", "/system/setting",
						fmt.Sprintf(`{"key":"k%d","title":"T","type":"input","group_id":8}`, i),
						"owner"))
				switch w.Code {
				case 200:
					created.Add(1)
				case 409:
					refused.Add(1)
				default:
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}

	wg.Wait()
	if c, r := int(created.Load()), int(refused.Load()); c != n || r != n {
		t.Errorf("%d created and %d refused, want %d each", c, r, n)
	}

	in.OK("GET", "/system/setting?group_id=8&pageSize=1", "", "owner").Brief(200,
		fmt.Sprintf(`"total":%d,`, n))
}

// TestRequestID_Unique compares the IDs of concurrent requests.
func TestRequestID_Unique(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				w := httptest.NewRecorder()
				in.Server.Handler().ServeHTTP(w, in.Request("GET", "/health", "", "nobody"))
				mu.Lock()
				seen[w.Header().Get("X-Request-Id")] = true
				mu.Unlock()
			}
		})
	}

	wg.Wait()
	if len(seen) != 400 {
		t.Errorf("%d ids for 400 requests", len(seen))
	}
}
