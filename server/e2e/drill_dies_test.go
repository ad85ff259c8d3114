package e2e

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store/etcd/etcdtest"
)

// strictly is how clients work that accept no error: what is refused is kept, and when a question of the test itself
// took etcd long, since a node is right to refuse then.
type strictly struct {
	t       *testing.T
	mu      sync.Mutex
	longest time.Duration // of the questions so far
	slow    []span        // of the questions that took long
	refused []strictFailure
}

type span struct{ begun, ended time.Time }

type strictFailure struct {
	at   time.Time // of the answer
	text string
}

const (
	slow  = 400 * time.Millisecond // time that a question to etcd takes on a machine on which nodes may lose contact
	after = 2 * time.Second        // time after such a question in which requests may be refused for it
)

// watch asks a member of etcd until over.
func (s *strictly) watch(member *etcdtest.Server, over *atomic.Bool) {
	for last := time.Now(); !over.Load(); time.Sleep(20 * time.Millisecond) {
		answered, now := proposes(member, 5*time.Second), time.Now()
		s.mu.Lock()
		if took := now.Sub(last); took > slow {
			s.slow = append(s.slow, span{last, now})
		} else if answered {
			s.longest = max(s.longest, took)
		}
		s.mu.Unlock()
		last = now
	}
}

// proposes reports whether a member of etcd makes a write in time.
func proposes(member *etcdtest.Server, within time.Duration) bool {
	text := base64.StdEncoding.EncodeToString([]byte("of the test"))
	client := http.Client{Timeout: within}
	resp, err := client.Post(member.URL+"/v3/kv/put", "application/json", strings.NewReader(object("key", text, "value", text)))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// accepts notes an answer that is none of success.
func (s *strictly) accepts(what string, a *answer, err error) {
	if err == nil && a.status == 200 {
		return
	}
	text := fmt.Sprintf("%s: %v", what, err)
	if err == nil {
		text = fmt.Sprintf("%s: %d %s", what, a.status, a.raw)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, strictFailure{time.Now(), text})
}

// unexcused returns the refusals at times at which etcd was not slow.
func (s *strictly) unexcused() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.refused {
		if !slices.ContainsFunc(s.slow, func(q span) bool { return !r.at.Before(q.begun) && r.at.Before(q.ended.Add(after)) }) {
			all = append(all, fmt.Sprintf("%s %s", r.at.Format("05.000"), r.text))
		}
	}
	return all
}

// check fails if anything was refused without a reason.
func (s *strictly) check() {
	s.t.Helper()
	if all := s.unexcused(); len(all) > 0 {
		s.t.Errorf("%d requests failed: %.2000s", len(all), strings.Join(all, "\n"))
	}
	s.t.Logf("%d requests failed; %d questions to etcd took more than %s, the longest other one %s", len(s.refused), len(s.slow), slow, s.longest)
}

// TestStrictly_Unexcused: a slow question to etcd excuses what was refused in its time, and nothing else.
func TestStrictly_Unexcused(t *testing.T) {
	now := time.Now()
	s := &strictly{t: t, slow: []span{{now, now.Add(slow)}}}
	for _, at := range []time.Duration{-slow, 0, slow, slow + after/2, slow + after} {
		s.refused = append(s.refused, strictFailure{now.Add(at), at.String()})
	}
	if all := s.unexcused(); len(all) != 2 || !strings.HasSuffix(all[0], (-slow).String()) || !strings.HasSuffix(all[1], (slow+after).String()) {
		t.Errorf("%q", all)
	}
}

// onDuty returns the number of the node that has the duties, as another one says; -1 if none has.
func (d *drill) onDuty(asked int) int {
	a, err := d.at(asked, d.token).do("GET", "/system/node", "")
	if err != nil || a.status != 200 {
		return -1
	}
	for _, node := range into[struct {
		Nodes []struct {
			Name   string
			Duties int
		}
	}](d.t, a).Nodes {
		for i, name := range d.names {
			if name == node.Name && node.Duties == 1 {
				return i
			}
		}
	}
	return -1
}

// follower is a client of event streams, which opens one at another node when its stream ends.
type follower struct {
	mu    sync.Mutex
	names []string // of dictionaries, in the order of their events
	moved int      // streams after the first
}

func (f *follower) seen() (names []string, moved int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append(names, f.names...), f.moved
}

// follows reads streams until the end of the test. opened is called when the first one is open.
func (f *follower) follows(d *drill, node int, opened func()) {
	last := ""
	for n := node; d.t.Context().Err() == nil; n++ {
		s, err := d.at(n, d.token).subscribe("/system/event?types=dict.*", last)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if last == "" {
			opened()
		} else {
			f.mu.Lock()
			f.moved++
			f.mu.Unlock()
		}
		stop := make(chan struct{})
		go func() {
			select {
			case <-d.t.Context().Done():
			case <-stop:
			}
			s.close()
		}()
		for last = s.last; ; last = s.last {
			ev, err := s.next()
			if err != nil {
				break
			}
			f.mu.Lock()
			f.names = append(f.names, ev.Name)
			f.mu.Unlock()
		}
		close(stop)
	}
}

// TestCluster_NodeDies kills the node with the duties while clients work at all nodes: at the others, each request
// succeeds. Mails, webhooks and event streams go on at another node, and lack nothing. Then the leader of etcd dies,
// and writes go on soon after etcd does.
func TestCluster_NodeDies(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c.prepare = func(_ string, cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, allowLocal, "REEVE_SERVER__PUBLIC_URL=https://reeve.example.org")
	}
	d := newDrill(c)
	office, hooks := newPostOffice(t), newReceiver(t)
	owner := d.at(0, d.token)
	owner.want(200, "PUT", "/system/setting", values("mail.enabled", true, "mail.host", "127.0.0.1",
		"mail.port", office.Addr().(*net.TCPAddr).Port, "mail.security", "none", "mail.from", "reeve@example.org"))
	owner.createWebhook(hooks, "dict.*")
	followers := []*follower{{}, {}, {}}
	var open sync.WaitGroup
	for i, f := range followers {
		open.Add(1)
		go f.follows(d, i, open.Done)
	}
	open.Wait()

	strict := &strictly{t: t}
	var dead atomic.Int64 // number of the node that is dead
	dead.Store(-1)
	var clients, watcher sync.WaitGroup
	var stopped atomic.Bool
	watcher.Go(func() { strict.watch(c.etcd[0], &stopped) })
	codes, mails := map[string]bool{}, []string{}
	at := func(i int, what string, request func(c *client) (*answer, error)) bool {
		if dead.Load() == int64(i) {
			time.Sleep(20 * time.Millisecond)
			return false
		}
		a, err := request(d.at(i, d.token))
		if dead.Load() != int64(i) {
			strict.accepts(fmt.Sprintf("%s at node %s", what, d.names[i]), a, err)
		}
		return err == nil && a.status == 200
	}
	for i := range 3 {
		clients.Go(func() {
			for n := 0; !d.over.Load(); n++ {
				code := fmt.Sprintf("dies-%d-%d", i, n)
				if at(i, "a write", func(c *client) (*answer, error) {
					return c.do("POST", "/system/dict", object("code", code, "name", code))
				}) {
					d.note(func() { codes[code] = true })
				}
				at(i, "a read", func(c *client) (*answer, error) {
					c.extra["Reeve-Read"] = "latest"
					return c.do("GET", "/admin/dept", "")
				})
				time.Sleep(20 * time.Millisecond)
			}
		})
		clients.Go(func() {
			for n := 0; !d.over.Load(); n++ {
				username := fmt.Sprintf("dies%d.%d", i, n)
				if at(i, "an invitation", func(c *client) (*answer, error) {
					return c.do("POST", "/admin/list", object("username", username, "email", username+"@example.org", "invite", "mail"))
				}) {
					d.note(func() { mails = append(mails, username+"@example.org") })
				}
				time.Sleep(250 * time.Millisecond)
			}
		})
	}
	time.Sleep(time.Second)
	victim := d.onDuty(1)
	if victim < 0 {
		t.Fatal("no node has the duties")
	}
	dead.Store(int64(victim))
	d.node(d.names[victim]).kill()
	begun := time.Now()
	eventually(t, "another node has the duties", func() bool {
		now := d.onDuty(victim + 1)
		return now >= 0 && now != victim
	})
	t.Logf("another node has the duties after %s", time.Since(begun))
	time.Sleep(time.Second / 2)
	d.restart(d.names[victim])
	dead.Store(-1)
	time.Sleep(time.Second / 2)
	d.over.Store(true)
	clients.Wait()
	stopped.Store(true)
	watcher.Wait()
	strict.check()

	eventually(t, "all mails arrive", func() bool {
		office.mu.Lock()
		defer office.mu.Unlock()
		all := strings.Join(office.messages, "\n")
		for _, address := range mails {
			if !strings.Contains(all, address) {
				return false
			}
		}
		return true
	})
	want := owner.at(&process{url: d.at(victim+1, "").base}).dictEntries(t)
	eventually(t, "all messages of the webhook arrive", func() bool {
		got, _ := hooks.arrived()
		has := map[uint64]bool{}
		for _, seq := range got {
			has[seq] = true
		}
		for _, seq := range want {
			if !has[seq] {
				return false
			}
		}
		return len(has) == len(want)
	})
	moved := 0
	for i, f := range followers {
		eventually(t, fmt.Sprintf("stream %d has all events", i), func() bool {
			names, _ := f.seen()
			return len(names) >= len(want)
		})
		names, n := f.seen()
		moved += n
		has := map[string]int{}
		for _, name := range names {
			has[name]++
		}
		for code := range codes {
			if has[code] != 1 {
				t.Errorf("stream %d has %d events of %s", i, has[code], code)
			}
		}
		if len(names) != len(want) {
			t.Errorf("stream %d has %d events of %d", i, len(names), len(want))
		}
	}
	if len(mails) < 10 || len(want) < 100 || moved == 0 {
		t.Errorf("only %d mails, %d changes, %d streams that moved", len(mails), len(want), moved)
	}
	_, twice := hooks.arrived()
	t.Logf("%d mails, %d arrived; %d changes, %d messages arrived; %d streams moved", len(mails), office.count(), len(want), twice, moved)
	d.losesLeader()
}

// losesLeader kills the leader of etcd while clients write at all nodes: writes go on at most three seconds after
// etcd itself does.
func (d *drill) losesLeader() {
	t := d.t
	t.Helper()
	leader := 0
	for i, member := range d.etcd {
		if member.Leads(t) {
			leader = i
		}
	}
	d.etcd[leader].Kill()
	begun := time.Now()
	elected := make(chan time.Duration, 1)
	go func() {
		for !proposes(d.etcd[(leader+1)%3], 200*time.Millisecond) && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		elected <- time.Since(begun)
	}()
	took := make([]time.Duration, 3)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			for n := 0; t.Context().Err() == nil && time.Since(begun) < patience; n++ {
				a, err := d.at(i, d.token).do("POST", "/admin/dept", object("name", fmt.Sprintf("without leader %d %d", i, n), "status", 1))
				if err == nil && a.status == 200 {
					took[i] = time.Since(begun)
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	all.Wait()
	raft := <-elected
	t.Logf("etcd has a leader after %s, nodes write after %s", raft, took)
	for i, name := range d.names {
		if took[i] == 0 || took[i] > raft+3*time.Second {
			t.Errorf("node %s writes %s after the leader of etcd died, etcd after %s", name, took[i], raft)
		}
	}
	d.etcd[leader].Restart(t)
	d.etcd[leader].Await(t)
}
