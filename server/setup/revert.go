package setup

import (
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// inverse reverts one change of a record.
type inverse struct {
	store.UndoStep
	With    []store.UndoStep   `json:"with,omitempty"`    // reverts what was changed with the record: its mark and secrets
	Deleted []kv.TrackedChange `json:"deleted,omitempty"` // changes of a deletion, with all that it brought about; takes the place of the steps
}

// apply reverts the change, unless the record can't be as it was any more.
func (i *inverse) apply(tx *store.Tx) error {
	if len(i.Deleted) > 0 {
		return tx.Revert(i.Deleted)
	}
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

// secretTable returns the table of the secrets that an update of an object can replace, and the index
// of it; nil for kinds without one.
func secretTable(k *kind) (kv.Table, interface {
	IDs(*store.Tx, store.ID) ([]store.ID, error)
}) {
	switch k.name {
	case "setting":
		return store.SettingSecrets, store.SecretBySetting
	case providerKind:
		return store.ProviderSecrets, store.SecretByProvider
	case "webhook":
		return store.WebhookSecrets, store.SecretByWebhook
	}
	return nil, nil
}

// secretSteps returns steps that create the secrets that an object has now.
func secretSteps(tx *store.Tx, k *kind, id store.ID) (steps []store.UndoStep, err error) {
	table, of := secretTable(k)
	if table == nil {
		return nil, nil
	}
	ids, err := of.IDs(tx, id)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		fields, err := table.FieldsOf(tx, id)
		if err != nil {
			return nil, err
		}
		steps = append(steps, store.UndoStep{Collection: table.Name(), ID: id, Operation: "create", Fields: fields})
	}
	return steps, nil
}

// secretBack returns steps that give an object the secret that it had, which before creates.
func secretBack(tx *store.Tx, k *kind, id store.ID, before []store.UndoStep) (steps []store.UndoStep, err error) {
	table, of := secretTable(k)
	if table == nil {
		return nil, nil
	}
	now, err := of.IDs(tx, id)
	if len(before) == len(now) && (len(now) == 0 || before[0].ID == now[0]) {
		return nil, err
	}
	for _, id := range now {
		steps = append(steps, store.UndoStep{Collection: table.Name(), ID: id, Operation: "delete"})
	}
	return append(steps, before...), err
}

// keepSecret gives a webhook back the secret that it had before its URL was changed: the file of the
// secret has it, and no one would learn a new one.
func keepSecret(tx *store.Tx, before []store.UndoStep) error {
	if len(before) == 0 {
		return nil
	}
	return store.WebhookSecrets.SetFields(tx, before[0].ID, before[0].Fields)
}
