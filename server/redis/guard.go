package redis

import (
	"errors"
	"net"
	"strconv"
)

// Limits of what one poll may read. The client library allocates memory for announced
// lengths before the data has arrived, so announced lengths count too.
const (
	maxBytes    = 4 << 20
	maxElements = 16 << 10 // array elements; 128 slow commands have at most 5,000
)

var (
	errRedisTooMuch  = errors.New("its reply is too large")
	errRedisProtocol = errors.New("its reply is not valid Redis protocol")
)

// guard is a connection that fails when a server sends or announces more than a poll
// may read. It parses the protocol just enough to find lengths.
type guard struct {
	net.Conn
	bytes, elements int    // remaining budget of this poll
	content         int    // remaining bytes of a bulk string
	line            []byte // start of the line being read
}

// maxHead is the maximum length of a line with a length.
const maxHead = 16

func newGuard(conn net.Conn) *guard {
	g := &guard{Conn: conn, line: make([]byte, 0, maxHead)}
	g.refill()
	return g
}

// refill resets the limits for the next poll.
func (g *guard) refill() { g.bytes, g.elements = maxBytes, maxElements }

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if g.bytes -= n; g.bytes < 0 {
		return 0, errRedisTooMuch
	}
	if wrong := g.follow(p[:n]); wrong != nil {
		return 0, wrong
	}
	return n, err
}

func (g *guard) follow(p []byte) error {
	for len(p) > 0 {
		if g.content > 0 {
			n := min(g.content, len(p))
			g.content, p = g.content-n, p[n:]
			continue
		}
		b := p[0]
		p = p[1:]
		if b != '\n' {
			if len(g.line) < maxHead {
				g.line = append(g.line, b)
			}
			continue
		}
		if err := g.head(); err != nil {
			return err
		}
		g.line = g.line[:0]
	}
	return nil
}

// head checks a whole line, which announces a length if it begins with * or $.
func (g *guard) head() error {
	if len(g.line) == 0 || g.line[0] != '*' && g.line[0] != '$' {
		return nil
	}
	if len(g.line) == maxHead || g.line[len(g.line)-1] != '\r' {
		return errRedisProtocol
	}
	n, err := strconv.Atoi(string(g.line[1 : len(g.line)-1]))
	switch {
	case err != nil || n < -1:
		return errRedisProtocol
	case n == -1: // null
	case g.line[0] == '*':
		if g.elements -= n; g.elements < 0 {
			return errRedisTooMuch
		}
	case n > maxBytes:
		return errRedisTooMuch
	default:
		g.content = n
	}
	return nil
}
