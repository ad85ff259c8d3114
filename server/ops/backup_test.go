package ops_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/auth"
	"reeve/server"
	"reeve/server/limit"
	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// withFile returns an instance with a file of some megabytes, more than a connection
// buffers, and a clerk who may download backups.
func withFile(t *testing.T) (in *servertest.Instance, data []byte) {
	t.Helper()
	in = servertest.Start(t)
	in.Clerk("clerk", "system.backup")
	data = bytes.Repeat([]byte("the bytes of a file "), 300_000)
	u, err := in.DB.NewUpload()
	servertest.Must(t, err)
	defer u.Release()
	_, err = u.Write(data)
	servertest.Must(t, err)
	digest, err := u.Finish()
	servertest.Must(t, err)
	in.Update(func(tx *store.Tx) error {
		return store.Files.Create(tx, &store.File{
			Name:        "some",
			FileContent: store.FileContent{Kind: store.OtherFile, Size: u.Size(), Digest: digest},
		})
	})
	return in, data
}

func TestBackup_HasFiles(t *testing.T) {
	in, data := withFile(t)
	in.OK("GET", "/system/info", "", "owner").Brief(200, `"last_backup_at":null`)
	archive, promised, err := in.Download("/system/backup", "clerk", nil)
	servertest.Must(t, err)
	if int64(len(archive)) != promised {
		t.Errorf("%d bytes came, %d were promised", len(archive), promised)
	}

	var info struct {
		LastBackup store.Time `json:"last_backup_at"`
	}
	in.OK("GET", "/system/info", "", "owner").Data(&info)
	if age := time.Since(info.LastBackup.Std()); age < 0 || age > time.Minute {
		t.Errorf("the last backup was %v ago", age)
	}

	path, dir := filepath.Join(t.TempDir(), "backup.tar"), t.TempDir()
	servertest.Must(t, os.WriteFile(path, archive, 0o600))
	if _, err := store.Restore(dir, path, nil, store.Options{Version: "test", Keys: server.Keys()}); err != nil {
		t.Fatal(err)
	}

	other := servertest.Open(t, dir)
	other.View(func(tx *store.Tx) error {
		f, err := store.Files.Get(tx, 1)
		servertest.Must(t, err)
		blob, err := other.DB.OpenBlob(f.Digest)
		servertest.Must(t, err)
		got, err := io.ReadAll(blob)
		if !bytes.Equal(got, data) {
			t.Errorf("%d other bytes came back", len(got))
		}
		return err
	})
}

// TestBackup_CompleteIfTimeNotStored covers a full disk, on which the time of the backup can't be
// stored.
func TestBackup_CompleteIfTimeNotStored(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	servertest.Must(t, os.MkdirAll(filepath.Join(in.Dir, "last-backup.new", "in the way"), 0o700))
	archive, promised, err := in.Download("/system/backup", "owner", nil)
	servertest.Must(t, err)
	if int64(len(archive)) != promised {
		t.Errorf("%d bytes came, %d were promised", len(archive), promised)
	}
	in.OK("GET", "/system/info", "", "owner").Brief(200, `"last_backup_at":null`)
}

// TestBackup_FailureAborts checks that the client cannot take a failed backup for a complete one.
func TestBackup_FailureAborts(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(t *testing.T, in *servertest.Instance){
		"the permission is taken away": func(_ *testing.T, in *servertest.Instance) {
			in.SwitchPermission("system.backup", "status", 0)
		},
		"the user signs out": func(_ *testing.T, in *servertest.Instance) {
			in.OK("POST", "/admin/logout", "", "clerk")
		},
		"the bytes are damaged": func(t *testing.T, in *servertest.Instance) {
			in.Damaged = true
			path := filepath.Join(in.Dir, "files.db")
			text, err := os.ReadFile(path)
			servertest.Must(t, err)
			at := bytes.LastIndex(text, []byte("the bytes of a file"))
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			servertest.Must(t, err)
			_, err = f.WriteAt([]byte("T"), int64(at))
			servertest.Must(t, errors.Join(err, f.Close()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := withFile(t)
			archive, promised, err := in.Download("/system/backup", "clerk", func() { then(t, in) })
			if !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(archive)) >= promised {
				t.Errorf("%d of %d bytes came, and the end was %v", len(archive), promised, err)
			}
			if left, err := filepath.Glob(filepath.Join(in.Dir, "backup-*")); err != nil ||
				len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
			in.OK("GET", "/admin/info", "", "owner")
		})
	}
}

// patient is a slow client. It records when its deadline is extended.
type patient struct {
	*httptest.ResponseRecorder
	deadline time.Time
	moved    []int // bytes received by then
	late     []string
}

func (p *patient) SetWriteDeadline(t time.Time) error {
	p.deadline = t
	p.moved = append(p.moved, p.Body.Len())
	return nil
}

func (p *patient) Write(b []byte) (int, error) {
	if left := time.Until(p.deadline); left <= 0 || len(b) > limit.PaceBytes {
		p.late = append(p.late, fmt.Sprintf("%d bytes with %s left", len(b), left))
	}
	return p.ResponseRecorder.Write(b)
}

// TestBackup_MinimumRate: a backup may take any time at the minimum rate.
// Its deadline is extended after every limit.PaceBytes, and not after fewer.
func TestBackup_MinimumRate(t *testing.T) {
	t.Parallel()
	in, data := withFile(t)
	w := &patient{ResponseRecorder: httptest.NewRecorder()}
	in.Server.Handler().ServeHTTP(w, in.Request("GET", "/system/backup", "", "clerk"))
	if w.Code != 200 || w.Body.Len() < len(data) || len(w.late) > 0 {
		t.Errorf("%d, %d bytes, late: %.3q", w.Code, w.Body.Len(), w.late)
	}

	for i := 1; i < len(w.moved); i++ {
		if n := w.moved[i] - w.moved[i-1]; n < limit.PaceBytes || n > 2*limit.PaceBytes {
			t.Errorf("the deadline was moved after %d bytes", n)
		}
	}

	if len(w.moved) < w.Body.Len()/(2*limit.PaceBytes) {
		t.Errorf("the deadline was moved %d times over %d bytes", len(w.moved), w.Body.Len())
	}
}

// TestBackup_UnreadIsAborted checks that a client that does not read is disconnected
// and releases what its backup held. Until then a second backup is rejected for the
// same user, but not for another.
func TestBackup_UnreadIsAborted(t *testing.T) {
	t.Parallel()
	in, _ := withFile(t)
	in.Keep("owner", "large.bin", strings.Repeat("0123456789abcdef", 1<<20)) // more than the connection buffers
	leaveUnread(in, 200)
	in.OK("GET", "/system/backup", "", "clerk")
}

// TestFullDisk_UnreadBackupIsAborted does the same where data.db itself is read: until then no
// second backup can do that, and writes go on.
func TestFullDisk_UnreadBackupIsAborted(t *testing.T) {
	at := disktest.SmallDisk(t, "64m")
	dir := filepath.Join(at, "data")
	servertest.Must(t, os.Mkdir(dir, 0o700))
	in := servertest.Open(t, dir)
	in.Tokens["owner"] = in.SignIn(auth.FirstUser)
	in.Clerk("clerk", "system.backup")
	for i := range 40 { // more than the connection buffers
		in.Update(func(tx *store.Tx) (err error) {
			for j := range 100 {
				err = errors.Join(err,
					store.Depts.Create(tx, &store.Dept{
						Name:  fmt.Sprint("Department ", i, " ", j),
						Phone: strings.Repeat("5", 500),
					}))
			}
			return err
		})
	}

	_, err := in.DB.FilesOpened()
	servertest.Must(t, err)
	free, _, err := in.DB.DiskFree()
	servertest.Must(t, err)
	defer disktest.Fill(t, at, int(free)-1<<20)() // what remains is for writes, which are logged, not for a copy
	t.Setenv("TMPDIR", at)
	leaveUnread(in, 503)
	if n := in.DB.Stats().Reading; n != 0 {
		t.Errorf("%d transactions still read", n)
	}

	in.OK("GET", "/system/backup", "", "clerk")
}

// leaveUnread lets the clerk begin a backup and read none of it, until it is aborted. A backup of
// the owner is answered with the status until then.
func leaveUnread(in *servertest.Instance, other int) {
	t := in.T
	t.Helper()
	in.Server.Grace = 300 * time.Millisecond
	srv := httptest.NewUnstartedServer(in.Server.Handler())
	srv.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if tcp, ok := conn.(*net.TCPConn); ok && state == http.StateNew {
			tcp.SetWriteBuffer(64 << 10)
		}
	}

	srv.Start()
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	servertest.Must(t, err)
	defer conn.Close()
	servertest.Must(t, conn.(*net.TCPConn).SetReadBuffer(64<<10))
	backups := in.Server.Limits.Backups
	fmt.Fprintf(conn, "GET /system/backup HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
		in.Tokens["clerk"])
	_, err = io.ReadFull(conn, make([]byte, 1000)) // the response has begun
	servertest.Must(t, err)
	a := in.Call("GET", "/system/backup", "", "clerk")
	a.Brief(429, "too many backups")
	if a.Header.Get("Retry-After") != "10" {
		t.Errorf("%v", a.Header)
	}
	if a := in.Call("GET", "/system/backup", "", "owner"); a.Code != other {
		t.Errorf("another backup: %d %.300q", a.Code, a.Body)
	}

	servertest.Until(t, "the backup is given up", func() bool { return backups.Now() == 0 })
	if in.Server.Limits.Rate.Rejected.Load() != 1 {
		t.Errorf("%d transfers were counted as too slow", in.Server.Limits.Rate.Rejected.Load())
	}
	if p := ops.LimitHealth(in.Server.Server); p.State != web.Degraded ||
		!strings.Contains(p.Message.String(), "too slow") || p.Since == 0 {
		t.Errorf("%+v", p)
	}
}
