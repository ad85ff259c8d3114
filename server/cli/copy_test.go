package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/server/outgoing"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// sink is an address of this machine that counts connections.
func sink(t *testing.T) (port int, got *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	servertest.Must(t, err)
	got = &atomic.Int64{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			got.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return l.Addr().(*net.TCPAddr).Port, got
}

// TestExamine_SendsNothing examines a copy in which a mail and an event for a webhook wait to be sent. It has
// secret.key, without which no event can be signed, and the webhook's address is allowed.
func TestExamine_SendsNothing(t *testing.T) {
	t.Parallel()
	mailPort, mails := sink(t)
	hookPort, hooks := sink(t)
	in := servertest.Start(t, func(su *servertest.Setup) {
		allow, err := outgoing.ParseAllow("webhooks.allow", []string{"127.0.0.1"})
		servertest.Must(t, err)
		su.Config.WebhookAllow = allow
	})
	in.SendMailTo(mailPort)
	in.Create("/system/webhook", fmt.Sprintf(`{"url":"http://127.0.0.1:%d/","types":["*"]}`, hookPort))
	in.OK("POST", fmt.Sprintf("/admin/list/%d/invite", in.Guest("somebody", "somebody@example.org")), `{"send":1}`, "owner")
	in.Create("/system/dict", `{"code":"c","name":"N"}`)
	waiting := 0
	in.View(func(tx *store.Tx) error {
		for _, err := range store.MailByState.All(tx, store.MailQueued) {
			servertest.Must(t, err)
			waiting++
		}
		return nil
	})

	archive := archiveOf(t, in, true)
	p := &program{Release: Release{Version: "1.2.3"}, err: &bytes.Buffer{}, firstName: firstUser, serves: true}
	servertest.Must(t, p.configure(map[string]string{"data.dir": in.Dir, "webhooks.allow": "127.0.0.1"}))
	dir := filepath.Join(t.TempDir(), "data")
	records, head, err := p.examine(t.Context(), archive, dir, nil, false)
	if err != nil || records == 0 || head.Seq != in.NewestEntry() || waiting != 1 {
		t.Fatalf("%d records, %+v, %v, %d mails wait", records, head, err, waiting)
	}
	if mails.Load() > 0 || hooks.Load() > 0 {
		t.Errorf("%d connections of mails, %d of webhooks", mails.Load(), hooks.Load())
	}

	// A whole server would have paused the webhook at its start, so there was none. No mail is left to be sent.
	copied, err := store.Open(dir, store.Options{})
	servertest.Must(t, err)
	defer copied.Close()
	servertest.Must(t, copied.View(store.System, func(tx *store.Tx) error {
		n := 0
		for w, err := range store.Webhooks.All(tx) {
			servertest.Must(t, err)
			if n++; w.Paused != "" {
				t.Errorf("webhook %d was paused: %s", w.ID, w.Paused)
			}
		}
		for m, err := range store.MailByState.All(tx, store.MailQueued) {
			servertest.Must(t, err)
			t.Errorf("mail %d waits", m.ID)
		}
		if n != 1 {
			t.Errorf("%d webhooks", n)
		}
		return nil
	}))

	// The server whose copy it is sends both.
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, run := range []func(context.Context){in.Server.Outbox.Run, in.Server.Sender.Run, in.Server.Streams.Run} {
		running.Go(func() { run(ctx) })
	}
	for begun := time.Now(); mails.Load() == 0 || hooks.Load() == 0; time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d connections of mails, %d of webhooks", mails.Load(), hooks.Load())
		}
	}
}

// archiveOf writes a copy of the records of an instance, and returns its path.
func archiveOf(t *testing.T, in *servertest.Instance, withKey bool) string {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "copy.tar")
	f, err := os.Create(archive)
	servertest.Must(t, err)
	b, err := in.DB.BackupRecords(t.Context(), withKey)
	servertest.Must(t, err)
	_, err = b.WriteTo(f)
	servertest.Must(t, err)
	servertest.Must(t, b.Close())
	servertest.Must(t, f.Close())
	return archive
}

// TestExamine_FindsFaults examines copies without the key of their secret values, and with a damaged segment of the
// change log, which was so where the copy was made. It never asks the bucket of files.
func TestExamine_FindsFaults(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) { su.Drain = 10 })
	in.Keep("owner", "plan.txt", "the content of a file")
	in.OK("PUT", "/system/setting", `{"values":{"mail.password":"a secret"}}`, "owner")
	for i := range 40 {
		in.Create("/system/dict", fmt.Sprintf(`{"code":"c%d","name":"N"}`, i))
	}
	var segments []string
	for begun := time.Now(); len(segments) == 0; time.Sleep(5 * time.Millisecond) {
		var err error
		segments, err = filepath.Glob(filepath.Join(in.Dir, "audit", "*.db"))
		servertest.Must(t, err)
		if time.Since(begun) > time.Minute {
			t.Fatal("no segment is written")
		}
	}

	p := &program{Release: Release{Version: "1.2.3"}, err: &bytes.Buffer{}, firstName: firstUser, serves: true}
	servertest.Must(t, p.configure(map[string]string{"data.dir": in.Dir}))
	p.config.Files = &kv.FileStorage{} // without a bucket: each use of it would panic
	examine := func(archive string, withSecrets bool) error {
		_, _, err := p.examine(t.Context(), archive, filepath.Join(t.TempDir(), "data"), nil, withSecrets)
		return err
	}
	archive := archiveOf(t, in, false)
	servertest.Must(t, examine(archive, false))
	if err := examine(archive, true); err == nil || !strings.Contains(err.Error(), "secret.key does not open 1 secret value") {
		t.Errorf("without secret.key: %v", err)
	}

	content, err := os.ReadFile(segments[0])
	servertest.Must(t, err)
	damaged := bytes.Clone(content)
	damaged[len(damaged)/2] ^= 1
	servertest.Must(t, os.WriteFile(segments[0], damaged, 0o600))
	archive = archiveOf(t, in, false)
	servertest.Must(t, os.WriteFile(segments[0], content, 0o600))
	if err := examine(archive, false); err == nil {
		t.Error("a damaged segment is not found")
	} else {
		t.Log(err)
	}
}

// TestExamine_AsksTheCopy examines a copy in a directory in which all of it is restored and can be opened, and a request fails:
// the time of the last backup, which only a request reads, can't be read.
func TestExamine_AsksTheCopy(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	archive := archiveOf(t, in, true)
	p := &program{Release: Release{Version: "1.2.3"}, err: &bytes.Buffer{}, firstName: firstUser, serves: true}
	servertest.Must(t, p.configure(map[string]string{"data.dir": in.Dir}))
	for name, fails := range map[string]bool{"another": false, "last-backup": true} {
		dir := filepath.Join(t.TempDir(), "data")
		servertest.Must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		_, _, err := p.examine(t.Context(), archive, dir, nil, false)
		if fails && (err == nil || !strings.Contains(err.Error(), "the copy does not answer: ")) || !fails && err != nil {
			t.Errorf("with %s: %v", name, err)
		}
	}
}
