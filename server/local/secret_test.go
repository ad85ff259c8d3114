package local_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/local"
)

// serve listens in a directory and answers each request with its caller.
func serve(t *testing.T, l net.Listener) {
	srv := &http.Server{
		ConnContext: local.ConnContext,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "caller "+local.Caller(r))
		}),
	}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
}

// ask returns the answer to a request.
func ask(t *testing.T, dial func(context.Context) (net.Conn, error)) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}
	resp, err := client.Get("http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSecret_SilentClientsKeepNobodyWaiting has more clients that say nothing than the server keeps, and some
// that do not know the secret.
func TestSecret_SilentClientsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := local.ListenSecret(dir)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	text, err := os.ReadFile(filepath.Join(dir, local.Name))
	if err != nil {
		t.Fatal(err)
	}
	addr, secret, _ := strings.Cut(string(text), " ")
	var silent []net.Conn
	connect := func() net.Conn {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	for range local.MaxSilent + 10 {
		silent = append(silent, connect())
	}
	for range 3 {
		got := ask(t, func(ctx context.Context) (net.Conn, error) { return local.DialSecret(ctx, dir) })
		if got != "caller "+local.Self() {
			t.Errorf("got %q", got)
		}
	}

	closed := func(what string, conn net.Conn, sends []byte) {
		t.Helper()
		conn.Write(sends) // it may be closed already
		got, err := io.ReadAll(conn)
		if len(got) > 0 {
			t.Errorf("%s: got %q, %v", what, got, err)
		}
	}
	request := []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	closed("the oldest", silent[0], append([]byte(secret), request...))
	closed("another secret", connect(), append(bytes.Repeat([]byte("A"), len(secret)), request...))
	closed("no secret", connect(), request)
}

func TestSecret_ClosedIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := local.ListenSecret(dir)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := local.DialSecret(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	if _, err := local.DialSecret(t.Context(), dir); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
