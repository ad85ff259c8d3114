package setup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// wanted is an object as the files want it.
type wanted struct {
	Kind   string `json:"kind"`
	Key    string `json:"key"`
	Owner  string `json:"owner"` // name of the file
	Fields object `json:"fields"`
	At     string `json:"at"` // place in the file
}

// reader reads files.
type reader struct {
	s      *state
	owner  string // name of the file that is read
	prefix string // begins places, if there are several files
	all    []*wanted
	known  map[string]*wanted  // objects by kind and folded key
	ids    map[string]bool     // existing objects among them, by kind and ID
	whole  map[string]bool     // dictionaries whose items are listed, by code
	fields map[string][]string // fields that files can have, by kind
	hints  int                 // number of unknown names for which the nearest known one was looked for
	faults errs.Faults

	checkValues bool // see newPlan
}

// flagTable is the table of feature flags, which are settings.
const flagTable = "flags"

// read returns the objects of the files.
func (s *state) read(in *filesIn) (*reader, error) {
	r := &reader{s: s, known: map[string]*wanted{}, ids: map[string]bool{}, whole: map[string]bool{}, fields: map[string][]string{},
		faults: errs.Faults{}}
	for _, file := range in.Files {
		if r.owner = file.Name; len(in.Files) > 1 {
			r.prefix = file.Name + ": "
		}
		for _, table := range slices.Sorted(maps.Keys(file.Values)) {
			r.table(table, file.Values[table])
		}
	}
	r.addParents()
	s.planned = r.has
	return r, r.faults.Err(errs.Invalid)
}

func (r *reader) table(name string, value any) {
	at := r.prefix + name
	rows, ok := value.(map[string]any)
	if !ok {
		r.faults.Add(at, "must be a table")
		return
	}
	if name == flagTable {
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			r.flag(key, rows[key], at+"."+key)
		}
		return
	}

	i := slices.IndexFunc(kinds, func(k *kind) bool { return k.table == name })
	if i < 0 || name == "" {
		if near := r.nearest(name, tables()); near != "" {
			r.faults.Add(at, "unknown table; did you mean %s?", near)
		} else {
			r.faults.Add(at, "unknown table")
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		r.row(kinds[i], key, rows[key], at+"."+key)
	}
}

// row reads an object of a table.
func (r *reader) row(k *kind, key string, value any, at string) {
	fields, ok := value.(map[string]any)
	_, secret := secretOf(value)
	switch {
	case (!ok || secret) && k.short != "":
		fields = map[string]any{k.short: value}
	case !ok:
		r.faults.Add(at, "must be a table")
		return
	}

	fields = maps.Clone(fields)
	if k.name == "dictionary" {
		r.items(key, fields, at)
	}
	r.add(k, key, fields, at)
}

// items reads the items of a dictionary, which are complete if there are any.
func (r *reader) items(dict string, fields map[string]any, at string) {
	value, sent := fields["items"]
	if !sent {
		return
	}
	delete(fields, "items")
	r.whole[dict] = true
	list, ok := value.([]any)
	if !ok {
		r.faults.Add(at+".items", "must be an array")
		return
	}
	for _, element := range list {
		item, ok := element.(map[string]any)
		if text, short := element.(string); short {
			item, ok = map[string]any{"value": text, "label": text}, true
		}
		text, named := item["value"].(string)
		if !ok || !named {
			r.faults.Add(at+".items", "must have a text or a table with a value in each place")
			return
		}
		item = maps.Clone(item)
		delete(item, "value")
		r.add(kindOf(itemKind), itemKey(dict, text), item, at+".items."+text)
	}
}

// flag reads a feature flag: a table, or true or false for a flag with the variants on and off.
func (r *reader) flag(key string, value any, at string) {
	fields, ok := value.(map[string]any)
	if enabled, short := value.(bool); short {
		fields, ok = map[string]any{"enabled": enabled, "default": "on"}, true
	}
	if !ok {
		r.faults.Add(at, "must be a table, true or false")
		return
	}

	setting, flag := object{"type": "flag"}, map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		if known := slices.Sorted(maps.Keys(flagFields())); !slices.Contains(known, name) {
			r.unknown(at+"."+name, name, known)
		} else if slices.Contains([]string{"title", "describe", "sort"}, name) {
			setting[name] = value
		} else {
			flag[name] = value
		}
	}
	setting["value"] = r.s.wholeFlag(key, flag)
	r.add(kindOf("setting"), key, setting, at)
}

// wholeFlag returns the value of a flag with the fields that a file leaves out: those of the flag
// that exists, or of a boolean one.
func (s *state) wholeFlag(key string, given map[string]any) map[string]any {
	whole := map[string]any{
		"enabled":  false,
		"variants": map[string]any{"on": true, "off": false},
		"default":  "off",
	}
	if had := s.find(kindOf("setting"), key); had != nil {
		if value, ok := had.fields["value"].(map[string]any); ok && had.fields["type"] == "flag" {
			whole = maps.Clone(value)
		}
	}
	if given["variants"] != nil && given["default"] == nil {
		delete(whole, "default")
	}
	maps.Copy(whole, given)
	return whole
}

func (r *reader) add(k *kind, key string, fields object, at string) {
	id := k.name + " " + k.folded(key)
	if r.known[id] != nil {
		r.faults.Add(at, "is given twice")
		return
	}
	switch had := r.s.find(k, key); {
	case had == nil:
	case had.twins > 0:
		r.faults.Add(at, "%d others are named so; rename them", had.twins)
	case r.ids[k.name+" "+had.id.String()]:
		r.faults.Add(at, "is given twice")
	default:
		r.ids[k.name+" "+had.id.String()] = true
	}
	r.checkNames(k, fields, at)
	w := &wanted{Kind: k.name, Key: key, Owner: r.owner, Fields: fields, At: at}
	r.known[id] = w
	r.all = append(r.all, w)
}

// checkNames removes the fields that files can't have, and adds them to the faults.
func (r *reader) checkNames(k *kind, fields object, at string) {
	known := r.fields[k.name]
	if known == nil {
		known = slices.Sorted(maps.Keys(rowFields(k, r.s.routes)))
		r.fields[k.name] = known
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(known, name) {
			continue
		}
		if name != "secret" || !slices.Contains(known, "secret_file") {
			r.unknown(at+"."+name, name, known)
			delete(fields, name)
		} else if _, is := secretOf(fields[name]); !is {
			r.faults.Add(at+"."+name, "must be a table with the secret")
		}
	}
}

// unknown adds a fault of an unknown field.
func (r *reader) unknown(at, name string, known []string) {
	if near := r.nearest(name, known); near != "" {
		r.faults.Add(at, "unknown field; did you mean %s?", near)
	} else {
		r.faults.Add(at, "unknown field")
	}
}

// nearest returns the known name that was probably meant; "" if there is none, or after many others.
func (r *reader) nearest(name string, known []string) string {
	const most = 20
	if r.hints++; r.hints > most {
		return ""
	}
	return fold.Nearest(name, known)
}

// has reports whether there will be an object.
func (r *reader) has(k *kind, key string) bool {
	return r.known[k.name+" "+k.folded(key)] != nil || r.s.find(k, key) != nil
}

// addParents adds the parents that objects need and neither a file nor the installation has:
// permissions and the groups of settings.
func (r *reader) addParents() {
	for _, w := range slices.Clone(r.all) {
		r.owner = w.Owner
		switch w.Kind {
		case "permission", "app permission":
			k := kindOf(w.Kind)
			if parent, given := w.Fields["parent"]; given && parent != parentKey(w.Kind, w.Key) {
				continue
			}
			for key := parentKey(w.Kind, w.Key); key != "" && !r.has(k, key); key = parentKey(w.Kind, key) {
				fields := object{"name": lastOf(key)}
				if w.Kind == "permission" {
					fields["type"] = json.Number("1")
					if parentKey(w.Kind, key) == "" {
						fields["type"] = json.Number("0")
					}
				}
				r.add(k, key, fields, w.At)
			}
		case "setting":
			group, _ := splitSetting(w.Key)
			if k := kindOf("setting group"); !r.has(k, group) {
				r.add(k, group, object{"title": group}, w.At)
			}
		}
	}
}

// lastOf returns the last part of a key.
func lastOf(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// reserved are the permissions of the groups of settings in the files.
func (r *reader) reserved() map[string]bool {
	keys := map[string]bool{}
	for _, w := range r.all {
		if w.Kind == "setting group" {
			keys[store.ReadPermission(w.Key)], keys[store.SecretPermission(w.Key)] = true, true
		}
	}
	return keys
}
