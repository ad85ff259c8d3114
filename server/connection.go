package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"reeve/store/errs"
)

// Connections are accepted while descriptors are left for everything else, and one
// address holds at most half of them: a browser opens 6, so that still is an office
// behind one address, and nobody can take the server from everybody else alone.
const (
	reservedFiles  = 128     // descriptors for databases, journals, backups and rejected connections
	mostConns      = 8 << 10 // however many descriptors there are: each takes up to 16 KiB of memory
	leastConns     = 16
	maxLingering   = 32 // rejected connections that are told why
	lingerTime     = time.Second
	unknownFiles   = 1 << 10 // descriptors where the system does not tell
	connectionText = "too many connections"
)

// maxConnections is how many connections are accepted when so many are wanted, or 0
// for as many as the descriptors allow.
func maxConnections(wanted int) (int, error) {
	files, known := descriptors()
	if !known {
		files = unknownFiles
	}
	free := max(leastConns, min(files-reservedFiles, mostConns))
	switch {
	case wanted == 0:
		return free, nil
	case known && wanted > files-reservedFiles:
		return 0, fmt.Errorf("server.max_connections is %d, but the limit of %d open files leaves %d: raise that limit (ulimit -n, LimitNOFILE=) or lower the key", wanted, files, files-reservedFiles)
	}
	return wanted, nil
}

// gate admits connections.
type gate struct {
	limit     *limit
	exempt    []netip.Prefix // proxies: all their clients have one address
	plain     bool           // HTTP is spoken without TLS, so a rejection can be told
	lingering chan struct{}
	answers   map[errs.Kind][]byte // to what is rejected
}

func newGate(l *limit, exempt []netip.Prefix, plain bool) *gate {
	g := &gate{limit: l, exempt: exempt, plain: plain, lingering: make(chan struct{}, maxLingering), answers: map[errs.Kind][]byte{}}
	for kind, st := range map[errs.Kind]string{errs.TooMany: " from your address", errs.Busy: ""} {
		e := errs.New(kind, "%s%s; try again in a moment", connectionText, st)
		body, err := json.Marshal(failure{Msg: e.Msg, ShowType: status[kind].show, ErrorCode: e.Code})
		if err != nil {
			panic(err) // strings and numbers can always be encoded
		}
		code := status[kind].code
		answer := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nRetry-After: 1\r\nConnection: close\r\nCache-Control: no-store\r\n",
			code, http.StatusText(code), len(body))
		for name, value := range map[string][]string{"Content-Security-Policy": noContent, "Referrer-Policy": noReferrer,
			"Cross-Origin-Resource-Policy": sameOrigin, "Cross-Origin-Opener-Policy": sameOrigin, "X-Content-Type-Options": noSniff} {
			answer += name + ": " + value[0] + "\r\n"
		}
		g.answers[kind] = append([]byte(answer+"\r\n"), body...)
	}
	return g
}

// admit lets a connection in, until leave, or returns why not.
func (g *gate) admit(conn net.Conn) (leave func(), err error) {
	var shares []share
	if peer, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		addr := peer.Addr().Unmap()
		if !slices.ContainsFunc(g.exempt, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			shares = append(shares, share{clientKey(addr), g.limit.total / 2})
		}
	}
	if err := g.limit.take(1, shares...); err != nil {
		return nil, err
	}
	return func() { g.limit.give(1, shares...) }, nil
}

// reject ends a connection, and tells its client why unless too many are told
// already.
func (g *gate) reject(conn net.Conn, reason error) {
	if g.plain {
		select {
		case g.lingering <- struct{}{}:
			go func() {
				defer func() { <-g.lingering }()
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(lingerTime)) // fails only on a closed connection
				// Many clients take an answer that precedes their request for a fault.
				conn.Read(make([]byte, 1))
				conn.SetDeadline(time.Now().Add(lingerTime))
				conn.Write(g.answers[errs.Of(reason).Kind])
				if half, ok := conn.(interface{ CloseWrite() error }); ok {
					half.CloseWrite()
				}
				// Closing with bytes unread would reset the connection and lose the answer.
				io.Copy(io.Discard, io.LimitReader(conn, maxHeaderBytes))
			}()
			return
		default:
		}
	}
	conn.Close()
}
