package settings_test

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"

	"reeve/server/changes"
	"reeve/server/servertest"
	"reeve/server/settings"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// readsLogged returns the entries about secrets since an entry, each as "key group count".
func readsLogged(in *servertest.Instance, since uint64) (all []string) {
	in.T.Helper()
	for _, e := range in.EntriesSince(since) {
		if e.Action != changes.SecretsRead {
			continue
		}
		var d settings.SecretDetails
		servertest.Must(in.T, json.Unmarshal(e.Details, &d))
		if e.Actor.Kind != "key" || e.Operation.Route != "/config" || len(d.Settings) == 0 ||
			d.GroupID != groupID(in, d.Group) {
			in.T.Errorf("%+v %s", e.Actor, e.Details)
		}
		all = append(all, fmt.Sprint(e.Actor.ID, " ", d.Group, " ", d.Count))
	}
	return all
}

func TestSecretRead_Logged(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	in.Tokens["second"] = in.KeyOf(in.Clerk("other", "system.setting.read.a",
		"system.setting.secret.a", "system.setting.read.b", "system.setting.secret.b"),
		servertest.PersonalKey)

	since := in.NewestEntry()
	logged := func(what string, want ...string) {
		t.Helper()
		disktest.Equal(t, what, readsLogged(in, since), want)
		since = in.NewestEntry()
	}

	read := func(as, query string) { in.OK("GET", "/config"+query, "", as) }
	read("watcher", "")
	read("owner", "")
	logged("sessions")
	for range 5 {
		read("key", "?groups=a")
	}

	logged("the first read", "1 a 0")
	read("key", "?groups=open")
	r := in.Request("GET", "/config?groups=a", "", "key")
	r.Header.Set("If-None-Match", tagOf(in, "/config?groups=a", "key")) // the sixth
	if a := in.Send(r); a.Code != 304 {
		t.Fatalf("%d", a.Code)
	}

	read("second", "?groups=a")
	read("second", "")
	logged("another key", "2 a 0", "2 b 0")
	in.OK("PUT", "/system/setting", `{"values":{"a.token":"new"}}`, "owner")
	logged("a change")
	read("key", "?groups=a")
	logged("after the change", "1 a 0", "1 a 6")
	servertest.Must(t, in.Server.Reads.End(kv.TimeOf(in.Server.Started)))
	logged("before the end of the hour")
	servertest.Must(t, in.Server.Reads.End(math.MaxInt64))
	logged("the end", "2 a 2") // the others were single
	servertest.Must(t, in.Server.Reads.End(math.MaxInt64))
	logged("twice")
	read("key", "?groups=a")
	logged("in the next hour", "1 a 0")
}

// TestSecretRead_ConcurrentHaveOneEntry also checks that each read is counted.
func TestSecretRead_ConcurrentHaveOneEntry(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	since := in.NewestEntry()
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() { in.Call("GET", "/config?groups=a", "", "key").Brief(200, secretIn("a")) })
	}
	wg.Wait()
	disktest.Equal(t, "entries", readsLogged(in, since), []string{"1 a 0"})
	servertest.Must(t, in.Server.Reads.End(math.MaxInt64))
	disktest.Equal(t, "entries at the end", readsLogged(in, since), []string{"1 a 0", "1 a 40"})
}

// TestSecretRead_BeyondLimitLoggedEach: memory is bounded, and nothing is unlogged.
func TestSecretRead_BeyondLimitLoggedEach(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	in.Server.Reads.Limit = 0
	since := in.NewestEntry()
	for range 3 {
		in.OK("GET", "/config?groups=a", "", "key").Brief(200, secretIn("a"))
	}
	disktest.Equal(t, "entries", readsLogged(in, since), []string{"1 a 0", "1 a 0", "1 a 0"})
}
