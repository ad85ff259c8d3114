package redis

import (
	"errors"
	"net"
	"strconv"
	"strings"
)

// Limits of a poll's replies. The client library allocates memory for announced lengths
// before the data has arrived, so announced lengths count too.
const (
	maxBytes    = 4 << 20
	elementSize = 256 // bytes that an element of an array counts as; 128 slow commands have at most 5,000
)

var errTooMuch = errors.New("its reply is too large")

// limited is a connection that fails when a server sends or announces more than a poll
// may read. It follows the protocol just enough to find lengths; the library reports
// what is malformed.
type limited struct {
	net.Conn
	left    int    // bytes that may still be read
	content int    // bytes of the current text that have not arrived
	line    []byte // beginning of the current line
}

func (c *limited) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.left -= n
	for _, b := range p[:n] {
		switch {
		case c.content > 0:
			c.content--
		case b == '\n':
			c.announce(string(c.line))
			c.line = c.line[:0]
		case len(c.line) < 16:
			c.line = append(c.line, b)
		}
	}

	if c.left < 0 {
		return 0, errTooMuch
	}

	return n, err
}

// announce takes the length that a line announces from what may still be read.
func (c *limited) announce(line string) {
	kind, length := line[:min(len(line), 1)], strings.TrimSuffix(line[min(len(line), 1):], "\r")
	n, err := strconv.ParseUint(length, 10, 31)
	switch {
	case kind != "$" && kind != "*":
	case errors.Is(err, strconv.ErrRange), kind == "*" &&
		int(n) > c.left/elementSize, int(n) > c.left:
		c.left = -1
	case kind == "$":
		c.content = int(n)
	default:
		c.left -= int(n) * elementSize
	}
}
