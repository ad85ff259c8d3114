package redis

import (
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

func TestLogin_Rejected(t *testing.T) {
	r := startServer(t)
	do(t, r.client(), "ACL SETUSER blind on >pw +ping", "ACL SETUSER half on >pw +info",
		"ACL SETUSER some on >pw +info +slowlog")
	for name, tc := range map[string]struct{ login, says string }{
		"no password":      {"", "NOAUTH "},
		"wrong password":   {":another@", "WRONGPASS "},
		"unknown user":     {"nobody:" + testPassword + "@", "WRONGPASS "},
		"not even INFO":    {"blind:pw@", "NOPERM "},
		"unknown database": {":" + testPassword + "@", "ERR DB index is out of range"},
	} {
		url := "redis://" + tc.login + r.addr
		if name == "unknown database" {
			url += "/99"
		}
		if got := newStepped(t, url).refused(); !strings.HasPrefix(got, tc.says) {
			t.Errorf("%s: %q, want %q", name, got, tc.says)
		}
	}

	s := newStepped(t, "redis://half:pw@"+r.addr)
	if all := s.polled(); len(all) != 1 || all[0].Info == nil ||
		all[0].Error != "it refuses SLOWLOG" {
		t.Errorf("a user with INFO alone: %+v", all)
	}

	do(t, r.client(), "ACL SETUSER half +slowlog")
	if all := s.polled(); len(eventsOf("slowlog", all)) != 0 || all[0].Error != "" {
		t.Errorf("what lies before SLOWLOG was permitted is told: %+v", all)
	}
	if all := s.polled(); len(eventsOf("slowlog", all)) == 0 {
		t.Errorf("nothing is told after SLOWLOG was permitted: %+v", all)
	}

	s = newStepped(t, "redis://some:pw@"+r.addr)
	s.polled()
	if all := s.polled(); len(eventsOf("slowlog", all)) == 0 || all[0].Error != "" {
		t.Errorf("a user with what is needed: %+v", all)
	}

	do(t, r.client(), "CONFIG SET maxclients 1")
	if got := newStepped(t, urlOf(r.addr)).refused(); got != "ERR max number of clients reached" {
		t.Errorf("too many clients: %q", got)
	}
}

func TestPoll_ChangesNothing(t *testing.T) {
	r := startServer(t)
	c := r.client()
	do(t, c, "SET k 1", "SLOWLOG RESET", "CONFIG RESETSTAT")
	s := newStepped(t, urlOf(r.addr)+"/2")
	for range 3 {
		s.polled()
	}

	stats, err := redis.String(c.Do("INFO", "COMMANDSTATS"))
	must(t, err)
	sent := map[string]bool{}
	for name := range parseInfo(stats) {
		sent[strings.TrimPrefix(name, "cmdstat_")] = true
	}

	for _, known := range []string{"auth", "select", "info", "slowlog|get", "config|resetstat"} {
		if !sent[known] {
			t.Errorf("%s is not counted: %v", known, sent)
		}
		delete(sent, known)
	}

	if len(sent) != 0 {
		t.Errorf("it also sends %v", sent)
	}
}
