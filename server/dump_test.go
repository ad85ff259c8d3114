package server

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"reeve/store"
)

// dumpedWithout has the records of collections with random fields, without these fields, by ID.
var dumpedWithout = map[string]func(t testing.TB, tx *store.Tx) map[store.ID]string{
	"webhook_secret": secretOwners, "webhook_state": webhookPositions, "key_secret": keysOfSecrets,
	"completed_request": callersOfCompleted, "link": linksWithoutTokens, "person_key": keyOwners,
}

// linksWithoutTokens returns the links without their tokens, which are random.
func linksWithoutTokens(t testing.TB, tx *store.Tx) map[store.ID]string {
	all := map[store.ID]string{}
	for l, err := range store.Links.All(tx) {
		must(t, err)
		l.Tokens = nil
		all[l.ID] = string(encodeJSON(t, l))
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

// secretOwners returns whose each webhook secret is, and whether there is a previous one. The secrets are
// random.
func secretOwners(_ testing.TB, tx *store.Tx) map[store.ID]string {
	owners := map[store.ID]string{}
	for s, err := range store.WebhookSecrets.All(tx) {
		if err == nil {
			owners[s.ID] = fmt.Sprint(s.WebhookID, s.PreviousUntil != 0)
		}
	}
	return owners
}

// keysOfSecrets returns which API key each secret belongs to, and whether it is the previous one. The
// secrets are random.
func keysOfSecrets(t testing.TB, tx *store.Tx) map[store.ID]string {
	owners := map[store.ID]string{}
	for s, err := range store.KeySecrets.All(tx) {
		must(t, err)
		owners[s.ID] = fmt.Sprint(s.KeyID, s.ExpiresAt != 0)
	}
	return owners
}

// callersOfCompleted returns who has sent each completed request. The rest is random.
func callersOfCompleted(t testing.TB, tx *store.Tx) map[store.ID]string {
	callers := map[store.ID]string{}
	for r, err := range store.CompletedRequests.All(tx) {
		must(t, err)
		callers[r.ID] = r.Caller
	}
	return callers
}

// webhookPositions returns the states of webhooks without the generation, which is random.
func webhookPositions(t testing.TB, tx *store.Tx) map[store.ID]string {
	all := map[store.ID]string{}
	for s, err := range store.WebhookStates.All(tx) {
		must(t, err)
		s.Generation = ""
		all[s.ID] = string(encodeJSON(t, s))
	}
	return all
}

// recordsOf returns the records of a collection as JSON, by ID.
func recordsOf(t testing.TB, tx *store.Tx, table store.Table) map[store.ID]string {
	if without := dumpedWithout[table.Name()]; without != nil {
		return without(t, tx)
	}
	all := map[store.ID]string{}
	for v, err := range table.Records(tx) {
		must(t, err)
		id := reflect.ValueOf(v).Elem().FieldByName("ID").Interface().(store.ID)
		all[id] = string(encodeJSON(t, v))
	}
	return all
}

// dumpState is a dump with the totals of all collections at that time.
type dumpState struct {
	totals []store.CollectionStats
	all    map[string]string
}

// dump returns every record of the database as JSON, by "collection id". It decodes the records of
// a collection only if the checksums of the collection differ from those of the last dump.
func (in *instance) dump() map[string]string {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		totals := collectionStats(in.t, tx)
		if in.lastDump != nil && slices.Equal(in.lastDump.totals, totals) {
			return nil
		}
		all := map[string]string{}
		for _, table := range store.Tables() {
			for id, text := range recordsOf(in.t, tx, table) {
				all[fmt.Sprintf("%s %d", table.Name(), id)] = text
			}
		}
		in.lastDump = &dumpState{totals, all}
		return nil
	})
	return maps.Clone(in.lastDump.all)
}

// collectionStats returns the totals of all collections.
func collectionStats(t testing.TB, tx *store.Tx) []store.CollectionStats {
	all, err := store.Collections(tx)
	must(t, err)
	return all
}
