package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/gomodule/redigo/redis"
)

// Errors of a server that answers.
var (
	errRedisLogin    = errors.New("wrong username or password")
	errRedisDatabase = errors.New("it refuses the database")
)

// dial connects and signs in. The connection is closed when ctx ends.
func (w *watcher) dial(ctx context.Context) error {
	dialing, cancel := context.WithTimeout(ctx, w.connect)
	defer cancel()
	bare, err := new(net.Dialer).DialContext(dialing, "tcp", w.target.addr)
	if err != nil {
		return err
	}
	conn := bare
	if w.target.tls {
		secure := tls.Client(bare, &tls.Config{ServerName: w.target.host, MinVersion: tls.VersionTLS12, RootCAs: w.roots})
		if err := secure.HandshakeContext(dialing); err != nil {
			return errors.Join(err, bare.Close())
		}
		conn = secure
	}
	w.guard = newGuard(conn)
	w.conn = redis.NewConn(w.guard, w.read, w.read)
	// The client library waits without a context, so the connection is closed when the
	// context ends. Nothing is lost: only reads are pending.
	w.stopClosing = context.AfterFunc(ctx, func() { bare.Close() })
	return w.signIn()
}

func (w *watcher) signIn() error {
	if w.target.password != "" {
		args := []any{w.target.password}
		if w.target.username != "" {
			args = []any{w.target.username, w.target.password}
		}
		if _, err := w.conn.Do("AUTH", args...); err != nil {
			return refusedAs(err, errRedisLogin)
		}
	}
	if w.target.db != 0 {
		if _, err := w.conn.Do("SELECT", w.target.db); err != nil {
			return refusedAs(err, errRedisDatabase)
		}
	}
	return nil
}

// refusedAs returns reason for an error reply of the server, unless the reply itself is
// more specific.
func refusedAs(err, reason error) error {
	if refusalOf(err) == refusedText {
		return reason
	}
	return err
}

// disconnect closes the connection, if there is one.
func (w *watcher) disconnect() {
	if w.conn != nil {
		w.stopClosing()
		w.conn.Close() // it may be closed already, and nothing is being written
		w.conn, w.guard = nil, nil
	}
}

func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// reasonOf returns the reason why a poll failed, in fixed words. The text of an error
// may quote the server, which may repeat the password that it was sent.
func reasonOf(err error) string {
	var (
		network   net.Error
		name      *net.DNSError
		operation *net.OpError
		untrusted *tls.CertificateVerificationError
		plain     tls.RecordHeaderError
	)
	for _, known := range []error{errRedisTooMuch, errRedisProtocol, errRedisLogin, errRedisDatabase} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	switch refusal := refusalOf(err); {
	case refusal != "":
		return refusal
	case errors.As(err, &untrusted):
		return "its certificate is not trusted"
	case errors.As(err, &plain):
		return "it does not speak TLS"
	case errors.As(err, &network) && network.Timeout() || errors.Is(err, context.DeadlineExceeded):
		return "it does not answer in time"
	case errors.As(err, &name):
		return "its name is not known"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses the connection"
	case closedByPeer(err) || errors.Is(err, io.ErrUnexpectedEOF):
		return "it closes the connection"
	case errors.As(err, &operation):
		return "it cannot be reached"
	}
	return errRedisProtocol.Error() // a protocol error
}

const refusedText = "it answers with an error"

// refusalOf returns the meaning of the server's error reply; "" for another error.
func refusalOf(err error) string {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return ""
	}
	for prefix, meaning := range map[string]string{
		"NOAUTH": "it wants a password", "WRONGPASS": errRedisLogin.Error(), "NOPERM": "the user may not use INFO",
		"LOADING": "it is still loading its data", "DENIED": "its protected mode keeps others out",
		"ERR max number of clients": "it has too many clients",
	} {
		if strings.HasPrefix(string(answer), prefix) {
			return meaning
		}
	}
	return refusedText
}
