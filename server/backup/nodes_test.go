package backup_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"

	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
)

// keptNodes returns nodes with one target, of which the first one makes copies.
func keptNodes(t testing.TB, n int, to target.Config) (s *servertest.Nodes, all []*kept) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	s = servertest.StartNodes(t, n)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	for _, in := range s.All {
		k := &kept{Instance: in, identity: identity}
		all = append(all, k)
		servertest.Must(t, backup.Confirm(in.DB.Dir(), k.recipient()))
		b := in.Server.Backups
		b.Examine = k.examine
		servertest.Must(t, b.Configure(target.Set{Targets: []target.Config{to}, Recipients: []string{k.recipient()}}))
		for _, task := range in.Server.Duties(b.Run) {
			running.Go(func() { task(ctx) })
		}
	}
	for _, k := range all {
		servertest.Until(t, "the node knows the target", func() bool {
			return strings.Contains(k.OK("GET", "/system/backup-target", "", "owner").Body, `"name":`)
		})
	}
	return s, all
}

// TestNodes_OneState asks nodes of which one makes the copies: all of them say the same, and take requests.
func TestNodes_OneState(t *testing.T) {
	t.Parallel()
	s, all := keptNodes(t, 3, target.Config{Name: "nas", Path: t.TempDir()})
	proven := func(s targetState) bool {
		return s.ProvenAt != nil && s.Phase == backup.Waiting && s.NextAt != nil
	}
	for _, holder := range []int{0, 2, 1} {
		s.GiveDuties(holder)
		asked := all[(holder+1)%3]
		was := asked.until("the copies are known", proven)
		asked.Call("POST", "/system/backup-file", `{"target":"other"}`, "owner").Names(422, "target")
		asked.OK("POST", "/system/backup-file", `{"target":"nas"}`, "owner")
		for _, k := range all {
			k.until("the new copy is proven", func(s targetState) bool { return proven(s) && s.ProvenAt.After(*was.ProvenAt) })
		}
		for _, language := range []string{"en", "zh"} {
			servertest.Until(t, "all nodes say the same", func() bool {
				texts := map[string]bool{}
				for _, k := range all {
					for _, path := range []string{"/system/backup-target", "/system/backup-file"} {
						r := k.Request("GET", path, "", "owner")
						r.Header.Set("Accept-Language", language)
						texts[path+k.Send(r).Body] = true
					}
				}
				return len(texts) == 2
			})
		}
	}
}

// TestNodes_CancelElsewhere cancels a copy that would take hours through another node.
func TestNodes_CancelElsewhere(t *testing.T) {
	t.Parallel()
	_, all := keptNodes(t, 2, target.Config{Name: "slow", Path: t.TempDir(), Bandwidth: 10})
	all[1].until("bytes are sent", func(s targetState) bool { return s.Phase == backup.Storing })
	all[1].OK("POST", "/system/backup-target/cancel", `{"target":"slow"}`, "owner")
	for _, k := range all {
		k.until("it is cancelled", func(s targetState) bool { return s.Phase == backup.Waiting && s.Error == "a user has ended it" })
	}
}

// TestNodes_ReloadWhileAsked changes the configuration of the node with the duties while another one waits for a copy.
func TestNodes_ReloadWhileAsked(t *testing.T) {
	t.Parallel()
	to := target.Config{Name: "nas", Path: t.TempDir()}
	s, all := keptNodes(t, 2, to)
	s.GiveDuties(0)
	all[1].until("a copy is proven", func(s targetState) bool {
		return s.ProvenAt != nil && s.Phase == backup.Waiting && s.Attempts > 0
	})
	for i := range 3 {
		var before targetState
		all[1].OK("POST", "/system/backup-file", `{"target":"nas"}`, "owner").Data(&before)
		to.Bandwidth = int64(1<<30 + i)
		servertest.Must(t, all[0].Server.Backups.Configure(target.Set{Targets: []target.Config{to}, Recipients: []string{all[0].recipient()}}))
		all[1].until("the copy is made", func(s targetState) bool { return s.Attempts > before.Attempts && s.Phase == backup.Waiting })
	}
}
