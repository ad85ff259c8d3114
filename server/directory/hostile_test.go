package directory_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"

	"reeve/server/directory"
	"reeve/server/outgoing"
	"reeve/store"
	"reeve/store/errs"
)

// hostile is a server that answers each connection with do, and returns its URL.
func hostile(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				do(c)
			}()
		}
	}()
	return "ldap://" + l.Addr().String()
}

// answer returns a message that answers the request with an ID.
func answer(id int64, application ber.Tag, children ...*ber.Packet) []byte {
	m := ber.NewSequence("")
	m.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, id, ""))
	body := ber.Encode(ber.ClassApplication, ber.TypeConstructed, application, nil, "")
	for _, child := range children {
		body.AppendChild(child)
	}
	m.AppendChild(body)
	return m.Bytes()
}

func text(s string) *ber.Packet {
	return ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, s, "")
}

func code(n int64) *ber.Packet {
	return ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagEnumerated, n, "")
}

// bound reads the bind of the account that searches, accepts it, and reads the search.
func bound(c net.Conn) {
	_, _ = ber.ReadPacket(c) // an error is one of the write, too
	_, _ = c.Write(answer(1, ldap.ApplicationBindResponse, code(0), text(""), text("")))
	_, _ = ber.ReadPacket(c)
}

func TestHostile_Servers(t *testing.T) {
	t.Parallel()
	entry := answer(2, ldap.ApplicationSearchResultEntry, text("uid=ann"), ber.NewSequence(""))
	for name, row := range map[string]struct {
		do   func(net.Conn)
		tls  bool
		code string
	}{
		"silent":       {do: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, code: "provider_slow"},
		"silent, TLS":  {do: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, tls: true, code: "provider_slow"},
		"silent later": {do: func(c net.Conn) { bound(c); _, _ = io.Copy(io.Discard, c) }, code: "provider_slow"},
		"closes":       {do: func(net.Conn) {}, code: "provider_unreachable"},
		"closes later": {do: bound, code: "provider_unreachable"},
		"HTTP":         {do: func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, code: "provider_unreachable"},
		"no StartTLS": {tls: true, do: func(c net.Conn) {
			_, _ = ber.ReadPacket(c)
			_, _ = c.Write(answer(1, ldap.ApplicationExtendedResponse, code(2), text(""), text("")))
		}, code: "directory_tls"},
		"huge length": {do: func(c net.Conn) { _, _ = c.Write([]byte{0x30, 0x84, 0x7f, 0xff, 0xff, 0xff, 0x02}) }, code: "provider_unreachable"},
		"nested":      {do: func(c net.Conn) { _, _ = c.Write(bytes.Repeat([]byte{0x30, 0x80}, 1_000_000)) }, code: "provider_unreachable"},
		"endless entries": {do: func(c net.Conn) {
			bound(c)
			for {
				if _, err := c.Write(bytes.Repeat(entry, 1000)); err != nil {
					return
				}
			}
		}, code: "provider_unreachable"},
		"endless text": {do: func(c net.Conn) {
			bound(c)
			_, _ = c.Write([]byte{0x04, 0x84, 0x7f, 0xff, 0xff, 0xff})
			for {
				if _, err := c.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, code: "provider_unreachable"},
		"referral": {do: func(c net.Conn) {
			bound(c)
			_, _ = c.Write(answer(2, ldap.ApplicationSearchResultDone, code(10), text(""), text("ldap://evil.example")))
			_, _ = io.Copy(io.Discard, c)
		}, code: "directory_code"},
		"another request": {do: func(c net.Conn) {
			bound(c)
			_, _ = c.Write(answer(99, ldap.ApplicationSearchResultDone, code(0), text(""), text("")))
			_, _ = io.Copy(io.Discard, c)
		}, code: "provider_slow"},
	} {
		t.Run(name, func(t *testing.T) {
			d := store.ProposedDirectory(store.KindLDAP)
			d.Servers, d.BindDN, d.BaseDN = []string{hostile(t, row.do)}, "cn=reader", "dc=example"
			d.Plain = store.Flag(!row.tls)
			limit := time.Minute
			if row.code == "provider_slow" {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, _, err := newClient(t).SignIn(ctx, &directory.Config{Directory: &d, Secret: "secret of the reader"}, "ann", "password of ann")
			if e := errs.Of(err); err == nil || e.Code != row.code {
				t.Errorf("%v", err)
			}
			if err != nil && (strings.Contains(err.Error(), "reader") || strings.Contains(err.Error(), "password of")) {
				t.Errorf("the error has a secret: %v", err)
			}
		})
	}
}

// What a directory sends is not kept without a bound.
func TestHostile_BoundedMemory(t *testing.T) {
	entry := answer(2, ldap.ApplicationSearchResultEntry, text("uid="+strings.Repeat("a", 10_000)), ber.NewSequence(""))
	var sent atomic.Int64
	d := store.ProposedDirectory(store.KindLDAP)
	d.Servers = []string{hostile(t, func(c net.Conn) {
		bound(c)
		for {
			n, err := c.Write(entry)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})}
	d.BindDN, d.BaseDN, d.Plain = "cn=reader", "dc=example", true
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := newClient(t).SignIn(t.Context(), &directory.Config{Directory: &d, Secret: "secret"}, "ann", "password")
	runtime.ReadMemStats(&after)
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || grown > 100 {
		t.Errorf("%v: %d MiB were allocated for %d KiB", err, grown, sent.Load()>>10)
	}
}

// Servers that the configuration does not name are not connected to.
func TestHostile_PrivateAddress(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	url := hostile(t, func(net.Conn) { reached <- struct{}{} })
	for name, c := range map[string]struct {
		allow, server string
		plain         store.Flag
	}{
		"loopback":      {"", url, false},
		"other name":    {"", strings.Replace(url, "127.0.0.1", "localhost", 1), false},
		"other address": {"10.0.0.1", url, true},
		"TLS":           {"", strings.Replace(url, "ldap:", "ldaps:", 1), false},
	} {
		var entries []string
		if c.allow != "" {
			entries = append(entries, c.allow)
		}
		allow, err := outgoing.ParseAllow("providers.allow", entries)
		if err != nil {
			t.Fatal(err)
		}
		d := store.ProposedDirectory(store.KindLDAP)
		d.Servers, d.BaseDN, d.Plain = []string{c.server}, "dc=example", c.plain
		_, _, err = directory.NewClient(allow).SignIn(t.Context(), &directory.Config{Directory: &d}, "ann", "password")
		if !errs.Is(err, errs.Denied) {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case <-reached:
			t.Errorf("%s: the server was reached", name)
		default:
		}
	}
}
