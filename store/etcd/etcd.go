// Package etcd keeps the commits of several nodes in one order: a log of sealed entries in etcd, to
// which any node appends. It alone imports the client. The content of entries is opaque to it.
//
// Start with Log. Append adds the entry after a position, From follows the entries from a position on,
// and Beat returns the state by which a node decides whether it may serve. Correctness rests on one
// comparison: an entry is added only while the key head is as it was at the position that the entry
// follows. It never rests on a leader, a lease or a clock.
//
//	log, err := etcd.Open(etcd.Options{Endpoints: []string{"https://etcd-1:2379", …}, At: position})
//	result, err := log.Append(ctx, position, &etcd.Entry{Nonce: …, Hash: …, Sealed: …})
//
// The keys, below a prefix:
//
//	head                 epoch, number and hash of the last entry; never deleted
//	log/<epoch>/<n>      the entries
//	base                 the base copy to start from, and the number up to which entries may be deleted
//	node/<lease>         one for each node; gone when its lease ends
//	duty                 lease of the node that has the duties
//	turn                 the node that the others let append first
package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/peer"
)

// Options configure a log.
type Options struct {
	Endpoints []string // URLs of the members, all with http or all with https
	Prefix    string   // beginning of the keys, a name without slashes; "" for reeve
	CA        string   // path of PEM certificates that are trusted in place of the system's; "" for these
	Cert, Key string   // paths of a client certificate and its key, in PEM; "" for none
	User      string   // name of a user of etcd; "" for none
	Password  string
	Cluster   uint64   // ID of the etcd cluster; 0 for that of the first answer
	At        Position // position of this node, see Log.Expect; zero for none

	Turn func(Turn) // called by From with turns that are set while it waits, after the entries before them; nil for none
}

// Log is the log of a cluster of nodes. Its methods may be called at the same time.
type Log struct {
	client *clientv3.Client
	prefix string
	told   func(Turn) // see Options.Turn

	mu      sync.Mutex
	cluster uint64   // ID of the etcd cluster; 0 before the first answer
	known   Position // highest known position; zero if none
	lease   Lease    // lease of this node; 0 if it has none
	nodes   presence // nodes that have a key, or had one
}

// Times of connections and requests, and how often the client sends one.
const (
	connectTimeout = 2 * time.Second // of a connection, with TLS
	mostReconnect  = 2 * time.Second // longest wait between two attempts to connect
	pingInterval   = 10 * time.Second
	pingTimeout    = 3 * time.Second
	tries          = 3 // of a request that was not sent, or that needs a new token
	requestTimeout = 5 * time.Second
	beatTimeout    = time.Second // of Beat and of a member's state
	beatAttempt    = 350 * time.Millisecond
)

// Open returns a log. Without a user it does not connect. A user is signed in; while etcd cannot be reached,
// the first request that reaches it signs in.
func Open(o Options) (*Log, error) {
	prefix := strings.Trim(o.Prefix, "/")
	if prefix == "" {
		prefix = "reeve"
	}
	if strings.Contains(prefix, "/") {
		return nil, errors.New("the prefix must have no slashes: its keys could be among those of another one")
	}
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	user := &signIn{needed: o.User != "" && o.Password != ""}
	config.DialOptions = append(config.DialOptions, grpc.WithChainUnaryInterceptor(user.intercept))
	client, err := clientv3.New(config)
	if err != nil {
		return nil, named(err)
	}
	user.opened.Store(true)
	return &Log{client: client, prefix: prefix + "/", told: o.Turn, cluster: o.Cluster, known: o.At}, nil
}

// Close ends the connections.
func (l *Log) Close() error {
	if err := l.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Expect sets the position below which the head must not be, and with it the epoch. Otherwise, only
// answers raise it.
func (l *Log) Expect(p Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = p
}

// Cluster returns the ID of the etcd cluster; 0 before its first answer.
func (l *Log) Cluster() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cluster
}

func (l *Log) position() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known
}

func (o *Options) config() (clientv3.Config, error) {
	secure, err := o.tls()
	if err != nil {
		return clientv3.Config{}, err
	}
	if o.Password != "" && o.User == "" {
		return clientv3.Config{}, errors.New("a password needs a user")
	}
	return clientv3.Config{
		Endpoints:            o.Endpoints,
		DialTimeout:          requestTimeout,
		DialKeepAliveTime:    pingInterval,
		DialKeepAliveTimeout: pingTimeout,
		TLS:                  secure,
		Username:             o.User,
		Password:             o.Password,
		MaxUnaryRetries:      tries,
		Logger:               zap.NewNop(), // errors are returned
		DialOptions: []grpc.DialOption{
			grpc.WithNoProxy(),
			grpc.WithChainUnaryInterceptor(noteSent),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff: backoff.Config{
					BaseDelay:  100 * time.Millisecond,
					Multiplier: 1.6,
					Jitter:     0.2,
					MaxDelay:   mostReconnect,
				},
				MinConnectTimeout: connectTimeout,
			}),
		},
	}, nil
}

// tls checks the endpoints and reads the certificates. That of the client is read again for each
// connection, so that it can be replaced.
func (o *Options) tls() (*tls.Config, error) {
	secure := 0
	for _, e := range o.Endpoints {
		u, err := url.Parse(e)
		if err != nil || u.Host == "" || u.Port() == "" || u.Scheme != "http" && u.Scheme != "https" ||
			strings.Trim(u.Path, "/") != "" || u.User != nil {
			return nil, errors.New("an endpoint must be a URL like https://etcd-1.example.org:2379")
		}
		if u.Scheme == "https" {
			secure++
		}
	}
	switch {
	case len(o.Endpoints) == 0:
		return nil, errors.New("there must be an endpoint")
	case secure == 0 && (o.CA != "" || o.Cert != "" || o.Key != ""):
		return nil, errors.New("certificates need endpoints with https")
	case secure == 0:
		return nil, nil
	case secure < len(o.Endpoints):
		return nil, errors.New("all endpoints must have https, or none")
	case (o.Cert == "") != (o.Key == ""):
		return nil, errors.New("a client certificate needs its key, and the key its certificate")
	}

	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		text, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no PEM certificates", o.CA)
		}
	}
	if o.Cert != "" {
		load := func() (*tls.Certificate, error) {
			c, err := tls.LoadX509KeyPair(o.Cert, o.Key)
			return &c, err
		}
		if _, err := load(); err != nil {
			return nil, err
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return config, nil
}

// sentKey is the key of a *bool in the context of a request, which noteSent sets.
type sentKey struct{}

// noteSent notes whether a request was given to a connection: if not, it certainly had no effect. It
// does not let requests wait for a connection when there is none, so that the error says why.
func noteSent(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	options ...grpc.CallOption) error {
	var p peer.Peer
	err := invoke(ctx, method, request, reply, conn, append(options, grpc.Peer(&p), grpc.WaitForReady(false))...)
	if sent, ok := ctx.Value(sentKey{}).(*bool); ok && p.Addr != nil {
		*sent = true
	}
	return err
}
