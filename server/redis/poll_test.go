package redis

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/google/go-cmp/cmp"
)

func TestPoll_FiguresAndCommands(t *testing.T) {
	r := startServer(t)
	c := r.client()
	do(t, c, "SET before 1", "GET before", "CONFIG SET maxmemory 64mb")
	s := newStepped(t, urlOf(r.addr))
	first := s.polled()
	if len(first) != 1 || first[0].Type != "info" || first[0].Info.HitRate != nil ||
		first[0].Info.ExpiredKeys != 0 {
		t.Fatalf("the first poll gives more than figures: %+v", first)
	}
	if first[0].Connection != "it" || first[0].At == 0 {
		t.Errorf("%+v", first[0])
	}

	do(t, c, "GET before", "GET nothing", "GET none", "GET no", "SET gone 1 PX 1", "SELECT 3",
		"SET a 1", "SET b 1", "SELECT 0")
	for n := 1; n > 0; { // reading the key makes it expire once its millisecond has passed
		var err error
		n, err = redis.Int(c.Do("EXISTS", "gone"))
		must(t, err)
	}

	all := s.polled()
	info := *eventsOf("info", all)[0].Info
	if info.Version == "" || info.UsedMemory < 100_000 || info.HitRate == nil ||
		info.ConnectedClients < 2 {
		t.Errorf("%+v", info)
	}
	// EXISTS counts as a read, so the rate is only bounded by the four GETs.
	if rate := *info.HitRate; rate <= 0 || rate >= 1 {
		t.Errorf("hit rate %v", rate)
	}

	info.Version, info.UsedMemory, info.HitRate, info.ConnectedClients, info.OpsPerSecond, info.UptimeSeconds = "", 0, nil, 0, 0, 0
	if diff := cmp.Diff(Info{
		Role:        "master",
		MaxMemory:   64 << 20,
		ExpiredKeys: 1,
		Keys:        map[string]int64{"db0": 1, "db3": 2},
	}, info); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}

	calls := map[string]int64{}
	for i, e := range eventsOf("command", all) {
		calls[e.Command] = e.Calls
		if e.UsecPerCall != float64(e.Usec)/float64(e.Calls) ||
			i > 0 && e.Usec > eventsOf("command", all)[i-1].Usec {
			t.Errorf("%d: %+v", i, e)
		}
	}

	if calls["GET"] != 4 || calls["SET"] != 3 || calls["SELECT"] != 2 || calls["CONFIG SET"] != 0 {
		t.Errorf("calls since the last poll: %v", calls)
	}

	do(t, c, "CONFIG RESETSTAT", "GET before")
	all = s.polled()
	if rate := eventsOf("info", all)[0].Info.HitRate; rate == nil || *rate != 1 {
		t.Errorf("the hit rate of one hit after the counts were set back is %v", rate)
	}

	for _, e := range eventsOf("command", all) {
		if e.Command == "GET" && e.Calls != 1 {
			t.Errorf("after the counts were set back: %+v", e)
		}
	}
}

func TestPoll_CostliestCommandsOnly(t *testing.T) {
	r := startServer(t)
	c := r.client()
	s := newStepped(t, urlOf(r.addr))
	s.polled()
	do(t, c, "LPUSH l 1", "SADD s 1", "ZADD z 1 m", "HSET h f 1", "XADD x * f 1", "SETBIT b 1 1",
		"PFADD p 1", "GET k", "SET k 1", "DEL k",
		"LLEN l", "SCARD s", "ZCARD z", "HLEN h", "XLEN x", "GETBIT b 1", "PFCOUNT p", "TTL k",
		"TYPE k", "EXISTS k", "APPEND k 1", "STRLEN k", "PING", "DBSIZE")
	if n := len(eventsOf("command", s.polled())); n != maxTop {
		t.Errorf("%d commands, want %d", n, maxTop)
	}
}

func TestSlowLog_CommandAndKeyOnly(t *testing.T) {
	r := startServer(t)
	c, err := redis.Dial("tcp", r.addr, redis.DialPassword(testPassword))
	must(t, err)
	defer c.Close()
	s := newStepped(t, urlOf(r.addr))
	do(t, c, "GET before")
	if all := eventsOf("slowlog", s.polled()); len(all) != 0 {
		t.Errorf("the first poll has entries: %+v", all)
	}

	do(t, c, "CLIENT SETNAME here", "SET colour canary-value", "GET colour",
		"EVAL return'canary-script' 1 canary-key", "ECHO canary-echo",
		"AUTH default "+testPassword, "HELLO 2 AUTH default "+testPassword,
		"CONFIG SET masterauth canary-config", "ACL SETUSER bob >canary-acl",
		"PUBLISH canary-channel canary-message", "CLIENT SETNAME canary-name",
		"SET "+testPassword+" 1", "HSET user:1 canary-field 1",
		"LPUSH "+strings.Repeat("k", 300)+" 1")
	if _, err := c.Do("GETRANGE", "line\nbreak\x00\xff", "0", "1"); err != nil {
		t.Fatal(err)
	}

	all := s.polled()
	encoded, err := json.Marshal(all)
	must(t, err)
	if strings.Contains(string(encoded), "canary") {
		t.Errorf("more than the key is in: %s", encoded)
	}

	client, err := redis.String(c.Do("CLIENT", "INFO"))
	must(t, err)
	_, client, _ = strings.Cut(client, " addr=")
	client, _, _ = strings.Cut(client, " ")
	var got []string
	for _, e := range eventsOf("slowlog", all) {
		if e.Client == client {
			got = append(got, strings.TrimRight(e.Command+" "+e.Key, " "))
		}
		if e.DurationMS <= 0 && e.Command == "EVAL" ||
			e.ExecutedAt.Std().Before(time.Now().Add(-time.Minute)) ||
			e.ExecutedAt.Std().After(time.Now().Add(time.Minute)) {
			t.Errorf("%+v", e)
		}
	}

	want := []string{"CLIENT", "SET colour", "GET colour", "EVAL", "ECHO", "AUTH", "HELLO",
		"CONFIG", "ACL", "PUBLISH", "CLIENT", "SET ******", "HSET user:1",
		"LPUSH " + strings.Repeat("k", 128), "GETRANGE line\uFFFDbreak\uFFFD\uFFFD"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}

	do(t, c, "GET after")
	got = nil
	for _, e := range eventsOf("slowlog", s.polled()) {
		if e.Client == client {
			got = append(got, e.Command+" "+e.Key)
		}
	}

	if diff := cmp.Diff([]string{"CLIENT ", "GET after"}, got); diff != "" {
		t.Errorf("the next poll, - want, + got:\n%s", diff)
	}
}

func TestPoll_RestartCountsFromZero(t *testing.T) {
	r := startServer(t)
	s := newStepped(t, urlOf(r.addr))
	c := r.client()
	for range 10 {
		do(t, c, "GET k")
	}

	s.polled()
	r.stop()
	if !r.start() {
		t.Fatal("the server does not start again")
	}

	do(t, r.client(), "GET again")
	all := s.polled()
	if down := eventsOf("state", all); len(down) != 0 {
		t.Errorf("it counts as down though it is there: %+v", down)
	}

	var calls int64
	for _, e := range eventsOf("command", all) {
		if e.Command == "GET" {
			calls = e.Calls
		}
	}

	slow := 0
	for _, e := range eventsOf("slowlog", all) {
		if e.Key == "again" {
			slow++
		}
	}

	if calls != 1 || slow != 1 {
		t.Errorf("%d calls and %d slow ones of one: %+v", calls, slow, all)
	}
}

func TestPoll_DownAndUp(t *testing.T) {
	r := startServer(t)
	p := newTestPoller(t, "cache="+urlOf(r.addr))
	p.every = time.Millisecond
	w := runPoller(t, p)
	w.next("cache", "info")
	r.stop()
	down := w.next("cache", "state")
	if down.State != "down" || down.Error == "" {
		t.Errorf("%+v", down)
	}
	if !r.start() {
		t.Fatal("the server does not start again")
	}
	// Many polls have failed by now; only the next state change is reported.
	if up := w.next("cache", "state"); up.State != "up" || up.Error != "" {
		t.Errorf("%+v", up)
	}

	w.next("cache", "info")
}

func TestPoll_DownReportedRepeatedly(t *testing.T) {
	p := newTestPoller(t, "cache="+urlOf(fakeRedis(t, func(net.Conn) {})))
	p.every, p.downEvery = time.Millisecond, 5*time.Millisecond
	w := runPoller(t, p)
	var last Event
	for i := range 3 {
		e := w.next("cache", "state")
		if e.State != "down" || e.Error == "" || i > 0 && e.At < last.At.Add(5*time.Millisecond) {
			t.Errorf("%d: %+v", i, e)
		}
		last = e
	}
}
