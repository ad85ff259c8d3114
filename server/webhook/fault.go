package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"reeve/server/outgoing"
	"reeve/store/errs"
)

// faultOf returns why no response was received, in fixed words: texts of net/http may
// contain the URL, and those of a connection what the receiver sent.
func (c *Client) faultOf(ctx context.Context, err error, host string) errs.Message {
	var (
		refused   *outgoing.RefusedError
		name      *net.DNSError
		operation *net.OpError
		network   net.Error
	)
	dialing := errors.As(err, &operation) && operation.Op == "dial"
	switch {
	case errors.As(err, &refused):
		return refused.Message(host)
	case errors.Is(ctx.Err(), context.Canceled):
		return errs.Say("the server is shutting down")
	case errors.As(err, &name):
		return errs.Say("the host %s can't be resolved; check its name", host)
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return c.timeout(err, dialing, host)
	case dialing:
		return connectFault(operation, host)
	}

	if fault := tlsFault(err, host); !fault.Empty() {
		return fault
	}

	return responseFault(err)
}

// timeout tells which of the limits was reached.
func (c *Client) timeout(err error, dialing bool, host string) errs.Message {
	seconds := func(d time.Duration) int { return int(d / time.Second) }
	switch {
	case dialing || strings.Contains(err.Error(), "TLS handshake"):
		return errs.Say("connecting to %s timed out after %d s", host, seconds(c.limits.connect))
	case strings.Contains(err.Error(), "awaiting response headers"):
		return errs.Say("no response within %d s", seconds(c.limits.header))
	}
	return errs.Say("timed out after %d s", seconds(c.limits.total))
}

// connectFault is about a connection that was not made.
func connectFault(operation *net.OpError, host string) errs.Message {
	at := host
	if operation.Addr != nil {
		at = operation.Addr.String()
	}
	var number syscall.Errno
	switch {
	case errors.Is(operation, syscall.ECONNREFUSED):
		return errs.Say("the connection to %s was refused", at)
	case errors.As(operation, &number):
		return errs.Say("can't connect to %s: %s", at, number.Error())
	}
	return errs.Say("can't connect to %s", at)
}

// tlsFault is about a TLS handshake that failed; empty for another error.
func tlsFault(err error, host string) errs.Message {
	var (
		wrongHost x509.HostnameError
		unknown   x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		untrusted *tls.CertificateVerificationError
		notTLS    tls.RecordHeaderError
	)
	reason := errs.Say("it can't be verified")
	switch {
	case errors.As(err, &wrongHost):
		reason = errs.Say("it is not for %s", host)
	case errors.As(err, &unknown):
		reason = errs.Say("its issuer is not trusted")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		reason = errs.Say("it has expired or is not valid yet")
	case errors.As(err, &untrusted):
	case errors.As(err, &notTLS), strings.Contains(err.Error(),
		"server gave HTTP response to HTTPS client"):
		return errs.Say("the receiver does not use TLS on this port; check the scheme and the port of the URL")
	case strings.Contains(err.Error(), "tls: "):
		return errs.Say("the TLS handshake failed; the receiver must support TLS 1.2 or newer")
	default:
		return errs.Message{}
	}

	return errs.Say("the TLS certificate is not valid: %s", reason)
}

// responseFault is about a response that could not be read. net/http has no types for
// these errors.
func responseFault(err error) errs.Message {
	text := err.Error()
	contains := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	switch {
	case contains("response headers exceeded", "header list larger"):
		return errs.Say("the header of the response is larger than %d KiB", maxHeader>>10)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err,
		syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed), contains("server closed", "connection lost", "GOAWAY",
			"stream error"):
		return errs.Say("the receiver closed the connection before it answered")
	case contains("malformed", "invalid", "bad ", "too many transfer encodings", "unsupported",
		"PROTOCOL_ERROR", "COMPRESSION_ERROR", "unexpected"):
		return errs.Say("the response is not valid HTTP")
	}

	return errs.Say("the connection failed before the response was complete")
}
