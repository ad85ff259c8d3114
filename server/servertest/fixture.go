package servertest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/kv"
)

// Fixture is a prepared instance. It is made once, by the first test that needs it; its data
// directory, of about one megabyte, is kept in memory, and each test gets a copy.
type Fixture struct {
	Prepare func(in *Instance) // makes it from an instance that StartNew has returned

	once     sync.Once
	files    map[string][]byte // by path in the data directory; nil if preparing has failed
	tokens   map[string]string
	names    int64 // see instance.last
	lastDump *dumpState
	made     time.Time
}

// fresh is what start copies.
var fresh = &Fixture{Prepare: func(*Instance) {}}

// Clone returns a copy of the fixture with a configuration. Its options must not be about how a
// database is created.
func (f *Fixture) Clone(t testing.TB, options ...func(*Setup)) *Instance {
	t.Helper()
	f.once.Do(func() { f.make(t) })
	if f.files == nil {
		t.Fatal("the fixture could not be prepared: see the first test that has failed")
	}

	dir := t.TempDir()
	for name, content := range f.files {
		path := filepath.Join(dir, name)
		Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		Must(t, os.WriteFile(path, content, 0o600))
	}

	in := Open(t, dir, options...)
	maps.Copy(in.Tokens, f.tokens)
	in.Last.Store(f.names)
	in.lastDump = f.lastDump
	if time.Since(f.made) > 20*time.Second { // the shortest proof lasts a minute
		in.prove()
	}
	return in
}

func (f *Fixture) make(t testing.TB) {
	t.Helper()
	in := StartNew(t)
	f.Prepare(in)
	f.made = time.Now()
	in.Dump()
	in.Close()
	files := map[string][]byte{}
	Must(t, fs.WalkDir(os.DirFS(in.Dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files[name], err = os.ReadFile(filepath.Join(in.Dir, name))
		}
		return err
	}))
	f.files, f.tokens, f.names, f.lastDump = files, in.Tokens, in.Last.Load(), in.lastDump
}

// builtAt is the earliest time at which a prepared directory can have been created.
var builtAt = time.Now()

// shapesNew reports whether an option changes how a database is created.
func shapesNew(options []func(*Setup)) bool {
	var su Setup
	for _, o := range options {
		o(&su)
	}
	return su.Seed != nil || su.Must || su.File != ""
}

// dumpedWithout has the records of collections with random fields, without these fields, by ID.
var dumpedWithout = map[string]func(t testing.TB, tx *store.Tx) map[store.ID]string{
	"webhook_secret": secretOwners, "webhook_state": webhookPositions, "key_secret": keysOfSecrets,
	"completed_request": callersOfCompleted, "link": linksWithoutTokens, "person_key": keyOwners,
	"used_value": kindsOfUsed,
}

// linksWithoutTokens returns the links without their tokens, which are random.
func linksWithoutTokens(t testing.TB, tx *store.Tx) map[store.ID]string {
	all := map[store.ID]string{}
	for l, err := range store.Links.All(tx) {
		Must(t, err)
		l.Tokens = nil
		all[l.ID] = string(EncodeJSON(t, l))
	}
	return all
}

// keyOwners returns whose each person key is. The keys are random.
func keyOwners(_ testing.TB, tx *store.Tx) map[store.ID]string {
	owners := map[store.ID]string{}
	for k, err := range store.PersonKeys.All(tx) {
		if err == nil {
			owners[k.ID] = fmt.Sprint(k.UserID, k.AppUserID)
		}
	}
	return owners
}

// secretOwners returns whose each webhook secret is, and whether there is a previous one. The
// secrets are random.
func secretOwners(_ testing.TB, tx *store.Tx) map[store.ID]string {
	owners := map[store.ID]string{}
	for s, err := range store.WebhookSecrets.All(tx) {
		if err == nil {
			owners[s.ID] = fmt.Sprint(s.WebhookID, s.PreviousUntil != 0)
		}
	}
	return owners
}

// keysOfSecrets returns which API key each secret belongs to, and whether it is the previous one.
// The secrets are random.
func keysOfSecrets(t testing.TB, tx *store.Tx) map[store.ID]string {
	owners := map[store.ID]string{}
	for s, err := range store.KeySecrets.All(tx) {
		Must(t, err)
		owners[s.ID] = fmt.Sprint(s.KeyID, s.ExpiresAt != 0)
	}
	return owners
}

// callersOfCompleted returns who has sent each completed request. The rest is random.
func callersOfCompleted(t testing.TB, tx *store.Tx) map[store.ID]string {
	callers := map[store.ID]string{}
	for r, err := range store.CompletedRequests.All(tx) {
		Must(t, err)
		callers[r.ID] = r.Caller
	}
	return callers
}

// kindsOfUsed returns the kind of each value that was used. The values are random.
func kindsOfUsed(t testing.TB, tx *store.Tx) map[store.ID]string {
	kinds := map[store.ID]string{}
	for v, err := range store.UsedValues.All(tx) {
		Must(t, err)
		kinds[v.ID] = v.Kind
	}
	return kinds
}

// webhookPositions returns the states of webhooks without the generation, which is random.
func webhookPositions(t testing.TB, tx *store.Tx) map[store.ID]string {
	all := map[store.ID]string{}
	for s, err := range store.WebhookStates.All(tx) {
		Must(t, err)
		s.Generation = ""
		all[s.ID] = string(EncodeJSON(t, s))
	}
	return all
}

// recordsOf returns the records of a collection as JSON, by ID.
func recordsOf(t testing.TB, tx *store.Tx, table kv.Table) map[store.ID]string {
	if without := dumpedWithout[table.Name()]; without != nil {
		return without(t, tx)
	}
	all := map[store.ID]string{}
	for v, err := range table.Records(tx) {
		Must(t, err)
		id := reflect.ValueOf(v).Elem().FieldByName("ID").Interface().(store.ID)
		all[id] = string(EncodeJSON(t, v))
	}
	return all
}

// dumpState is a dump with the totals of all collections at that time.
type dumpState struct {
	totals []kv.CollectionStats
	all    map[string]string
}

// Dump returns every record of the database as JSON, by "collection id". It decodes the records of
// a collection only if the checksums of the collection differ from those of the last dump.
func (in *Instance) Dump() map[string]string {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		totals := collectionStats(in.T, tx)
		if in.lastDump != nil && slices.Equal(in.lastDump.totals, totals) {
			return nil
		}
		all := map[string]string{}
		for _, table := range store.Tables() {
			for id, text := range recordsOf(in.T, tx, table) {
				all[fmt.Sprintf("%s %d", table.Name(), id)] = text
			}
		}
		in.lastDump = &dumpState{totals, all}
		return nil
	})
	return maps.Clone(in.lastDump.all)
}

// collectionStats returns the totals of all collections.
func collectionStats(t testing.TB, tx *store.Tx) []kv.CollectionStats {
	all, err := kv.Collections(tx)
	Must(t, err)
	return all
}
