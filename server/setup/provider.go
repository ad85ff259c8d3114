package setup

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// A sign-in provider has the roles and the departments of its mappings by name. Its client secret is
// never in an export, which has "unset" in its place.

const providerKind = "sign-in provider"

// mappingNames are the fields of a mapping with names of objects.
var mappingNames = []struct{ field, kind, ids string }{
	{"roles", "role", "role_ids"},
	{"app_roles", "app role", "app_role_ids"},
	{"department", "department", "dept_id"}, // one
}

// mappingFields are the fields of a mapping.
var mappingFields = []string{"claim", "value", "roles", "app_roles", "department"}

func loadProviders(s *state) error {
	k := kindOf(providerKind)
	return each(s.tx, store.Providers, func(p *store.Provider) error {
		fields, mappings := s.fieldsOf(k, p), []any{}
		for _, m := range p.Mappings {
			mappings = append(mappings, mappingRow(m.Claim, m.Value, s.namesOf("role", m.RoleIDs),
				s.namesOf("app role", m.AppRoleIDs), s.kinds["department"].keys[m.DeptID]))
		}
		delete(fields, "name")
		fields["mappings"], fields["client_secret"] = mappings, unset()
		s.add(k.name, p.ID, p.Name, fields)
		return nil
	})
}

// mappingRow returns a mapping as a file has it, without empty fields.
func mappingRow(claim, value string, roles, appRoles []any, dept string) map[string]any {
	row := map[string]any{"claim": claim, "value": value, "roles": slices.Compact(roles),
		"app_roles": slices.Compact(appRoles), "department": dept}
	maps.DeleteFunc(row, func(_ string, value any) bool { return isEmpty(value) })
	return row
}

func hidesProvider(field string, _ object) bool { return field == "client_secret" }

// providerBody gives a new provider its name, and mappings the IDs of their roles and departments.
func providerBody(s *state, w *wanted, body map[string]any, create bool) error {
	if create {
		body["name"] = w.Key
	}
	if text, is := secretOf(body["client_secret"]); is {
		if body["client_secret"] = text; text == "unset" {
			delete(body, "client_secret")
		}
	}
	list, ok := body["mappings"].([]any)
	if !ok {
		return nil // the route says that they are none
	}

	faults, mappings := errs.Faults{}, []any{}
	for i, element := range list {
		if row, ok := element.(map[string]any); ok {
			element = s.mappingIDs(row, fmt.Sprintf("mappings[%d].", i), faults)
		}
		mappings = append(mappings, element)
	}
	body["mappings"] = mappings
	return faults.Err(errs.Invalid)
}

// mappingIDs returns a mapping with IDs in place of names. It adds names of none to the faults, which
// begin with at.
func (s *state) mappingIDs(row map[string]any, at string, faults errs.Faults) map[string]any {
	with := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		i := slices.IndexFunc(mappingNames, func(n struct{ field, kind, ids string }) bool { return n.field == name })
		list, isList := row[name].([]any)
		switch {
		case !slices.Contains(mappingFields, name):
			if near := fold.Nearest(name, mappingFields); near != "" {
				faults.Add(at+name, "unknown field; did you mean %s?", near)
			} else {
				faults.Add(at+name, "unknown field")
			}
		case i < 0:
			with[name] = row[name]
		case name == "department":
			with[mappingNames[i].ids] = s.mappingID(mappingNames[i].kind, row[name], at+name, faults)
		case !isList:
			faults.Add(at+name, "must be an array")
		default:
			ids := []any{}
			for j, element := range list {
				ids = append(ids, s.mappingID(mappingNames[i].kind, element, fmt.Sprintf("%s%s[%d]", at, name, j), faults))
			}
			with[mappingNames[i].ids] = ids
		}
	}
	return with
}

// mappingID returns the ID of the object that a mapping names.
func (s *state) mappingID(kindName string, element any, at string, faults errs.Faults) any {
	name, ok := element.(string)
	if !ok {
		faults.Add(at, "must be a string")
		return nil
	}
	id, err := s.idIn(kindName, name)
	switch o := s.find(kindOf(kindName), name); {
	case err != nil:
		faults.Add(at, "%s", errs.Of(err).Fields["value"])
	case o != nil && kindName == "role" && o.id == store.OwnerRole:
		faults.Add(at, "can't give the owner role")
	}
	return id
}

// providerForm brings the fields of a provider in a file into the form in which they are stored, so
// that only a difference is a change.
func providerForm(s *state, w *wanted, fields object) {
	var p store.Provider
	lists := map[string]*[]string{"scopes": &p.Scopes, "domains": &p.Domains, "servers": &p.Servers}
	for name, list := range lists {
		elements, _ := fields[name].([]any)
		for _, element := range elements {
			*list = append(*list, fmt.Sprint(element))
		}
	}
	texts := p.Texts()
	for name, text := range texts {
		*text, _ = fields[name].(string)
	}
	p.Tidy()
	for name, list := range lists {
		if _, sent := fields[name]; sent {
			fields[name] = *list
		}
	}
	for name, text := range texts {
		if _, sent := fields[name]; sent {
			fields[name] = *text
		}
	}

	checked, _ := fields["mappings"].([]any)
	given, _ := w.Fields["mappings"].([]any)
	for i := range checked {
		row, _ := checked[i].(map[string]any)
		names, _ := given[i].(map[string]any)
		dept, _ := names["department"].(string)
		checked[i] = mappingRow(fmt.Sprint(row["claim"]), fmt.Sprint(row["value"]), s.keysOf("role", names["roles"]),
			s.keysOf("app role", names["app_roles"]), s.keyOf(kindOf("department"), dept))
	}
}

// keysOf returns the keys of the objects with some names, sorted.
func (s *state) keysOf(kindName string, names any) []any {
	list, _ := names.([]any)
	all := []any{}
	for _, name := range list {
		all = append(all, s.keyOf(kindOf(kindName), fmt.Sprint(name)))
	}
	sort.Slice(all, func(i, j int) bool { return all[i].(string) < all[j].(string) })
	return all
}

// eachMapped calls do for each object that the mappings of a provider name.
func eachMapped(fields object, do func(kindName, key string)) {
	mappings, _ := fields["mappings"].([]any)
	for _, element := range mappings {
		row, _ := element.(map[string]any)
		for _, of := range mappingNames {
			if name, one := row[of.field].(string); one {
				do(of.kind, name)
			}
			list, _ := row[of.field].([]any)
			for _, name := range list {
				do(of.kind, fmt.Sprint(name))
			}
		}
	}
}

// mappingsSchema describes the mappings of a provider.
func mappingsSchema(description string) described {
	text := described{"type": "string"}
	names := described{"type": "array", "items": text}
	return described{"type": "array", "description": description, "items": described{
		"type": "object",
		"properties": described{"claim": text, "value": text, "roles": names, "app_roles": names,
			"department": described{"type": "string", "description": "Path of the department, or # and its code"}},
		"required":             []string{"claim", "value"},
		"additionalProperties": false,
	}}
}
