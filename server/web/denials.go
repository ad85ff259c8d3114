package web

import (
	"net/http"
	"sync"

	"reeve/store"
)

// Denial identifies what is counted together: refused requests of one user, or failed sign-ins from
// one network, for one operation.
type Denial struct {
	User    store.Account
	As      store.ID        // impersonated user; 0 if none
	Key     *store.KeyLimit // nil for none; the same for all requests of an API key until it changes
	Network string
	Route   *Route
}

const MaxDenials = 50 // entries of one minute; further users and networks are counted together

// denials counts refused requests and failed sign-ins of known users, for one entry a minute each.
type denials struct {
	mu     sync.Mutex
	counts map[Denial]int
	others int // beyond MaxDenials
}

func (d *denials) Add(of Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts == nil {
		d.counts = map[Denial]int{}
	}
	if _, known := d.counts[of]; !known && len(d.counts) == MaxDenials {
		d.others++
		return
	}
	d.counts[of]++
}

func (d *denials) Take() (counts map[Denial]int, others int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts, others = d.counts, d.others
	d.counts, d.others = nil, 0
	return counts, others
}

// countDenial counts a request that was refused for lack of a permission.
func (s *Server) countDenial(req *Request) {
	if req.Writer.status == http.StatusForbidden && req.Actor.ID != 0 && req.Route != nil {
		d := Denial{
			User:  store.Account{App: req.Actor.App, ID: req.Actor.Person().ID},
			Key:   req.Actor.Key,
			Route: req.Route,
		}
		if req.Actor.By != nil {
			d.As = req.Actor.ID
		}
		s.Denials.Add(d)
	}
}

// FailedSignIn counts a failed sign-in of a known user.
func (s *Server) FailedSignIn(req *Request) func() {
	return func() {
		s.Denials.Add(Denial{Network: store.NetworkOf(req.Addr).String(), Route: req.Route})
	}
}
