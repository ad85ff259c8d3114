package server

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/server/files"
	"reeve/server/picture/picturetest"
	"reeve/server/web"
	"reeve/store"
)

// quietly sends a request without checking the form of the response, from any goroutine.
func (in *instance) quietly(method, url, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := in.request(method, url, "", "owner")
	if body != "" {
		r = in.multipart(url, strings.NewReader(body), "owner")
	}
	in.server.Handler().ServeHTTP(w, r)
	return w
}

// TestUpload_SameContentConcurrently: each upload gets a record; the content is stored once.
func TestUpload_SameContentConcurrently(t *testing.T) {
	t.Parallel()
	in := start(t)
	words := pattern(chunk + 5000)
	body := multipartBody(filePart("same.txt", words))
	var wg sync.WaitGroup
	for range web.MaxUploadsPerUser {
		wg.Go(func() {
			if w := in.quietly("POST", "/file/list", body); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	in.ok("GET", "/file/list?pageSize=1", "", "owner").brief(200, fmt.Sprintf(`"total":%d,`, web.MaxUploadsPerUser))
	in.swept(1)
	for id := store.ID(1); id < web.MaxUploadsPerUser; id++ {
		in.ok("DELETE", fmt.Sprint("/file/list/", id), "", "owner")
		in.ok("DELETE", fmt.Sprint("/file/trash/", id), "", "owner")
	}
	if a := in.ok("GET", contentURL(web.MaxUploadsPerUser), "", "owner"); a.Body != words {
		t.Errorf("the last of them has %d bytes", len(a.Body))
	}
	in.ok("DELETE", fmt.Sprint("/file/list/", web.MaxUploadsPerUser), "", "owner")
	in.ok("DELETE", fmt.Sprint("/file/trash/", web.MaxUploadsPerUser), "", "owner")
	in.swept(0)
}

// TestUpload_ConcurrentDeletion: concurrent clients upload the same content, read it back and
// delete it. None loses content because another client deleted its own file.
func TestUpload_ConcurrentDeletion(t *testing.T) {
	t.Parallel()
	in := start(t)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			words := pattern(100 + worker%2*chunk)
			body := multipartBody(filePart("same.txt", words))
			for range size(25, 100, 1000) {
				w := in.quietly("POST", "/file/list", body)
				var out files.Files
				(&reply{t: t, Body: w.Body.String()}).data(&out)
				if w.Code != 200 || len(out.Data) != 1 {
					t.Errorf("%d %s", w.Code, w.Body)
					return
				}
				id := out.Data[0].ID
				if w := in.quietly("GET", contentURL(id), ""); w.Code != 200 || w.Body.String() != words {
					t.Errorf("file %d: %d with %d bytes", id, w.Code, w.Body.Len())
				}
				for _, url := range []string{"/file/list/", "/file/trash/"} {
					if w := in.quietly("DELETE", fmt.Sprint(url, id), ""); w.Code != 200 {
						t.Errorf("%d %s", w.Code, w.Body)
					}
				}
			}
		})
	}
	wg.Wait()
	in.swept(0)
}

// TestAvatar_ReplacedWhileRead: a concurrent read gets the avatar or 404.
func TestAvatar_ReplacedWhileRead(t *testing.T) {
	t.Parallel()
	in := start(t)
	var address atomic.Value
	pictures := []string{string(picturetest.PNG(t, picturetest.Quarters(8, 8, picturetest.Red, picturetest.Lime, picturetest.Blue, picturetest.White))), string(picturetest.PNG(t, picturetest.Quarters(8, 8, picturetest.White, picturetest.Lime, picturetest.Blue, picturetest.Red)))}
	address.Store(in.avatar("owner", pictures[1]).AvatarURL)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				if w := in.quietly("GET", address.Load().(string), ""); w.Code != 200 && w.Code != 404 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
	for i := range size(40, 200, 2000) {
		address.Store(in.avatar("owner", pictures[i%2]).AvatarURL)
	}
	done.Store(true)
	wg.Wait()
	in.swept(1)
}
