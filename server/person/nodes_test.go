package person_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/person"
	"reeve/server/servertest"
	"reeve/store"
)

// TestErase_AtSeveralNodes erases a person at one node. The others remove the events that they have, and
// add the line to their lists, also one that has lost its list or was away until only the line is left.
func TestErase_AtSeveralNodes(t *testing.T) {
	t.Parallel()
	first := servertest.Start(t)
	ann := first.Clerk("ann", "system.dict.query")
	s := servertest.NodesOf(first, 2, func(su *servertest.Setup) { su.Config.Cluster = &servertest.Node{} })
	for _, in := range s.All {
		in.OK("GET", "/system/dict", "", "ann")
		in.Flush()
		in.OK("GET", "/system/monitor/request?pageSize=1000", "", "owner").Brief(200, `"username":"ann"`)
	}
	var out person.Erasure
	s.All[0].OK("POST", fmt.Sprintf("/admin/list/%d/erase", ann.ID), `{"username":"ann"}`, "owner").Data(&out)
	if out.Complete || out.MonitoringUntil == 0 {
		t.Errorf("complete before the others have followed: %+v", out)
	}
	for i, in := range s.All {
		servertest.Until(t, "the node has the commit", func() (has bool) {
			in.View(func(tx *store.Tx) error {
				n, err := store.Erasures.Count(tx)
				has = n == 1
				return err
			})
			return has
		})
		in.Server.Person.ResumeErasures()
		in.Server.Person.ResumeErasures()
		in.Flush()
		in.OK("GET", "/system/monitor/request?pageSize=1000", "", "owner").Lacks(`"username":"ann"`)
		list, err := os.ReadFile(filepath.Join(in.Dir, "erased.jsonl"))
		servertest.Must(t, err)
		if n := strings.Count(string(list), "\n"); n != 1 {
			t.Errorf("node %d has %d lines: %s", i, n, list)
		}
	}

	servertest.Must(t, os.Remove(filepath.Join(s.All[1].Dir, "erased.jsonl")))
	servertest.Must(t, s.All[0].DB.Update(store.System, func(tx *store.Tx) error {
		for e, err := range store.Erasures.All(tx) {
			if err != nil {
				return err
			}
			if _, err := store.Erasures.UpdateQuietly(tx, e.ID, func(e *store.Erasure) error { e.DoneAt = 1; return nil }); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, in := range s.All {
		in.Server.Person.ResumeErasures()
		servertest.Until(t, "only the line is left", func() (ended bool) {
			in.View(func(tx *store.Tx) error {
				for e, err := range store.Erasures.All(tx) {
					if err != nil {
						return err
					}
					ended = e.Ended() && e.Line != ""
				}
				return nil
			})
			return ended
		})
	}
	s.All[1].Server.Person.ResumeErasures()
	if list, err := os.ReadFile(filepath.Join(s.All[1].Dir, "erased.jsonl")); err != nil || strings.Count(string(list), "\n") != 1 {
		t.Errorf("%q, %v", list, err)
	}
}
