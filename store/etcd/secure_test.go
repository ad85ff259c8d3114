package etcd_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	path        string // its certificate in PEM
}

func newAuthority(t testing.TB, dir string) *authority {
	t.Helper()
	a := &authority{path: filepath.Join(dir, "ca.pem")}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "Test CA"},
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	a.key = newKey(t)
	text, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	must(t, err)
	a.certificate, err = x509.ParseCertificate(text)
	must(t, err)
	writePEM(t, a.path, "CERTIFICATE", text)
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return key
}

// issue writes a certificate for 127.0.0.1 and its key to files.
func (a *authority) issue(t testing.TB, cert, key string) {
	t.Helper()
	private := newKey(t)
	text, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "reeve"},
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.certificate, &private.PublicKey, a.key)
	must(t, err)
	writePEM(t, cert, "CERTIFICATE", text)
	text, err = x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	writePEM(t, key, "PRIVATE KEY", text)
}

func writePEM(t testing.TB, path, kind string, text []byte) {
	t.Helper()
	must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text}), 0o600))
}

func TestOpen_Certificates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.Mkdir(file("other"), 0o700))
	ca, other := newAuthority(t, dir), newAuthority(t, file("other"))
	ca.issue(t, file("server.pem"), file("server.key"))
	ca.issue(t, file("client.pem"), file("client.key"))
	other.issue(t, file("other.pem"), file("other.key"))
	server := etcdtest.Start(t, "--cert-file="+file("server.pem"), "--key-file="+file("server.key"),
		"--client-cert-auth", "--trusted-ca-file="+ca.path)

	o := etcdtest.Options(server)
	o.CA, o.Cert, o.Key = ca.path, file("client.pem"), file("client.key")
	n := begin(t, o)
	n.addMany(t, 3, 100)
	follower := join(t, o).start(t)
	n.addMany(t, 3, 100)
	follower.await(t, 6)
	if m := n.log.Members(t.Context())[0]; m.Err != nil || !m.Leader || m.Version == "" {
		t.Errorf("the member has %+v", m)
	}

	for name, change := range map[string]func(o *etcd.Options){
		"no CA":          func(o *etcd.Options) { o.CA = "" },
		"another CA":     func(o *etcd.Options) { o.CA = other.path },
		"no certificate": func(o *etcd.Options) { o.Cert, o.Key = "", "" },
		"another's":      func(o *etcd.Options) { o.Cert, o.Key = file("other.pem"), file("other.key") },
		"an endpoint's name": func(o *etcd.Options) {
			o.Endpoints = []string{strings.Replace(server.URL, "127.0.0.1", "localhost", 1)}
		},
	} {
		bad := o
		change(&bad)
		_, err := etcdtest.Open(t, bad).Beat(t.Context())
		// A server that does not accept a certificate may close the connection before it says so.
		if !errors.Is(err, etcd.ErrUnreachable) || bad.Cert == o.Cert && !strings.Contains(err.Error(), "x509") {
			t.Errorf("%s: %v", name, err)
		}
	}

	// The client's certificate is replaced while the program runs.
	other.issue(t, o.Cert, o.Key)
	server.Kill()
	server.Restart(t)
	server.Await(t)
	for err := error(nil); !errors.Is(err, etcd.ErrUnreachable); _, err = n.log.Beat(t.Context()) {
		if err != nil && !errors.Is(err, etcd.ErrTimeout) { // while it connects
			t.Fatalf("with the certificate of another CA: %v", err)
		}
	}
	ca.issue(t, o.Cert, o.Key)
	_, err := n.add(t.Context(), entry(10))
	must(t, err)
	follower.await(t, 7)
}

func TestOpen_UserAndPassword(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	server.NeedUser(t, "reeve", "guest")

	o := etcdtest.Options(server)
	o.User, o.Password = "reeve", "password of reeve"
	n := begin(t, o)
	follower := join(t, o).start(t)
	n.addMany(t, 20, 100)
	follower.await(t, 20)
	everything(t, n)

	// Tokens end with the process that gave them.
	server.Kill()
	server.Restart(t)
	server.Await(t)
	n.addMany(t, 5, 100)
	follower.await(t, 25)
	everything(t, n)

	for name, c := range map[string]struct {
		change func(o *etcd.Options)
		want   error
	}{
		"wrong password": {func(o *etcd.Options) { o.Password = "wrong-secret" }, etcd.ErrSignIn},
		"unknown user":   {func(o *etcd.Options) { o.User = "nobody" }, etcd.ErrSignIn},
		"no user":        {func(o *etcd.Options) { o.User, o.Password = "", "" }, etcd.ErrSignIn},
		"another prefix": {func(o *etcd.Options) { o.Prefix = "reeve-2" }, etcd.ErrPermission},
		"only reading":   {func(o *etcd.Options) { o.User, o.Password = "guest", "password of guest" }, etcd.ErrPermission},
	} {
		bad := o
		c.change(&bad)
		l, err := etcd.Open(bad)
		if err == nil {
			var r etcd.Result
			r, err = l.Append(t.Context(), n.head, entry(10))
			if r.Outcome != etcd.Refused {
				t.Errorf("%s: %v", name, r.Outcome)
			}
			must(t, l.Close())
		}
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), bad.Password) && bad.Password != "" {
			t.Errorf("%s: %v", name, err)
		}
	}

	// A user who can't sign in yet does so later.
	server.Kill()
	l, err := etcd.Open(o)
	must(t, err)
	defer l.Close()
	if _, err := l.Head(t.Context()); !errors.Is(err, etcd.ErrUnreachable) {
		t.Errorf("signing in at no etcd: %v", err)
	}
	if m := l.Members(t.Context()); len(m) != 1 || !errors.Is(m[0].Err, etcd.ErrUnreachable) {
		t.Errorf("%+v", m)
	}
	wrong := o
	wrong.Password = "wrong-secret"
	stranger, err := etcd.Open(wrong)
	must(t, err)
	defer stranger.Close()
	late := &node{log: etcdtest.Open(t, o), head: n.head}
	server.Restart(t)
	server.Await(t)
	following := late.start(t)
	n.addMany(t, 5, 100)
	following.await(t, n.head.Number) // a watch is no request of the same kind
	head, err := l.Head(t.Context())
	if err != nil || head != n.head {
		t.Errorf("%v, %v", head, err)
	}
	if _, err := stranger.Head(t.Context()); !errors.Is(err, etcd.ErrSignIn) {
		t.Errorf("a wrong password: %v", err)
	}
}

// everything calls what a user of etcd may be forbidden.
func everything(t testing.TB, n *node) {
	_, err := n.log.Join(t.Context(), etcd.Node{Name: "a"})
	must(t, err)
	must(t, n.log.Renew(t.Context()))
	_, err = n.log.TakeDuty(t.Context())
	must(t, err)
	must(t, n.log.SetTurn(t.Context(), 1))
	_, err = n.log.Beat(t.Context())
	must(t, err)
	setBase(t, n, "copy", n.head.Number-1)
	setBase(t, n, "copy", n.head.Number)
	wants(t, n.log.Trim(t.Context()), etcd.ErrNoCompaction)
	for _, m := range n.log.Members(t.Context()) {
		must(t, m.Err)
	}
	must(t, n.log.Leave(t.Context()))
}

func TestOpen_Faults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newAuthority(t, dir).issue(t, filepath.Join(dir, "a.pem"), filepath.Join(dir, "a.key"))
	must(t, os.WriteFile(filepath.Join(dir, "empty.pem"), nil, 0o600))
	for want, o := range map[string]etcd.Options{
		"there must be an endpoint": {},
		"an endpoint must be a URL": {Endpoints: []string{"etcd-1:2379"}},
		"like https://":             {Endpoints: []string{"https://etcd-1"}},
		"all endpoints":             {Endpoints: []string{"https://etcd-1:2379", "http://etcd-2:2379"}},
		"certificates need":         {Endpoints: []string{"http://etcd-1:2379"}, CA: filepath.Join(dir, "ca.pem")},
		"needs its key":             {Endpoints: []string{"https://etcd-1:2379"}, Cert: filepath.Join(dir, "a.pem")},
		"no such file":              {Endpoints: []string{"https://etcd-1:2379"}, CA: filepath.Join(dir, "missing.pem")},
		"no PEM":                    {Endpoints: []string{"https://etcd-1:2379"}, CA: filepath.Join(dir, "empty.pem")},
		"no slashes":                {Endpoints: []string{"http://etcd-1:2379"}, Prefix: "/reeve/log/"},
		"a password needs":          {Endpoints: []string{"https://etcd-1:2379"}, Password: "secret"},
		"tls: failed to find any PEM": {Endpoints: []string{"https://etcd-1:2379"}, Cert: filepath.Join(dir, "empty.pem"),
			Key: filepath.Join(dir, "a.key")},
	} {
		l, err := etcd.Open(o)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want: %s", err, want)
		}
	}
}
