package redis

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
)

// fakeRedis accepts connections and serves each with serve, until the test ends.
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

// answers sends one reply for each command, in order.
func answers(all ...string) func(net.Conn) {
	return func(c net.Conn) {
		in := make([]byte, 4096)
		for _, a := range all {
			if _, err := c.Read(in); err != nil { // each write of the client is one command
				return
			}
			for i := range a {
				if _, err := io.WriteString(c, a[i:i+1]); err != nil { // byte by byte
					return
				}
			}
		}
		io.Copy(io.Discard, c)
	}
}

// inTurn serves each connection with the next function.
func inTurn(all ...func(net.Conn)) func(net.Conn) {
	var next atomic.Int32
	return func(c net.Conn) { all[next.Add(1)-1](c) }
}

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }
