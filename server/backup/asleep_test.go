package backup_test

import (
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/auth"
	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
	"reeve/store/kv"
)

// asleep returns an instance whose clock, that of the database and that of the copies, is as many nanoseconds ahead.
func asleep(t *testing.T) (k *kept, ahead *atomic.Int64) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	ahead = &atomic.Int64{}
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	k = keptIn(t, servertest.Start(t, func(s *servertest.Setup) {
		s.Clock = func() store.Time { return kv.TimeOf(now()) }
	}), identity)
	k.Server.Backups.SetClock(now)
	return k, ahead
}

// TestSchedule_AfterSleep lets the clock go on by days, as on a machine that was asleep: one copy makes up for all
// that were missed, and the next one is made in its time.
func TestSchedule_AfterSleep(t *testing.T) {
	t.Parallel()
	k, ahead := asleep(t)
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	k.Server.Backups.SetStep(5 * time.Millisecond)
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: t.TempDir()}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	for i, days := range []int{1, 5, 40} {
		ahead.Add(int64(time.Duration(days) * 24 * time.Hour))
		k.Tokens["owner"] = k.SignIn(auth.FirstUser)
		woken := now()
		s := k.until("a copy is made and the next one is due later", func(s targetState) bool {
			return s.NewestAt.After(woken.Add(-time.Minute)) && s.Phase == backup.Waiting && s.NextAt != nil && s.NextAt.After(now())
		})
		if s.Attempts != i+2 || s.NextAt.Sub(woken) > 25*time.Hour || s.Error != "" {
			t.Errorf("after %d days: %+v", days, s)
		}
		if state, text := k.health(); state != "ok" {
			t.Errorf("after %d days: %s, %s", days, state, text)
		}
	}
}
