package server

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"

	"reeve/server/changes"
	"reeve/server/settings"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// readsLogged returns the entries about secrets since an entry, each as "key group count".
func (in *instance) readsLogged(since uint64) (all []string) {
	in.t.Helper()
	for _, e := range in.entriesSince(since) {
		if e.Action != changes.SecretsRead {
			continue
		}
		var d settings.SecretDetails
		must(in.t, json.Unmarshal(e.Details, &d))
		if e.Actor.Kind != "key" || e.Operation.Route != "/config" || len(d.Settings) == 0 || d.GroupID != in.groupID(d.Group) {
			in.t.Errorf("%+v %s", e.Actor, e.Details)
		}
		all = append(all, fmt.Sprint(e.Actor.ID, " ", d.Group, " ", d.Count))
	}
	return all
}

func TestSecretRead_Logged(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.withSecrets()
	in.tokens["second"] = in.keyOf(in.clerk("other", "system.setting.read.a", "system.setting.secret.a", "system.setting.read.b", "system.setting.secret.b"), personalKey)
	since := in.newestEntry()
	logged := func(what string, want ...string) {
		t.Helper()
		disktest.Equal(t, what, in.readsLogged(since), want)
		since = in.newestEntry()
	}
	read := func(as, query string) { in.ok("GET", "/config"+query, "", as) }
	read("watcher", "")
	read("owner", "")
	logged("sessions")
	for range 5 {
		read("key", "?groups=a")
	}
	logged("the first read", "1 a 0")
	read("key", "?groups=open")
	r := in.request("GET", "/config?groups=a", "", "key")
	r.Header.Set("If-None-Match", in.tagOf("/config?groups=a", "key")) // the sixth
	if a := in.send(r); a.Code != 304 {
		t.Fatalf("%d", a.Code)
	}
	read("second", "?groups=a")
	read("second", "")
	logged("another key", "2 a 0", "2 b 0")
	in.ok("PUT", "/system/setting", `{"values":{"a.token":"new"}}`, "owner")
	logged("a change")
	read("key", "?groups=a")
	logged("after the change", "1 a 0", "1 a 6")
	must(t, in.server.reads.End(store.TimeOf(in.server.Started)))
	logged("before the end of the hour")
	must(t, in.server.reads.End(math.MaxInt64))
	logged("the end", "2 a 2") // the others were single
	must(t, in.server.reads.End(math.MaxInt64))
	logged("twice")
	read("key", "?groups=a")
	logged("in the next hour", "1 a 0")
}

// TestSecretRead_ConcurrentHaveOneEntry also checks that each read is counted.
func TestSecretRead_ConcurrentHaveOneEntry(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.withSecrets()
	since := in.newestEntry()
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() { in.call("GET", "/config?groups=a", "", "key").brief(200, secretIn("a")) })
	}
	wg.Wait()
	disktest.Equal(t, "entries", in.readsLogged(since), []string{"1 a 0"})
	must(t, in.server.reads.End(math.MaxInt64))
	disktest.Equal(t, "entries at the end", in.readsLogged(since), []string{"1 a 0", "1 a 40"})
}

// TestSecretRead_BeyondLimitLoggedEach: memory is bounded, and nothing is unlogged.
func TestSecretRead_BeyondLimitLoggedEach(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.withSecrets()
	in.server.reads.Limit = 0
	since := in.newestEntry()
	for range 3 {
		in.ok("GET", "/config?groups=a", "", "key").brief(200, secretIn("a"))
	}
	disktest.Equal(t, "entries", in.readsLogged(since), []string{"1 a 0", "1 a 0", "1 a 0"})
}
