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
		err := applyBack(tx, &step)
		if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyBack applies a step of an inverse. A setting is set as it was, without its secret: the steps
// with it have that.
func applyBack(tx *store.Tx, step *store.UndoStep) error {
	if step.Collection == store.Settings.Name() && step.Operation == "update" {
		return store.Settings.SetFields(tx, step.ID, step.Fields)
	}
	return step.Apply(tx)
}

// reversal returns the step that gives a record the fields that it had.
func reversal(k *kind, id store.ID, before, after kv.Fields) store.UndoStep {
	step := store.UndoStep{Collection: k.records.Name(), ID: id, Operation: "update", Fields: kv.Fields{}}
	for name, value := range before {
		if string(after[name]) != string(value) && name != "version" && name != "updated_at" {
			step.Fields[name] = value
		}
	}
	return step
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
// secrets of a setting, an API key, a webhook or a provider, and how far the webhook has come.
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
	case providerKind, "setting":
		table, of := secretTable(k)
		ids, failed := of.IDs(tx, id)
		add(table, ids, failed)
	case "API key":
		ids, failed := store.SecretByKey.IDs(tx, id)
		add(store.KeySecrets, ids, failed)
	}
	return steps, err
}

// secretTable returns the table of the secrets that an update of a setting or a provider can replace,
// and the index of it; nil for other kinds.
func secretTable(k *kind) (kv.Table, interface {
	IDs(*store.Tx, store.ID) ([]store.ID, error)
}) {
	switch k.name {
	case "setting":
		return store.SettingSecrets, store.SecretBySetting
	case providerKind:
		return store.ProviderSecrets, store.SecretByProvider
	}
	return nil, nil
}

// secretBack returns steps that give a setting or a provider the secret that it had. before has what
// depended on it then.
func secretBack(tx *store.Tx, k *kind, id store.ID, before []store.UndoStep) (steps []store.UndoStep, err error) {
	table, of := secretTable(k)
	if table == nil {
		return nil, nil
	}
	now, err := of.IDs(tx, id)
	had := slices.DeleteFunc(slices.Clone(before), func(s store.UndoStep) bool {
		return s.Collection != table.Name()
	})
	if len(had) == len(now) && (len(now) == 0 || had[0].ID == now[0]) {
		return nil, err
	}
	for _, id := range now {
		steps = append(steps, store.UndoStep{Collection: table.Name(), ID: id, Operation: "delete"})
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
