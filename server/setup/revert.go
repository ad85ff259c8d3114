package setup

import (
	"cmp"
	"slices"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// inverse reverts one change of a record.
type inverse struct {
	store.UndoStep
	With []store.UndoStep `json:"with,omitempty"` // reverts what was changed with the record: its mark and secrets
}

// apply reverts the change, unless the record can't be as it was any more.
func (i *inverse) apply(tx *store.Tx) error {
	for _, step := range append([]store.UndoStep{i.UndoStep}, i.With...) {
		err := step.Apply(tx)
		if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recreation returns the step that brings back a deleted record. A custom field is only marked as
// deleted until its values are removed.
func recreation(k *kind, id store.ID, before kv.Fields) store.UndoStep {
	step := store.UndoStep{Collection: k.records.Name(), ID: id, Operation: "create", Fields: before}
	if k.name == "custom field" {
		step.Operation, step.Fields = "update", kv.Fields{"deleted": before["deleted"]}
	}
	return step
}

// dependents returns steps that create what the deletion of a record deletes with it: its mark, the
// secrets of an API key, a webhook or a provider, and how far the webhook has come.
func dependents(tx *store.Tx, k *kind, id store.ID) (steps []store.UndoStep, err error) {
	add := func(table kv.Table, ids []store.ID, failed error) {
		if err = cmp.Or(err, failed); err != nil {
			return
		}
		for _, id := range ids {
			var fields kv.Fields
			if fields, err = table.FieldsOf(tx, id); err != nil {
				return
			}
			steps = append(steps, store.UndoStep{Collection: table.Name(), ID: id, Operation: "create", Fields: fields})
		}
	}
	mark, err := store.SetupMarkOf(tx, k.name, id)
	if mark != 0 {
		add(store.SetupMarks, []store.ID{mark}, nil)
	}
	switch k.name {
	case "webhook":
		ids, failed := store.SecretByWebhook.IDs(tx, id)
		add(store.WebhookSecrets, ids, failed)
		ids, failed = store.StateByWebhook.IDs(tx, id)
		add(store.WebhookStates, ids, failed)
	case providerKind:
		ids, failed := store.SecretByProvider.IDs(tx, id)
		add(store.ProviderSecrets, ids, failed)
	case "API key":
		ids, failed := store.SecretByKey.IDs(tx, id)
		add(store.KeySecrets, ids, failed)
	}
	return steps, err
}

// secretBack returns steps that give a provider the client secret that it had. before has what depended
// on the provider then.
func secretBack(tx *store.Tx, k *kind, id store.ID, before []store.UndoStep) (steps []store.UndoStep, err error) {
	if k.name != providerKind {
		return nil, nil
	}
	now, err := store.SecretByProvider.IDs(tx, id)
	had := slices.DeleteFunc(slices.Clone(before), func(s store.UndoStep) bool {
		return s.Collection != store.ProviderSecrets.Name()
	})
	if len(had) == len(now) && (len(now) == 0 || had[0].ID == now[0]) {
		return nil, err
	}
	for _, id := range now {
		steps = append(steps, store.UndoStep{Collection: store.ProviderSecrets.Name(), ID: id, Operation: "delete"})
	}
	return append(steps, had...), err
}

// keepSecret gives a webhook back the secret that it had before its URL was changed: the file of the
// secret has it, and no one would learn a new one.
func keepSecret(tx *store.Tx, before []store.UndoStep) error {
	i := slices.IndexFunc(before, func(s store.UndoStep) bool { return s.Collection == store.WebhookSecrets.Name() })
	if i < 0 {
		return nil
	}
	return store.WebhookSecrets.SetFields(tx, before[i].ID, before[i].Fields)
}
