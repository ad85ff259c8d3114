package files_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/server/files"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// quietly sends a request without checking the form of the response, from any goroutine.
func quietly(in *servertest.Instance, method, url, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := in.Request(method, url, "", "owner")
	if body != "" {
		r = in.Multipart(url, strings.NewReader(body), "owner")
	}
	in.Server.Handler().ServeHTTP(w, r)
	return w
}

// TestUpload_SameContentConcurrently: each upload gets a record; the content is stored once.
func TestUpload_SameContentConcurrently(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	words := pattern(chunk + 5000)
	body := servertest.MultipartBody(servertest.FilePart("same.txt", words))
	var wg sync.WaitGroup
	for range web.MaxUploadsPerUser {
		wg.Go(func() {
			if w := quietly(in, "POST", "/file/list", body); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}

	wg.Wait()
	in.OK("GET", "/file/list?pageSize=1", "", "owner").Brief(200,
		fmt.Sprintf(`"total":%d,`, web.MaxUploadsPerUser))
	swept(in, 1)
	for id := store.ID(1); id < web.MaxUploadsPerUser; id++ {
		in.OK("DELETE", fmt.Sprint("/file/list/", id), "", "owner")
		in.OK("DELETE", fmt.Sprint("/file/trash/", id), "", "owner")
	}

	if a := in.OK("GET", servertest.ContentURL(web.MaxUploadsPerUser), "", "owner"); a.Body != words {
		t.Errorf("the last of them has %d bytes", len(a.Body))
	}

	in.OK("DELETE", fmt.Sprint("/file/list/", web.MaxUploadsPerUser), "", "owner")
	in.OK("DELETE", fmt.Sprint("/file/trash/", web.MaxUploadsPerUser), "", "owner")
	swept(in, 0)
}

// TestUpload_ConcurrentDeletion: concurrent clients upload the same content, read it back and
// delete it. None loses content because another client deleted its own file.
func TestUpload_ConcurrentDeletion(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			words := pattern(100 + worker%2*chunk)
			body := servertest.MultipartBody(servertest.FilePart("same.txt", words))
			for range servertest.Size(25, 100, 1000) {
				w := quietly(in, "POST", "/file/list", body)
				var out files.Files
				(&servertest.Reply{T: t, Body: w.Body.String()}).Data(&out)
				if w.Code != 200 || len(out.Data) != 1 {
					t.Errorf("%d %s", w.Code, w.Body)
					return
				}

				id := out.Data[0].ID
				if w := quietly(in, "GET", servertest.ContentURL(id), ""); w.Code != 200 ||
					w.Body.String() != words {
					t.Errorf("file %d: %d with %d bytes", id, w.Code, w.Body.Len())
				}

				for _, url := range []string{"/file/list/", "/file/trash/"} {
					if w := quietly(in, "DELETE", fmt.Sprint(url, id), ""); w.Code != 200 {
						t.Errorf("%d %s", w.Code, w.Body)
					}
				}
			}
		})
	}

	wg.Wait()
	swept(in, 0)
}

// TestAvatar_ReplacedWhileRead: a concurrent read gets the avatar or 404.
func TestAvatar_ReplacedWhileRead(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var address atomic.Value
	pictures := []string{string(picturetest.PNG(t,
		picturetest.Quarters(8, 8, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White))),
		string(picturetest.PNG(t,
			picturetest.Quarters(8, 8, picturetest.White, picturetest.Lime, picturetest.Blue,
				picturetest.Red)))}
	address.Store(in.Avatar("owner", pictures[1]).AvatarURL)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				if w := quietly(in, "GET", address.Load().(string), ""); w.Code != 200 &&
					w.Code != 404 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}

	for i := range servertest.Size(40, 200, 2000) {
		address.Store(in.Avatar("owner", pictures[i%2]).AvatarURL)
	}

	done.Store(true)
	wg.Wait()
	swept(in, 1)
}
