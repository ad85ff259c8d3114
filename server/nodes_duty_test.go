package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/server/outgoing"
	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// keeps runs background tasks of all nodes until the test ends.
func keeps(s *servertest.Nodes, tasks func(in *servertest.Instance) []func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, in := range s.All {
		for _, task := range tasks(in) {
			running.Go(func() { task(ctx) })
		}
	}
	s.T.Cleanup(func() { cancel(); running.Wait() })
}

// TestDuties_TasksMove gives the duties to one node after another: tasks run at one that has them, and
// nowhere else.
func TestDuties_TasksMove(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 3)
	var running [3]atomic.Int64
	at := 0
	keeps(s, func(in *servertest.Instance) []func(context.Context) {
		mine := &running[at]
		at++
		task := func(ctx context.Context) {
			mine.Add(1)
			<-ctx.Done()
			mine.Add(-1)
		}
		return in.Server.Duties(task, task)
	})
	for _, holder := range []int{0, 2, 1, 0} {
		s.GiveDuties(holder)
		servertest.Until(t, fmt.Sprint("the tasks run at ", holder), func() bool {
			for i := range running {
				if n := running[i].Load(); n != 0 && i != holder || n != 2 && i == holder {
					return false
				}
			}
			return true
		})
	}
	for i := range s.Clusters {
		s.Clusters[i].Off.Store(true)
	}
	servertest.Until(t, "no task runs", func() bool { return running[0].Load()+running[1].Load()+running[2].Load() == 0 })

	alone := servertest.Start(t)
	task := func(context.Context) {}
	if got := alone.Server.Duties(task, task); len(got) != 2 {
		t.Errorf("a server that is the only one runs %d tasks", len(got))
	}
}

// importFile returns a file with n users.
func importFile(prefix string, n int) string {
	var file strings.Builder
	file.WriteString("username,email\n")
	for i := range n {
		fmt.Fprintf(&file, "%s%05d,%[1]s%05[2]d@example.org\n", prefix, i)
	}
	return file.String()
}

// TestDuties_JobOfAnotherNode begins imports at nodes without the duties, also while the duties move: each
// is done, once.
func TestDuties_JobOfAnotherNode(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 3)
	keeps(s, func(in *servertest.Instance) []func(context.Context) {
		return []func(context.Context){in.Server.Jobs.Keep}
	})
	n := servertest.Size(250, 1000, 5000)
	var out people.ImportOut
	s.All[1].Upload("/admin/list-import", importFile("one", n), "owner").Data(&out)
	if out.Created != n || out.Job.State != store.JobDone {
		t.Errorf("%d created, %+v", out.Created, out.Job)
	}

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.All[2].Upload("/admin/list-import", importFile("two", n), "owner").Data(&out)
	}()
	moves := 0
	for holder := 0; ; holder = (holder + 1) % 3 {
		s.GiveDuties(holder)
		moves++
		select {
		case <-ended:
			if out.Created != n || out.Job.State != store.JobDone || out.Job.Done != int64(n) {
				t.Errorf("after %d moves: %d created, %+v", moves, out.Created, out.Job)
			}
			for _, in := range s.All {
				servertest.Until(t, "all users are everywhere", func() (all bool) {
					in.View(func(tx *store.Tx) error {
						users, err := store.Users.Count(tx)
						steps, stepErr := store.JobSteps.Count(tx)
						all = users == 1+2*n && steps == 0
						return errors.Join(err, stepErr)
					})
					return all
				})
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestDuties_LostPreparation leaves a job in preparation, as a node does that dies: it fails, and the
// node, if it lives, can't begin it any more.
func TestDuties_LostPreparation(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	var id store.ID
	s.All[1].Update(func(tx *store.Tx) error {
		j := &store.Job{Kind: people.UserRealm.ImportJob, State: store.JobPreparing, UserID: 1, Username: "admin"}
		err := store.Jobs.Create(tx, j)
		id = j.ID
		return err
	})
	state := func() (state string) {
		s.All[1].View(func(tx *store.Tx) error {
			j, err := store.Jobs.Get(tx, id)
			if err == nil {
				state = j.State
			}
			return err
		})
		return state
	}
	holder := s.All[0].Server.Jobs
	servertest.Until(t, "the holder has the job", func() (has bool) {
		s.All[0].View(func(tx *store.Tx) error {
			has = store.Jobs.Exists(tx, id)
			return nil
		})
		return has
	})
	servertest.Must(t, holder.Resume())
	holder.Running.Wait()
	if got := state(); got != store.JobPreparing {
		t.Errorf("a young job is %s", got)
	}
	holder.Lost = 0
	servertest.Must(t, holder.Resume())
	holder.Running.Wait()
	servertest.Until(t, "it has failed, as the other node knows", func() bool { return state() == store.JobFailed })
}

// TestDuties_Webhooks sends events of all nodes to a receiver while the duties move, and steers the
// webhook at a node that does not send.
func TestDuties_Webhooks(t *testing.T) {
	t.Parallel()
	allow, err := outgoing.ParseAllow("webhooks.allow", []string{"127.0.0.1"})
	servertest.Must(t, err)
	s := servertest.StartNodes(t, 3, func(su *servertest.Setup) { su.Config.WebhookAllow = allow })
	var mu sync.Mutex
	var names []string
	refuse := false
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var m struct{ Data struct{ Name string } }
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil || refuse {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		if !slices.Contains(names, m.Data.Name) { // what was sent in the last second can come again
			names = append(names, m.Data.Name)
		}
	}))
	defer receiver.Close()
	keeps(s, func(in *servertest.Instance) []func(context.Context) {
		in.Server.Sender.Backoff = func(int) time.Duration { return time.Hour }
		return []func(context.Context){in.Server.Streams.Run, in.Server.Sender.Run}
	})
	arrived := func(want int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(names) >= want
		}
	}
	c := &servertest.Traveller{Nodes: s, Token: s.All[0].Tokens["owner"], At: 1}
	var hook struct{ ID int }
	c.OK("POST", "/system/webhook", fmt.Sprintf(`{"url":%q,"types":["role.created"]}`, receiver.URL)).Data(&hook)
	n := 0
	create := func(count int) {
		for range count {
			n++
			c.OK("POST", "/admin/role", fmt.Sprintf(`{"name":"Role %d"}`, n))
		}
	}
	for _, holder := range []int{0, 2, 1, 0} {
		s.GiveDuties(holder)
		create(7)
	}
	servertest.Until(t, "all events have arrived", arrived(n))

	mu.Lock()
	refuse = true
	mu.Unlock()
	create(1)
	url := fmt.Sprint("/system/webhook/", hook.ID)
	servertest.Until(t, "the event is refused, as all nodes know", func() bool {
		for _, in := range s.All {
			var w struct{ Attempts int }
			in.OK("GET", url, "", "owner").Data(&w)
			if w.Attempts == 0 {
				return false
			}
		}
		return true
	})
	mu.Lock()
	refuse = false
	mu.Unlock()
	s.All[2].OK("POST", url+"/resume", `{}`, "owner") // the next attempt was in an hour
	servertest.Until(t, "it has arrived", arrived(n))
	for i, name := range names {
		if want := fmt.Sprint("Role ", i+1); name != want {
			t.Fatalf("event %d is %q, want %q: %q", i, name, want, names)
		}
	}
	s.All[1].OK("POST", url+"/replay", fmt.Sprintf(`{"from":%d}`, s.All[1].DB.LogFirst()), "owner")
	s.All[1].Call("POST", url+"/replay", `{"from":999999}`, "owner").Brief(422)
}

// TestDuties_BackupHealth asks nodes for the health of backups: only the one with the duties knows it.
func TestDuties_BackupHealth(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	for i, elsewhere := range []bool{false, true} {
		p := s.All[i].Server.Backups.Health()
		if got := strings.Contains(p.Message.String(), "the node with the duties"); got != elsewhere || elsewhere && p.State != web.Healthy {
			t.Errorf("node %d: %s: %s", i, p.State, p.Message.String())
		}
	}
}

// TestDuties_MailHealth lets mail fail at a node, and gives the duties to another one: what the first one has seen last
// is not the state of mail any more.
func TestDuties_MailHealth(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	in := s.All[0]
	in.TurnMailOn() // at a port where nothing listens
	in.Guest("ann", "ann@example.org")
	keeps(s, func(in *servertest.Instance) []func(context.Context) { return in.Server.Duties(in.Server.Outbox.Run) })
	in.OK("POST", "/admin/invite?ids=2", `{"send":1}`, "owner")
	servertest.Until(t, "the node that sends says that mail fails", func() bool {
		p := in.Server.Outbox.Health()
		return p.State == web.Degraded && strings.Contains(p.Message.String(), "can't be used")
	})
	s.GiveDuties(1)
	if p := in.Server.Outbox.Health(); p.State != web.Healthy {
		t.Errorf("a node without the duties: %s: %s", p.State, p.Message)
	}
}
