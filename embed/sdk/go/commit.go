package reeve

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Reeve can run as several nodes, and each request of a program may come to another one. The response to
// a write has the position of the write, and a request that sends it reads what was written, at any node.

const commitHeader = "Reeve-Commit"

// commits is the last position that a client and those of Client.As have received.
type commits struct {
	mu     sync.Mutex
	epoch  string
	number uint64
}

// add adds the position to a request, if there is one.
func (c *commits) add(h http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != "" {
		h.Set(commitHeader, c.epoch+"-"+strconv.FormatUint(c.number, 10))
	}
}

// note keeps the position of a response or an event; "" for none. That of another epoch replaces the one before.
func (c *commits) note(position string) {
	epoch, digits, ok := strings.Cut(position, "-")
	number, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || epoch == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch || number > c.number {
		c.epoch, c.number = epoch, number
	}
}
