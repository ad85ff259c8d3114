package redis

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"
)

// fakeRedis takes connections and lets each be served as the test says, until the
// test ends.
func fakeRedis(t *testing.T, serve func(c net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	serveRedis(t, l, serve)
	return l.Addr().String()
}

func serveRedis(t *testing.T, l net.Listener, serve func(c net.Conn)) {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		must(t, l.Close())
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { c.Close() })
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
}

// answers serves one answer for each command, in turn.
func answers(all ...string) func(net.Conn) {
	return func(c net.Conn) {
		in := make([]byte, 4096)
		for _, a := range all {
			if _, err := c.Read(in); err != nil { // one write of the client is one command
				return
			}
			for i := range a {
				if _, err := io.WriteString(c, a[i:i+1]); err != nil { // in the smallest pieces
					return
				}
			}
		}
		io.Copy(io.Discard, c)
	}
}

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }
