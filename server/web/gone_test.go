package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"reeve/server/monitor"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
	"reeve/server/web"
)

// counts returns the responses of a route by status class.
func counts(in *servertest.Instance, method, path string) (classes [len(web.StatusClasses)]uint64) {
	for _, rt := range in.Server.Server.Routes {
		if rt.Method == method && rt.Path == path {
			for i := range classes {
				classes[i] = in.Server.Metrics.Of(&rt).Classes[i].Load()
			}
		}
	}
	return classes
}

// TestClientGone_ThumbnailIsNoFailure: a user leaves a page while its
// thumbnails are being made.
func TestClientGone_ThumbnailIsNoFailure(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	f := in.Keep("owner", "a.png",
		string(picturetest.PNG(t,
			picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
				picturetest.White))))

	images := in.Server.Files.Images
	var release []func()
	for range max(1, runtime.NumCPU()-1) { // other pictures are being scaled
		done, err := images.Admit(t.Context(), 1)
		servertest.Must(t, err)
		release = append(release, done)
	}

	srv := httptest.NewServer(in.Server.Handler())
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET",
		srv.URL+servertest.ContentURL(f.ID)+"?thumb=64x64", nil)
	servertest.Must(t, err)
	r.Header.Set("Authorization", "Bearer "+in.Tokens["owner"])
	asked := make(chan error)
	go func() {
		a, err := http.DefaultClient.Do(r)
		if err == nil {
			err = errors.Join(fmt.Errorf("it was answered with %s", a.Status), a.Body.Close())
		}
		asked <- err
	}()

	servertest.Until(t, "the picture waits", func() bool {
		return in.Server.Limits.Pictures.Now() == 1
	})
	leave()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	servertest.Until(t, "the request is counted", func() bool {
		return counts(in, "GET", "/file/list/:id/content")[3] == 1
	})
	srv.Close()
	if got := counts(in, "GET", "/file/list/:id/content"); got[4] != 0 {
		t.Errorf("counted as %v", got)
	}

	stats := in.Stats("")
	if stats.Total.Failed != 0 || stats.Total.Refused != 1 {
		t.Errorf("counted as %+v", stats.Total)
	}
	if i := slices.IndexFunc(stats.Routes, func(r monitor.StatsRoute) bool {
		return r.Route == "GET /file/list/:id/content"
	}); i < 0 || stats.Routes[i].Failed != 0 {
		t.Errorf("the routes are counted as %+v", stats.Routes)
	}
	if strings.Contains(log.String(), `"level":"error"`) ||
		!strings.Contains(log.String(), `"status":499`) {
		t.Errorf("the log: %s", log.String())
	}
	if got := in.Server.Limits.Pictures.Now(); got != 0 {
		t.Errorf("%d places are held", got)
	}

	for _, done := range release {
		done()
	}

	in.OK("GET", servertest.ContentURL(f.ID)+"?thumb=64x64", "", "owner")
}

// deaf is a connection that breaks after some bytes.
type deaf struct {
	*httptest.ResponseRecorder
	left int
}

var errDeaf = errors.New("broken pipe")

func (d *deaf) Write(p []byte) (int, error) {
	if len(p) > d.left {
		return 0, errDeaf
	}
	d.left -= len(p)
	return d.ResponseRecorder.Write(p)
}

// TestClientGone_DownloadIsNoFailure aborts each kind of raw response.
func TestClientGone_DownloadIsNoFailure(t *testing.T) {
	t.Parallel()
	for path, as := range map[string]string{
		"/admin/list-export": "owner",
		"/system/backup":     "owner",
		"/metrics":           "metrics",
	} {
		for _, left := range []int{0, 1} {
			t.Run(fmt.Sprint(path, " after ", left), func(t *testing.T) {
				var log servertest.Log
				in := servertest.Start(t, func(su *servertest.Setup) {
					su.Log = &log
				})
				func() {
					defer func() {
						if p := recover(); p != http.ErrAbortHandler {
							t.Errorf("the handler ended with %v", p)
						}
					}()
					in.Server.Handler().ServeHTTP(&deaf{httptest.NewRecorder(), left},
						in.Request("GET", path, "", as))
				}()
				if got := counts(in, "GET", path); got[3] != 1 || got[4] != 0 || got[1] != 0 {
					t.Errorf("counted as %v", got)
				}
				if strings.Contains(log.String(), `"level":"error"`) {
					t.Errorf("the log: %s", log.String())
				}
			})
		}
	}
}

// TestClientGone_FailureStillCounts: only errors caused by the disconnection are
// ignored.
func TestClientGone_FailureStillCounts(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	rt := web.Action("POST", "/t", web.Public, "T",
		func(*web.Request, *web.None) (web.Nothing, error) {
			return web.Nothing{}, errors.New("disk gone")
		})

	ctx, leave := context.WithCancel(t.Context())
	leave()
	w := httptest.NewRecorder()
	in.Server.Router([]web.Route{rt}).ServeHTTP(w,
		in.Request("POST", "/t", "", "nobody").WithContext(ctx))
	if w.Code != 500 || !strings.Contains(log.String(), "disk gone") {
		t.Errorf("%d, the log: %s", w.Code, log.String())
	}
}

// TestPictureQueue_Bounded fills all slots for pictures that are being scaled or are
// waiting.
func TestPictureQueue_Bounded(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f := in.Keep("owner", "a.png",
		string(picturetest.PNG(t,
			picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
				picturetest.White))))
	servertest.Must(t, in.Server.Limits.Pictures.Acquire(web.MaxPictures))
	in.Call("GET", servertest.ContentURL(f.ID)+"?thumb=64x64", "", "owner").Brief(503, "try again")
	in.Server.Limits.Pictures.Release(web.MaxPictures)
	in.OK("GET", servertest.ContentURL(f.ID)+"?thumb=64x64", "", "owner")
}
