package backup_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/auth"
	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
)

const day = 24 * time.Hour

// address gives the first user, an owner, an address.
func (k *kept) address(email string) {
	k.T.Helper()
	k.Update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, auth.FirstUser, func(u *store.User) error { u.Email = email; return nil })
		return err
	})
}

// tell tells the owners what is due at a time from now, and returns the mails about backups that wait.
func (k *kept) tell(ahead time.Duration) (queued []*store.Mail) {
	k.T.Helper()
	k.ahead.Store(int64(ahead))
	servertest.Must(k.T, k.Server.Backups.Tell())
	k.View(func(tx *store.Tx) error {
		for m, err := range store.MailByState.All(tx, store.MailQueued) {
			servertest.Must(k.T, err)
			if store.IsBackupNotice(m.Purpose) {
				queued = append(queued, m)
			}
		}
		return nil
	})
	return queued
}

func (k *kept) tells(ahead time.Duration, want ...string) {
	k.T.Helper()
	got := []string{}
	for _, m := range k.tell(ahead) {
		got = append(got, fmt.Sprintf("%s to %s", m.Purpose, m.UserID))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		k.T.Errorf("%s from now, %q are queued, want %q", ahead, got, want)
	}
}

// proven makes a copy at a directory, and proves it.
func (k *kept) proven(dir string) {
	k.T.Helper()
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
}

// reopened returns the instance after a restart of the server.
func (k *kept) reopened() *kept {
	k.T.Helper()
	k.Close()
	in := servertest.Open(k.T, k.Dir)
	in.Tokens["owner"] = in.SignIn(auth.FirstUser)
	return keptIn(k.T, in, k.identity)
}

const unproven, again = "backup_unproven to 1", "backup_proven to 1"

// TestNotice_WeeklyUntilProven follows an owner's mails through a missing proof, a restart, and the
// next proof.
func TestNotice_WeeklyUntilProven(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	box := k.OpenMailbox()
	k.address("boss@example.org")
	k.proven(dir)
	k.tells(0)
	k.tells(25 * time.Hour)
	k.tells(27*time.Hour, unproven)
	k.SendMails()
	subject, text := box.Last(t, "boss@example.org").Text(t)
	if subject != "No proven backup of Reeve" || !strings.Contains(text, "the last proven copy at nas is of 20") ||
		!strings.Contains(text, "https://reeve.example.org/console/system/backup") || strings.Contains(text, dir) {
		t.Errorf("%s\n%s", subject, text)
	}
	k.tells(28 * time.Hour)

	k = k.reopened()
	k.ahead.Store(int64(29 * time.Hour))
	k.proven(dir)
	k.tells(29 * time.Hour)
	k.tells(31 * time.Hour)
	k.tells(6 * day)
	k.tells(8*day, unproven)
	k.SendMails()
	k.tells(9 * day)

	k.tells(0, again) // the copy is recent again
	k.SendMails()
	if subject, _ := box.Last(t, "boss@example.org").Text(t); subject != "Backups of Reeve are proven again" {
		t.Error(subject)
	}
	k.tells(0)
	k.tells(31*time.Hour, unproven)
	if n := len(box.All()); n != 3 {
		t.Errorf("%d mails", n)
	}
}

// TestNotice_OnlyWhereMailWorks: without a mail server nothing is queued, and only enabled owners with
// an address get a notice, in the language of their mails.
func TestNotice_OnlyWhereMailWorks(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.proven(t.TempDir())
	k.Clerk("reader", "system.copy.query", "system.info")
	k.address("boss@example.org")
	k.tells(27 * time.Hour)

	box := k.OpenMailbox()
	k.address("")
	k.Update(func(tx *store.Tx) error {
		return store.Users.Create(tx, &store.User{Username: "second", Email: "two@example.org", RoleIDs: []store.ID{store.OwnerRole}})
	})
	k.tells(27 * time.Hour)

	k.address("boss@example.org")
	k.Update(func(tx *store.Tx) error {
		return store.QueueMail(tx, store.FactorRemoved, store.Account{ID: auth.FirstUser}, "", "zh")
	})
	k.tells(27*time.Hour, unproven)
	k.SendMails()
	_, text := box.Last(t, "boss@example.org").Text(t)
	if !strings.Contains(text, "nas 最后一个已验证的副本是 20") || len(box.All()) != 2 {
		t.Errorf("%s\n%d mails", text, len(box.All()))
	}
}

// TestNotice_NoLongerTrue: a notice that waits is cancelled if a copy is proven before it is sent, and
// then no mail says so; one that was deleted does not come again.
func TestNotice_NoLongerTrue(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	box := k.OpenMailbox()
	k.address("boss@example.org")
	k.proven(t.TempDir())
	k.tells(27*time.Hour, unproven)
	k.ahead.Store(0)
	k.SendMails()
	k.tells(0)
	if mails := box.All(); len(mails) > 0 {
		t.Error(mails)
	}

	waiting := k.tell(27 * time.Hour)
	if len(waiting) != 1 {
		t.Fatal(waiting)
	}
	k.OK(http.MethodDelete, fmt.Sprintf("/system/mail/%d", waiting[0].ID), "", "owner")
	k.tells(28 * time.Hour)
	k.tells(9*day, unproven)
}

// TestNotice_FirstCopyHasTime: a target without a copy is told of once its first copy has had the time
// of the limit, and the list of targets says so at once.
func TestNotice_FirstCopyHasTime(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.ahead.Store(int64(30 * time.Hour))
	k.run(target.Set{Targets: []target.Config{{Name: "slow", Path: t.TempDir(), Bandwidth: 10}}})
	k.until("bytes are sent", func(s targetState) bool { return s.Phase == backup.Storing && s.Unproven == 1 })
	for ahead, want := range map[time.Duration]string{32: "", 55: "", 57: store.BackupUnproven} {
		k.ahead.Store(int64(ahead * time.Hour))
		if got, err := k.Server.Backups.Standing(); got != want || err != nil {
			t.Errorf("after %d hours: %q, %v, want %q", ahead-30, got, err, want)
		}
	}
	k.OK("POST", "/system/backup-target/cancel", `{"target":"slow"}`, "owner")
}

// TestNotice_TargetDownSinceStart: what a target that can't be read has is unknown after a start, so the
// time of the last copy decides how long to wait.
func TestNotice_TargetDownSinceStart(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.ahead.Store(int64(30 * time.Hour))
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: filepath.Join(t.TempDir(), "missing")}}})
	k.until("it fails", func(s targetState) bool { return s.Attempts > 0 && s.Error != "" && s.Phase == backup.Waiting })
	for _, c := range []struct {
		last, ahead time.Duration // of the last copy, and of the clock
		want        string
	}{
		{0, 30*time.Hour + 50*time.Minute, ""},
		{0, 32 * time.Hour, store.BackupUnproven},
		{29 * time.Hour, 32 * time.Hour, ""},
		{29 * time.Hour, 54 * time.Hour, ""},
		{55 * time.Hour, 57 * time.Hour, store.BackupUnproven},
	} {
		text := time.Now().Add(c.last).UTC().Format(time.RFC3339)
		servertest.Must(t, os.WriteFile(filepath.Join(k.DB.Dir(), "last-backup"), []byte(text+"\n"), 0o600))
		k.ahead.Store(int64(c.ahead))
		if got, err := k.Server.Backups.Standing(); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}

	// Without targets, copies were turned off in the configuration.
	k.run(target.Set{})
	if got, err := k.Server.Backups.Standing(); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
