package setup

import (
	"maps"
	"slices"

	"reeve/auth"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
)

// SecretTable is a table of objects that get a secret when they are created. A file does not have
// the secret but names, as secret_file, the file that the command writes it to.
type SecretTable struct {
	Name string
	Kind string        // kind of the objects
	New  func() string // returns a new secret
}

// SecretTables returns the tables of objects with a secret.
func SecretTables() []SecretTable {
	return []SecretTable{
		{"keys", "API key", func() string { token, _, _ := auth.NewKey(); return token }},
		{"webhooks", "webhook", webhook.NewSecret},
	}
}

// EachSecret calls do for each object with a secret that is a table.
func (t *Text) EachSecret(do func(of SecretTable, key string, row map[string]any) error) error {
	for _, of := range SecretTables() {
		rows, _ := t.Values[of.Name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			if row, ok := rows[key].(map[string]any); ok {
				if err := do(of, key, row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkSecrets returns an error for a secret in the file itself, and for one whose file can't have
// it.
func (t *Text) checkSecrets() error {
	return t.EachSecret(func(of SecretTable, key string, row map[string]any) error {
		if _, sent := row["secret"]; sent {
			return errs.Field(errs.Invalid, of.Name+"."+key+".secret",
				"a secret must not be in the file; give secret_file, to which it is written")
		}
		if path, sent := row["secret_file"]; sent {
			if text, is := path.(string); !is || text == "" {
				return errs.Field(errs.Invalid, of.Name+"."+key+".secret_file", "must be the path of a file")
			}
		}
		return nil
	})
}

// Resolve replaces the references to secrets, {secret = "env:NAME"}, by the secrets that read
// returns, where a file can have them: values of settings, URLs of webhooks and client secrets of
// providers.
func (t *Text) Resolve(read func(reference string) (string, error)) error {
	for table, field := range map[string]string{"settings": "value", "webhooks": "url", "providers": "client_secret"} {
		rows, _ := t.Values[table].(map[string]any)
		for key, value := range rows {
			holder, name, at := rows, key, table+"."+key
			row, ok := value.(map[string]any)
			if _, is := secretOf(value); ok && !is {
				holder, name, at = row, field, at+"."+field
			}
			reference, is := secretOf(holder[name])
			if !is {
				continue
			}
			text, err := read(reference)
			if err != nil {
				return errs.Field(errs.Invalid, at, "%s", err)
			}
			holder[name] = map[string]any{"secret": text}
		}
	}
	return nil
}

// hasSecret reports whether objects of a kind get a secret when they are created.
func hasSecret(k *kind) bool {
	return slices.ContainsFunc(SecretTables(), func(of SecretTable) bool { return of.Kind == k.name })
}

// setKeySecret gives a new API key the secret that the command has written to a file.
func (r *runner) setKeySecret(w *wanted, id store.ID) error {
	token, _ := secretOf(w.Fields["secret"])
	hash, hint, ok := auth.KeyHash(token)
	if !ok {
		return errs.Field(errs.Invalid, "secret_file", "has no API key")
	}
	return store.RotateKeySecret(r.tx, id, hash, hint, 0)
}
