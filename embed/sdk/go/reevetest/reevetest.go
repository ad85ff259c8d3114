// Package reevetest runs throw-away servers of Reeve for the tests of a program. A server takes less
// than 100 ms to start, and begins with setup files.
//
//	func TestRefund(t *testing.T) {
//		s := reevetest.Start(t, reevetest.Options{Setup: []string{"shop.toml"}})
//		shop := newShop(s.Client(s.Keys["shop"])) // the program that is tested
//		ann := s.NewUser(reeve.Admin, "Support")
//		…
//	}
//
// It needs the program reeve.
package reevetest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	reeve "reeve/embed/sdk/go"
)

// Options configure a server.
type Options struct {
	Setup   []string // setup files, or directories with them
	Program string   // path of the program; if it is empty, the environment variable REEVE or else reeve in PATH
	Env     []string // NAME=VALUE, added to the environment, for secrets that setup files refer to
}

// Server is a running server.
type Server struct {
	URL      string
	Owner    *reeve.Client     // may do everything
	Token    string            // token of the owner
	Keys     map[string]string // API keys of the setup files, by name
	Webhooks map[string]string // secrets of their webhooks, by description

	t testing.TB
}

// User is a user of a test.
type User struct {
	ID                 int64
	Username, Password string
	Token              string // token of a session
}

// Start starts a server, which is stopped and removed at the end of the test. The test fails if
// that is not possible.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	program := cmp.Or(o.Program, os.Getenv("REEVE"), "reeve")
	cmd := exec.Command(program, append([]string{"dev", "--json", "--stdin"}, o.Setup...)...)
	cmd.Env = append(os.Environ(), o.Env...)
	stdin, err := cmd.StdinPipe() // the server ends when it is closed, also because the test is killed
	if err != nil {
		t.Fatal("reevetest:", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal("reevetest:", err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal("reevetest: start Reeve, whose path is in the variable REEVE unless it is in PATH:", err)
	}

	s := &Server{t: t}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	t.Cleanup(func() {
		stdin.Close()
		io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("reevetest: Reeve ended with %v\n%s", err, log.Bytes())
		}
	})
	if err != nil {
		stdin.Close()
		cmd.Wait()
		t.Fatalf("reevetest: Reeve did not start: %s", log.Bytes())
	}
	s.Owner = s.Client(s.Token)
	return s
}

// Client returns a client with an API key or the token of a session.
func (s *Server) Client(key string) *reeve.Client {
	s.t.Helper()
	c, err := reeve.New(reeve.Options{URL: s.URL, Key: key})
	if err != nil {
		s.t.Fatal("reevetest:", err)
	}
	return c
}

// NewUser creates a user of a realm with roles, and signs in as it. The test fails if there is no
// such role.
func (s *Server) NewUser(realm string, roles ...string) User {
	s.t.Helper()
	ctx := context.Background()
	u := User{Username: "test-" + strings.ToLower(rand.Text()[:8]), Password: rand.Text()}
	path := "/admin/list"
	if realm == reeve.App {
		path = "/user/list"
	}
	in := map[string]any{"username": u.Username, "password": u.Password, "roles": append([]string{}, roles...)}
	if err := s.Owner.Call(ctx, http.MethodPost, path, in, &u); err != nil {
		s.t.Fatal("reevetest: create a user:", err)
	}
	login, err := s.Client("").SignIn(ctx, realm, u.Username, u.Password)
	if err != nil {
		s.t.Fatal("reevetest: sign in:", err)
	}
	u.Token = login.Token
	return u
}
