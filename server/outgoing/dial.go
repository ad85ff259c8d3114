package outgoing

import (
	"context"
	"net"
	"net/netip"
	"syscall"

	"reeve/store/errs"
)

// Dial connects to an address, like net.Dialer.DialContext.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// RefusedError reports a destination that may not be connected to.
type RefusedError struct {
	Addr  netip.Addr
	Plain bool   // whether only plain http is refused
	Key   string // key of the configuration that could allow it
}

func (e *RefusedError) Error() string { return e.Addr.String() + " is not allowed" }

// Message returns the error for a connection to a host.
func (e *RefusedError) Message(host string) errs.Message {
	if e.Plain {
		return errs.Say("plain http is not allowed; use https, or name %s in %s", host, e.Key)
	}
	return errs.Say("the address %s is not allowed; to allow it, name it in %s", e.Addr, e.Key)
}

// Dialer returns a function that connects to allowed destinations, by plain http or by TLS. An
// address is checked after the name is resolved and before the connection is made, so that a name
// can't resolve to another address in between.
func (a Allow) Dialer(dialer net.Dialer, plain bool) Dial {
	anywhere := dialer
	dialer.Control = func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return a.Check(at.Addr(), plain)
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if a.hasHost(host) {
			return anywhere.DialContext(ctx, network, address)
		}
		return dialer.DialContext(ctx, network, address)
	}
}

// Check returns an error if an address may not be connected to, by plain http or at all.
func (a Allow) Check(addr netip.Addr, plain bool) error {
	public := isPublic(addr)
	if a.has(addr) || public && !plain {
		return nil
	}
	return &RefusedError{Addr: addr.Unmap(), Plain: public, Key: a.key}
}
