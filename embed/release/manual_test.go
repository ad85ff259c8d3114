package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"aead.dev/minisign"
)

// manualBlock returns the block of the manual's page on installation that a test runs.
func manualBlock(t *testing.T, test string) string {
	t.Helper()
	text, err := os.ReadFile("../manual/installation.md")
	must(t, err)
	block := regexp.MustCompile("(?ms)^```sh tested " + test + "\n(.*?)^```$").FindSubmatch(text)
	if block == nil {
		t.Fatalf("the manual has no block for %s", test)
	}
	return string(block[1])
}

// link makes files of the release available in a directory.
func link(t *testing.T, dir string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		must(t, os.Symlink(path, filepath.Join(dir, filepath.Base(path))))
	}
}

// TestManual_ChecksDownload checks a package and its signature as the manual says, also a damaged package and the
// signature of another key.
func TestManual_ChecksDownload(t *testing.T) {
	command(t, "minisign")
	block, dir, deb := manualBlock(t, "TestManual_ChecksDownload"), t.TempDir(), result(t, oneNode, "amd64.deb")
	link(t, dir, deb)
	sums, err := os.ReadFile(filepath.Join(filepath.Dir(deb), "SHA256SUMS"))
	must(t, err)
	public, secret, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	other, _, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	text, err := minisign.EncryptKey("secret", secret)
	must(t, err)
	t.Setenv(keyVariable, string(text))
	t.Setenv(passwordVariable, "secret")
	r := &release{out: dir, version: "1.2.3", commit: "abc"}
	must(t, r.write("SHA256SUMS", sums))
	must(t, r.sign("SHA256SUMS", sums))
	check := func(key minisign.PublicKey) (string, error) {
		cmd := exec.Command("bash", "-euc", strings.ReplaceAll(block, "PUBLICKEY", key.String()))
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := check(public); err != nil || !strings.Contains(out, filepath.Base(deb)+": OK") || !strings.Contains(out, "reeve 1.2.3 abc") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := check(other); err == nil {
		t.Errorf("with another key:\n%s", out)
	}
	must(t, os.Remove(filepath.Join(dir, filepath.Base(deb))))
	must(t, os.WriteFile(filepath.Join(dir, filepath.Base(deb)), []byte("damaged"), 0o600))
	if out, err := check(public); err == nil {
		t.Errorf("a damaged package:\n%s", out)
	}
}

// TestManual_ProgramAlone unpacks the archive, starts the program, and signs in, as the manual says.
func TestManual_ProgramAlone(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program is for amd64")
	}
	dir, address := t.TempDir(), freeAddress(t)
	link(t, dir, result(t, oneNode, "linux_amd64.tar.gz"))
	b := &box{t: t, done: make(chan error, 1)}
	cmd := exec.Command("bash", "-euc", manualBlock(t, "TestManual_ProgramAlone"))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "REEVE_SERVER__LISTEN="+address)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	go func() { b.done <- cmd.Wait() }()
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // fails if it has ended
	b.ready(address)
	signInFirst(t, "http://"+address, filepath.Join(dir, "data"))
}
