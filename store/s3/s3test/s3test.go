// Package s3test runs an S3 server for tests.
package s3test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/s3"
)

// Server is a running server.
type Server struct {
	URL       string
	AccessKey string
	SecretKey string
	Dir       string // each directory in it is a bucket
}

// Start starts the server whose program the variable REEVE_TEST_S3 names, with a bucket named
// bucket. It is built by `go -C .ci/s3 build -o FILE github.com/versity/versitygw/cmd/versitygw`.
// Without the variable, the test is skipped.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartIn(t, t.TempDir())
}

// StartAt is Start at an address of this machine.
func StartAt(t testing.TB, host string) *Server {
	t.Helper()
	return start(t, host, t.TempDir())
}

// StartIn is Start in a directory, with further arguments.
func StartIn(t testing.TB, dir string, args ...string) *Server {
	t.Helper()
	return start(t, "127.0.0.1", dir, args...)
}

func start(t testing.TB, host, dir string, args ...string) *Server {
	t.Helper()
	program := os.Getenv("REEVE_TEST_S3")
	if program == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("REEVE_TEST_S3 does not name an S3 server")
		}
		t.Skip("REEVE_TEST_S3 does not name an S3 server, see package s3test")
	}

	s := &Server{AccessKey: "test-access", SecretKey: "test-secret-key", Dir: dir}
	if err := os.Mkdir(filepath.Join(s.Dir, "bucket"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	s.URL = "http://" + address

	var log strings.Builder
	cmd := exec.Command(program, slices.Concat([]string{"--port", address, "--quiet", "posix"}, args, []string{s.Dir})...)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})

	for begun := time.Now(); ; {
		resp, err := http.Get(s.URL)
		if err == nil {
			resp.Body.Close()
			return s
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the S3 server ended: %v\n%s", err, log.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("the S3 server does not answer: %v", err)
		}
	}
}

// Options are those of the bucket.
func (s *Server) Options() s3.Options {
	return s3.Options{
		Endpoint:  s.URL,
		Region:    "us-east-1",
		Bucket:    "bucket",
		AccessKey: s.AccessKey,
		SecretKey: s.SecretKey,
		Style:     "path",
	}
}

// Bucket opens a bucket.
func Bucket(t testing.TB, o s3.Options) *s3.Bucket {
	t.Helper()
	b, err := s3.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
