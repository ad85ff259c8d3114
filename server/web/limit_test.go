package web_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"reeve/server/limit"
	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/server/web"
)

// gated starts a server with that many connections, as Run does.
func gated(t *testing.T, in *servertest.Instance, most int,
	exempt ...netip.Prefix) *httptest.Server {
	in.Server.Limits.Connections.Total = int64(most)
	srv := httptest.NewUnstartedServer(in.Server.Handler())
	config := in.Server.Config
	config.TrustedProxies = exempt
	servertest.Must(t, in.Server.Reload(config))
	srv.Listener = in.Server.Gated(srv.Listener)
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

func TestMaxConnections_Limit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exempt []netip.Prefix
		fit    int
		code   int
	}{
		"from one address":   {nil, 4, 429},
		"from a proxy":       {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 8, 503},
		"from another proxy": {[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, 4, 429},
	} {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t)
			srv := gated(t, in, 8, c.exempt...)
			var open []net.Conn
			for range c.fit {
				conn, err := net.Dial("tcp", srv.Listener.Addr().String())
				servertest.Must(t, err)
				defer conn.Close()
				open = append(open, conn)
			}

			servertest.Until(t, "they are all accepted", func() bool {
				return in.Server.Limits.Connections.Now() == int64(c.fit)
			})
			a := over(in, srv)
			if a.Code != c.code || a.Header.Get("Retry-After") == "" || a.Envelope().Msg == "" {
				t.Errorf("%d %v %s", a.Code, a.Header, a.Body)
			}

			a.CheckHeaders(httptest.NewRequest("GET", "/health", nil))
			if p := ops.LimitHealth(in.Server.Server); p.State != web.Degraded ||
				p.Figures["connections_rejected"] != 1 {
				t.Errorf("%+v", p)
			}

			open[0].Close()
			servertest.Until(t, "another one is accepted", func() bool {
				return over(in, srv).Code == 200
			})
		})
	}
}

// over requests /health over a new connection.
func over(in *servertest.Instance, srv *httptest.Server) *servertest.Reply {
	in.T.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(srv.URL + "/health")
	servertest.Must(in.T, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	servertest.Must(in.T, err)
	return &servertest.Reply{
		T:      in.T,
		Code:   resp.StatusCode,
		Header: resp.Header,
		Body:   string(body),
		Sent:   "GET /health",
		Bytes:  len(body),
	}
}

// TestUploadLimit_ByUserAndAddress also checks that places are released.
func TestUploadLimit_ByUserAndAddress(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "file.list.create")
	address, owner := limit.Share{Client: "192.0.2.1", Most: 1 << 30}, limit.Share{
		Client: "user 1",
		Most:   1 << 30,
	}
	for name, c := range map[string]struct {
		l       *limit.Limit
		perUser int64
		perAddr int64
		call    func(as string) *servertest.Reply
	}{
		"uploads": {in.Server.Limits.Uploads, web.MaxUploadsPerUser, web.MaxUploadsPerAddress,
			func(as string) *servertest.Reply {
				return in.Upload("/file/list", "a text", as)
			}},
		"bodies": {in.Server.Limits.Bodies, web.MaxBodiesPerUser, web.MaxBodiesPerAddress,
			func(as string) *servertest.Reply {
				return in.Call("PUT", "/admin/info", `{"sex":1}`, as)
			}},
	} {
		c.call("owner").Brief(200)
		servertest.Must(t, c.l.Acquire(c.perUser, owner))
		a := c.call("owner")
		a.Brief(429, `"errorCode":"too_many_requests"`)
		if a.Header.Get("Connection") != "close" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %v", name, a.Header)
		}

		c.call("clerk").Brief(200)
		c.l.Release(c.perUser, owner)
		servertest.Must(t, c.l.Acquire(c.perAddr, address))
		c.call("clerk").Brief(429)
		c.l.Release(c.perAddr, address)
		servertest.Must(t, c.l.Acquire(c.l.Total))
		c.call("clerk").Brief(503, `"errorCode":"busy"`)
		c.l.Release(c.l.Total)
		c.call("owner").Brief(200)
		if c.l.Now() != 0 || len(c.l.ByClient) != 0 {
			t.Errorf("%s: %d are held by %v", name, c.l.Now(), c.l.ByClient)
		}
	}
}

// TestSlowUpload_Aborted sends data that keeps arriving, but too slowly.
func TestSlowUpload_Aborted(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Server.Grace = 500 * time.Millisecond
	srv := httptest.NewServer(in.Server.Handler())
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	servertest.Must(t, err)
	defer conn.Close()
	fmt.Fprintf(conn,
		"POST /file/list HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n"+
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n",
		in.Tokens["owner"])
	go func() {
		for {
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond) // never idle, and never fast
		}
	}()

	answer, err := io.ReadAll(conn)
	if !strings.Contains(string(answer), "400 Bad Request") ||
		!strings.Contains(string(answer), "the upload is too slow") {
		t.Errorf("%v %.500s", err, answer)
	}

	servertest.Until(t, "its place is free", func() bool {
		return in.Server.Limits.Uploads.Now() == 0
	})
	if in.Server.Limits.Rate.Rejected.Load() != 1 {
		t.Errorf("%d transfers were counted as too slow", in.Server.Limits.Rate.Rejected.Load())
	}
}
