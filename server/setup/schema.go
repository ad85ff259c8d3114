package setup

import (
	"encoding/json"
	"net/http"
	"reflect"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/names"
)

// schema sends the JSON Schema of setup files.
func schema(req *web.Request, _ *web.None, w http.ResponseWriter) error {
	routes := map[string]*web.Route{}
	for i := range req.Server.Routes {
		rt := &req.Server.Routes[i]
		routes[rt.Method+" "+rt.Path] = rt
	}
	text, err := json.MarshalIndent(schemaOf(routes), "", "  ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/schema+json")
	w.Header().Set("X-Request-Id", req.ID)
	_, err = w.Write(append(text, '\n'))
	return err
}

// described is a part of a JSON Schema.
type described = map[string]any

// schemaOf returns the JSON Schema of setup files.
func schemaOf(routes map[string]*web.Route) described {
	tables := described{}
	for _, k := range kinds {
		if k.table == "" {
			continue
		}
		row := rowSchema(k, routes)
		if k.name == "dictionary" {
			item := rowSchema(kindOf(itemKind), routes)
			item["properties"].(described)["value"] = described{"type": "string"}
			item["required"] = []string{"value"}
			row["properties"].(described)["items"] = described{
				"type":        "array",
				"description": "All items; others are deleted",
				"items":       described{"anyOf": []any{described{"type": "string"}, item}},
			}
		}
		var rows any = row
		if k.short != "" {
			rows = described{"anyOf": []any{shortSchema(k), row}}
		}
		tables[k.table] = described{"type": "object", "additionalProperties": rows}
	}

	tables[flagTable] = described{"type": "object", "additionalProperties": described{"anyOf": []any{
		described{"type": "boolean"}, flagSchema(),
	}}}
	return described{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "Setup file of Reeve",
		"type":                 "object",
		"properties":           tables,
		"additionalProperties": false,
	}
}

// shortSchema describes the value that a file can give in place of a table.
func shortSchema(k *kind) described {
	if k.name == "setting" {
		return described{"type": []string{"string", "number", "boolean", "array"}, "description": "Value"}
	}
	return described{"type": "string"}
}

// secretSchema describes a secret: a reference that the command resolves.
func secretSchema() described {
	return described{
		"type":                 "object",
		"properties":           described{"secret": described{"type": "string", "pattern": "^(unset|(env|file|credential):.+)$"}},
		"required":             []string{"secret"},
		"additionalProperties": false,
	}
}

// rowSchema describes an object.
func rowSchema(k *kind, routes map[string]*web.Route) described {
	return described{"type": "object", "properties": rowFields(k, routes), "additionalProperties": false}
}

// rowFields describes the fields of an object by the input of the route that creates it.
func rowFields(k *kind, routes map[string]*web.Route) described {
	fields := described{}
	for _, f := range routes[k.create].Input.Fields {
		if f.From == "json" && f.Names == nil && f.IDs == nil && !followsFromKey(k, f.Name) {
			fields[f.Name] = fieldSchema(f)
		}
	}
	for _, ref := range k.refs {
		fields[ref.field] = described{"type": "array", "items": described{"type": "string"}}
	}

	switch k.name {
	case "permission", "app permission":
		fields["parent"] = described{"type": "string", "description": "Key of the parent, if it is not the key without its last part"}
	case "department":
		fields["name"] = described{"type": "string", "description": "Name, if the key is a code"}
		fields["parent"] = described{"type": "string", "description": "Path of the parent, if the key is a code"}
	case "setting":
		delete(fields, "values")
		fields["value"] = described{"description": "Value of the setting's type", "anyOf": []any{
			described{"type": []string{"string", "number", "boolean", "array", "object"}}, secretSchema(),
		}}
	case "webhook":
		fields["url"] = described{"anyOf": []any{described{"type": "string"}, secretSchema()}}
		delete(fields, "secret")
		fields["secret_file"] = secretFileSchema()
	case providerKind:
		fields["client_secret"] = described{"anyOf": []any{described{"type": "string"}, secretSchema()}}
		fields["mappings"] = mappingsSchema(fields["mappings"].(described)["description"].(string))
	case "API key":
		fields["secret_file"] = secretFileSchema()
	}
	return fields
}

func secretFileSchema() described {
	return described{
		"type":        "string",
		"description": "Path of the file that the command writes the secret of a new object to, relative to this file",
	}
}

// followsFromKey reports whether a field is the key of the object or a part of it.
func followsFromKey(k *kind, field string) bool {
	return map[string]bool{
		"permission key": true, "app permission key": true, "department name": true,
		"setting group key": true, "role name": true, "app role name": true, "setting key": true,
		"dictionary code": true, "dictionary item value": true, "custom field realm": true,
		"custom field key": true, "webhook description": true, "API key name": true,
		providerKind + " name": true,
	}[k.name+" "+field]
}

func fieldSchema(f *web.Field) described {
	out := described{}
	if f.Doc != "" {
		out["description"] = f.Doc
	}
	switch of := f.Typ; {
	case of == reflect.TypeFor[store.Flag]():
		out["type"] = "boolean"
	case of == reflect.TypeFor[store.Time]():
		out["type"], out["format"] = "string", "date-time"
	case of.Kind() == reflect.Int64:
		out["type"] = "integer"
	case of.Kind() == reflect.String:
		out["type"] = "string"
		if len(f.Enum) > 0 {
			out["enum"] = f.Enum
		}
	case of.Kind() == reflect.Slice:
		out["type"] = "array"
		items := described{"type": "string"}
		if f.Fields != nil {
			properties := described{}
			for _, inner := range f.Fields {
				properties[inner.Name] = fieldSchema(inner)
			}
			items = described{"type": "object", "properties": properties}
		}
		out["items"] = items
	}
	return out
}

func flagSchema() described {
	return described{"type": "object", "properties": flagFields(), "additionalProperties": false}
}

func flagFields() described {
	return described{
		"title": described{"type": "string"}, "describe": described{"type": "string"},
		"sort": described{"type": "integer"}, "enabled": described{"type": "boolean"},
		"variants": described{"type": "object"}, "default": described{"type": "string"},
		"off": described{"type": "string"}, "rules": described{"type": "array", "items": ruleSchema()},
	}
}

// ruleSchema describes a rule of a flag.
func ruleSchema() described {
	text, object := described{"type": "string"}, described{"type": "object"}
	time := described{"type": "string", "format": "date-time"}
	fields := described{"name": text, "attributes": object, "from": time, "until": time, "variant": text, "percent": object}
	for _, of := range names.RuleFields {
		fields[of.Field] = described{
			"type":        "array",
			"description": names.Of(of.Kind).Doc + ", or its ID",
			"items":       described{"type": []string{"string", "integer"}},
		}
	}
	return described{"type": "object", "properties": fields, "additionalProperties": false}
}
