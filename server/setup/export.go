package setup

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sort"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Exported are all objects, in the form of a file.
type Exported struct {
	Values map[string]any `json:"values" doc:"Tables of objects; see GET /setup.schema.json"`
}

// Tables returns the names of all tables.
func Tables() []string {
	all := []string{flagTable}
	for _, k := range kinds {
		if k.table != "" {
			all = append(all, k.table)
		}
	}
	return all
}

// defaults are the values that a new object has, besides 0, false and empty ones, by kind and field.
var defaults = map[string]object{
	"permission":     {"show": true, "status": true, "type": json.Number("2")},
	"app permission": {"status": true},
	"department":     {"status": true},
	"role":           {"status": true, "data_scope": "self"},
	"app role":       {"status": true},
	"dictionary":     {"status": true, "type": "default"},
	itemKind:         {"switch": true, "status": "default"},
	"custom field":   {},
	"webhook":        {"status": true},
	providerKind:     {"kind": "openid", "users": true, "creates": "never", "scopes": nil}, // those of scopes depend on the kind
	"API key":        {"status": true},
}

func export(tx *store.Tx, req *web.Request, _ *web.None) (*Exported, error) {
	if err := requireOwner(tx); err != nil {
		return nil, err
	}
	s, err := newState(tx, req.Server.Routes)
	if err != nil {
		return nil, err
	}
	if err := s.distinct(); err != nil {
		return nil, err
	}
	own, err := builtin(tx)
	if err != nil {
		return nil, err
	}

	values := map[string]any{}
	put := func(table, key string, value any) {
		rows, _ := values[table].(map[string]any)
		if rows == nil {
			rows = map[string]any{}
			values[table] = rows
		}
		rows[key] = value
	}
	for _, k := range kinds {
		for _, o := range s.kinds[k.name].byKey {
			if k.table == "" || s.skips(k, o, own) {
				continue
			}
			table, fields := s.exported(k, o)
			put(table, o.key, fields)
		}
	}
	return &Exported{values}, nil
}

// namedTwins is how many objects with the same name an error has.
const namedTwins = 10

// distinct returns an error that names objects which a file can't tell apart.
func (s *state) distinct() error {
	var twins []string
	for _, k := range kinds {
		for _, o := range s.kinds[k.name].byKey {
			if o.twins > 0 && k.table != "" {
				twins = append(twins, fmt.Sprintf("%s %q", k.table, o.key))
			}
		}
	}
	if len(twins) == 0 {
		return nil
	}
	sort.Strings(twins)
	if len(twins) > namedTwins {
		twins = append(twins[:namedTwins], "…")
	}
	return errs.New(errs.Invalid, "objects with the same name can't be told apart in a setup file: %s; rename them, or give equal departments a code",
		strings.Join(twins, ", ")).Coded("setup_same_names")
}

// exportMemory is what the export of a large installation takes while it is made, in bytes.
const exportMemory = 8 << 20

// exportFile sends all objects as a setup file.
func exportFile(req *web.Request, in *web.None, w http.ResponseWriter) error {
	if err := req.HoldAnswer(exportMemory); err != nil {
		return err
	}
	var all *Exported
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		all, err = export(tx, req, in)
		return err
	})
	if err != nil {
		return err
	}
	text, err := TOML(all.Values)
	if err == nil {
		err = req.HoldAnswer(len(text))
	}
	if err != nil {
		return err
	}

	h := w.Header()
	h.Set("Content-Type", "application/toml")
	h.Set("Content-Disposition", `attachment; filename="setup.toml"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)
	_, err = w.Write(text)
	return err
}

// skips reports whether an object is left out: what every installation has, the permissions of groups of
// settings, which come with the group, and API keys that have expired.
func (s *state) skips(k *kind, o *current, own map[string]bool) bool {
	switch k.name {
	case "permission":
		return own[o.key] || store.IsGroupPermission(o.key)
	case "role":
		return o.id == store.OwnerRole
	case "API key": // an expired one can't be created
		key, err := store.APIKeys.Get(s.tx, o.id)
		return err == nil && key.ExpiresAt <= s.tx.Now()
	case "setting group":
		return store.IsBuiltinGroup(o.key)
	case "setting":
		group, key := splitSetting(o.key)
		value, is := store.BuiltinDefault(group, key)
		return is && (sameValue(o.fields["value"], s.defaultOf(o, value)) ||
			o.fields["type"] == "secret" && !s.hasSecret(o.id))
	}
	return false
}

// defaultOf returns the default of a built-in setting as a file has it.
func (s *state) defaultOf(o *current, text string) any {
	kind, _ := o.fields["type"].(string)
	value, err := s.valueOf(&store.Setting{Type: kind, Values: text})
	if err != nil {
		return nil
	}
	return value
}

func (s *state) hasSecret(id store.ID) bool {
	text, err := store.SettingSecretText(s.tx, id)
	return err == nil && text != ""
}

// exported returns the table of an object, and its fields without those that a new one has anyway.
func (s *state) exported(k *kind, o *current) (table string, row map[string]any) {
	row = map[string]any{}
	for name, value := range o.fields {
		if usual, has := defaults[k.name][name]; has && !sameValue(value, usual) || !has && !isEmpty(value) {
			row[name] = value
		}
	}

	switch k.name {
	case "permission", "app permission":
		if row["parent"] = o.fields["parent"]; row["parent"] == parentKey(k.name, o.key) {
			delete(row, "parent")
		}
	case "dictionary":
		row["items"] = s.itemsOf(o.key)
	case "setting":
		group, key := splitSetting(o.key)
		if _, is := store.BuiltinDefault(group, key); is {
			return k.table, map[string]any{"value": o.fields["value"]}
		}
		if o.fields["type"] == "flag" {
			flag, _ := o.fields["value"].(map[string]any)
			delete(row, "value")
			delete(row, "type")
			maps.Copy(row, flag)
			return flagTable, row
		}
		row["type"] = o.fields["type"]
		row["value"] = o.fields["value"]
	case "API key", "webhook":
		row["secret_file"] = fileName(k.table + "-" + o.key)
	}
	return k.table, row
}

// fileName returns the name of a file for a text, with the characters that file names can have
// everywhere. A text that has others, or is long, gets a hash, so that two texts have two names.
func fileName(text string) string {
	const most = 60 // characters
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	if name != text || len(name) > most {
		name = fmt.Sprintf("%.*s-%.4x", most, name, sha256.Sum256([]byte(text)))
	}
	return name + ".secret"
}

// itemsOf returns the items of a dictionary in their order.
func (s *state) itemsOf(dict string) []any {
	type item struct {
		key string
		row map[string]any
	}
	items := []item{}
	for _, o := range s.kinds[itemKind].byKey {
		if code, value, _ := strings.Cut(o.key, "/"); code == dict {
			_, row := s.exported(kindOf(itemKind), o)
			row["value"] = value
			items = append(items, item{o.key, row})
		}
	}
	sort.Slice(items, func(i, j int) bool { return items[i].key < items[j].key })
	rows := []any{}
	for _, i := range items {
		rows = append(rows, i.row)
	}
	return rows
}

// isEmpty reports whether a value is 0, false or empty.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
