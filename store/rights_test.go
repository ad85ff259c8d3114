package store

import (
	"slices"
	"testing"

	"reeve/store/kv"
)

// noRights are the collections whose records give no rights, or whose changes and deletions take
// nothing away.
var noRights = []kv.Table{
	Installs, Devices, LoginLogs, DictItems, FileGroups, Avatars, Jobs, JobSteps, CustomFields, SetupMarks, Mails,
	PersonKeys, Erasures, // an erasure deletes the rows that let in
	Webhooks, WebhookSecrets, WebhookStates, // only the node with the duties sends
	CompletedRequests, UsedValues, Unlocks, // deleted when they have expired
	Views, ViewDefaults, // how lists are shown, without their rows
	kv.Objects, kv.ContentKeys,
}

// TestRights_AreDeclared: each collection is said to give rights, or not to.
func TestRights_AreDeclared(t *testing.T) {
	for _, table := range reeve.Tables {
		gives := table.(interface{ GivesRights() bool }).GivesRights()
		if gives == slices.Contains(noRights, table) {
			t.Errorf("%s is in both of store/rights.go and noRights, or in none", table.Name())
		}
	}
}
