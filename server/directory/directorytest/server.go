// Package directorytest runs OpenLDAP's server slapd for tests, with people and groups.
package directorytest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"
)

// What the server has. Password is that of all people, and of Reader, who may search.
const (
	Base     = "dc=example,dc=org"
	People   = "ou=people," + Base
	Groups   = "ou=groups," + Base
	Reader   = "cn=reader," + Base
	Password = "password of the directory"

	root = "cn=root," + Base
)

// Server is a running slapd. Its people are ann and bob; ann is in the groups sales and all.
type Server struct {
	Plain, Secure string // URLs: ldap://, with StartTLS, and ldaps://
	Authority     string // certificate in PEM

	t        testing.TB
	dir      string
	process  *exec.Cmd
	finished chan struct{}
}

// Start runs a server until the test ends, with more rules for access before those of config. It skips the
// test if slapd is not installed.
func Start(t testing.TB, access ...string) *Server {
	t.Helper()
	program, err := exec.LookPath("slapd")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/slapd")
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("needs slapd, of OpenLDAP: ", err)
	}
	s := &Server{t: t, dir: t.TempDir()}
	s.write("slapd.conf", strings.Replace(config, "{access}", strings.Join(access, "\n"), 1))
	s.write("people.ldif", people)
	s.certificate()
	if err := os.Mkdir(filepath.Join(s.dir, "db"), 0o700); err != nil {
		t.Fatal(err)
	}
	load := exec.Command(program, "-T", "add", "-f", filepath.Join(s.dir, "slapd.conf"), "-l", filepath.Join(s.dir, "people.ldif"))
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for range 3 { // another program may take the port in between
		if s.run(program) {
			s.AddGroup("sales", "ann") // so that it is in memberOf, too
			return s
		}
	}
	t.Fatal("slapd does not start")
	return nil
}

// run starts the program at free ports, and reports whether it listens.
func (s *Server) run(program string) bool {
	s.Plain, s.Secure = "ldap://"+freePort(s.t), "ldaps://"+freePort(s.t)
	var log bytes.Buffer
	s.process = exec.Command(program, "-d", "0", "-f", filepath.Join(s.dir, "slapd.conf"), "-h", s.Plain+"/ "+s.Secure+"/")
	s.process.Stderr = &log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	process, finished := s.process, make(chan struct{})
	s.finished = finished
	go func() {
		_ = process.Wait()
		close(finished)
	}()
	s.t.Cleanup(func() {
		_ = process.Process.Kill()
		<-finished
	})
	for {
		if c, err := net.Dial("tcp", strings.TrimPrefix(s.Secure, "ldaps://")); err == nil {
			_ = c.Close()
			return true
		}
		select {
		case <-finished:
			s.t.Logf("slapd: %s", log.String())
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Stop ends the server.
func (s *Server) Stop() {
	_ = s.process.Process.Kill()
	<-s.finished
}

// Change changes the directory as its administrator.
func (s *Server) Change(do func(*ldap.Conn) error) {
	s.t.Helper()
	l, err := ldap.DialURL(s.Secure, ldap.DialWithTLSConfig(s.tls()))
	if err != nil {
		s.t.Fatal(err)
	}
	defer l.Close()
	if err = l.Bind(root, Password); err == nil {
		err = do(l)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// AddGroup adds a group with one member.
func (s *Server) AddGroup(name, uid string) {
	s.t.Helper()
	s.Change(func(l *ldap.Conn) error {
		r := ldap.NewAddRequest("cn="+name+","+Groups, nil)
		r.Attribute("objectClass", []string{"groupOfNames"})
		r.Attribute("cn", []string{name})
		r.Attribute("member", []string{DN(uid)})
		return l.Add(r)
	})
}

// DN returns the DN of a person.
func DN(uid string) string { return "uid=" + uid + "," + People }

func (s *Server) write(name, text string) {
	text = strings.NewReplacer("{dir}", s.dir, "{base}", Base, "{people}", People, "{groups}", Groups,
		"{password}", Password).Replace(text)
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// certificate writes the certificate and the key of the server, for 127.0.0.1.
func (s *Server) certificate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "directory of the tests"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		s.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	s.write("cert.pem", s.Authority)
	s.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}

func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr())
}
