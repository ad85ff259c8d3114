package listen

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"reeve/server/limit"
	"reeve/store/errs"
)

// Connections are accepted while file descriptors are left for everything else, and one
// address gets at most half of them: a browser opens 6, so half is enough for an office
// behind one address, while no single client can shut out all others.
const (
	ReservedFiles = 128     // descriptors for databases, journals, backups and rejected connections
	MostConns     = 8 << 10 // upper bound, however many descriptors there are: each connection needs up to 16 KiB of memory
	LeastConns    = 16
	maxLingering  = 32 // rejected connections that get a response
	lingerTime    = time.Second
	maxUnread     = 64 << 10 // bytes of a rejected request that are read
	unknownFiles  = 1 << 10  // descriptors if the system's limit is unknown
)

// MaxConnections returns the limit of connections: wanted, or if that is 0, as many as
// the descriptors allow.
func MaxConnections(wanted int) (int, error) {
	files, known := Descriptors()
	if !known {
		files = unknownFiles
	}
	free := max(LeastConns, min(files-ReservedFiles, MostConns))
	switch {
	case wanted == 0:
		return free, nil
	case known && wanted > files-ReservedFiles:
		return 0,
			fmt.Errorf("server.max_connections is %d, but the limit of %d open files leaves %d: raise that limit (ulimit -n, LimitNOFILE=) or lower the key", wanted, files, files-ReservedFiles)
	}
	return wanted, nil
}

// gate admits connections.
type gate struct {
	limit     *limit.Limit
	exempt    func(netip.Addr) bool
	answers   map[errs.Kind][]byte // responses to rejected connections; nil with TLS
	lingering chan struct{}
}

func newGate(l *limit.Limit, exempt func(netip.Addr) bool,
	answer func(*errs.Error) []byte) *gate {
	g := &gate{limit: l, exempt: exempt, lingering: make(chan struct{}, maxLingering)}
	if answer == nil {
		return g
	}
	g.answers = map[errs.Kind][]byte{}
	for _, e := range []*errs.Error{
		errs.New(errs.TooMany, "too many connections from your address; try again in a moment"),
		errs.New(errs.Busy, "too many connections; try again in a moment"),
	} {
		g.answers[e.Kind] = answer(e)
	}
	return g
}

// admit admits a connection until leave is called, or returns the reason for rejecting
// it.
func (g *gate) admit(conn net.Conn) (leave func(), err error) {
	var shares []limit.Share
	if peer, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		addr := peer.Addr().Unmap()
		if !g.exempt(addr) {
			shares = append(shares, limit.Share{Client: limit.ClientKey(addr), Most: g.limit.Total / 2})
		}
	}
	if err := g.limit.Acquire(1, shares...); err != nil {
		return nil, err
	}
	return func() { g.limit.Release(1, shares...) }, nil
}

// reject closes a connection. It sends the reason first, unless too many rejected
// connections are being answered already.
func (g *gate) reject(conn net.Conn, reason error) {
	if g.answers != nil {
		select {
		case g.lingering <- struct{}{}:
			go func() {
				defer func() { <-g.lingering }()
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(lingerTime)) // fails only on a closed connection
				// Many clients treat a response that precedes their request as an
				// error.
				conn.Read(make([]byte, 1))
				conn.SetDeadline(time.Now().Add(lingerTime))
				conn.Write(g.answers[errs.Of(reason).Kind])
				if half, ok := conn.(interface{ CloseWrite() error }); ok {
					half.CloseWrite()
				}
				// Closing with unread bytes would reset the connection and lose the
				// response.
				io.Copy(io.Discard, io.LimitReader(conn, maxUnread))
			}()
			return
		default:
		}
	}
	conn.Close()
}
