package servertest

import (
	"fmt"
	"math/rand/v2"

	"reeve/auth"
	"reeve/server/webhook"
)

// RandomSetup returns a random setup with objects of every kind that refer to each other.
func RandomSetup(r *rand.Rand) map[string]any {
	some := func(from []any) []any {
		list := []any{}
		for _, v := range from {
			if r.IntN(2) == 0 {
				list = append(list, v)
			}
		}
		return list
	}
	words := []string{"Sales", "R&D", `a "quote"`, "ü ñ", "Ops/EU", "#hash", "x.y"}
	named := func(n int) (names []any) {
		for i := range n {
			names = append(names, fmt.Sprint(words[r.IntN(len(words))], " ", i))
		}
		return names
	}
	rows := func(names []any, row func(i int) map[string]any) map[string]any {
		all := map[string]any{}
		for i, name := range names {
			all[fmt.Sprint(name)] = row(i)
		}
		return all
	}

	keys := []any{"shop.order.refund", "shop.order.query", "shop.item", "depot.move.up"}
	permissions := map[string]any{}
	for _, key := range keys {
		permissions[key.(string)] = map[string]any{"name": words[r.IntN(len(words))], "sort": r.IntN(5), "status": r.IntN(2) == 0}
	}
	depts := []any{}
	for i := range 1 + r.IntN(4) {
		depts = append(depts, fmt.Sprint([]string{"Sales", `R\/D`, `\#1`, "Ünit"}[i]))
	}
	deptRows := rows(depts, func(int) map[string]any {
		return map[string]any{"sort": r.IntN(3), "leader": words[r.IntN(len(words))]}
	})
	deptRows[fmt.Sprint(depts[0], "/EU")] = map[string]any{"status": r.IntN(2) == 0}

	roles := named(1 + r.IntN(5))
	flag := map[string]any{
		"title": "Flag", "enabled": r.IntN(2) == 0, "variants": map[string]any{"a": "x", "b": "y"}, "default": "a",
		"rules": []any{map[string]any{"name": "some", "roles": []any{roles[0]}, "depts": []any{depts[0]}, "variant": "b"}},
	}
	return map[string]any{
		"permissions":     permissions,
		"app_permissions": map[string]any{"app.read": "Read", "app.write.all": map[string]any{"name": "Write", "status": false}},
		"departments":     deptRows,
		"roles": rows(roles, func(int) map[string]any {
			row := map[string]any{"permissions": some(keys), "grant_roles": some(roles), "data_scope": "custom", "departments": some(depts)}
			if r.IntN(2) == 0 {
				row = map[string]any{"data_scope": []string{"all", "dept_tree", "dept", "self"}[r.IntN(4)], "status": r.IntN(2) == 0, "description": "one\ntwo"}
			}
			return row
		}),
		"app_roles": rows(named(r.IntN(3)), func(int) map[string]any {
			return map[string]any{"permissions": some([]any{"app.read", "app.write.all"}), "default": r.IntN(2) == 0}
		}),
		"setting_groups": map[string]any{"shop": map[string]any{"title": "Shop", "public": false}},
		"settings": map[string]any{
			"shop.n":                 map[string]any{"title": "N", "type": "number", "value": r.IntN(100), "props": []any{map[string]any{"name": "min", "value": "0"}}},
			"shop.on":                map[string]any{"title": "On", "type": "switch", "value": r.IntN(2) == 0},
			"shop.text":              map[string]any{"title": "T", "type": "textarea", "value": "one\ntwo"},
			"shop.data":              map[string]any{"title": "J", "type": "json", "value": `{"a": [1, null]}`},
			"shop.pick":              map[string]any{"title": "P", "type": "checkbox", "options": []any{map[string]any{"label": "A", "value": "a"}, map[string]any{"label": "B", "value": "b"}}, "value": []any{"b"}},
			"shop.key":               map[string]any{"title": "K", "type": "secret", "value": map[string]any{"secret": "s3cr3t"}},
			"site.title":             words[r.IntN(len(words))],
			"security.session_hours": 1 + r.IntN(20),
		},
		"flags": map[string]any{"shop.new": flag, "shop.plain": r.IntN(2) == 0},
		"dictionaries": rows([]any{"size", "color"}[:r.IntN(3)], func(int) map[string]any {
			return map[string]any{"name": "D", "type": "tag", "status": r.IntN(2) == 0, "items": []any{"S", map[string]any{"value": "L/XL", "label": "Large", "switch": false, "sort": 2}}}
		}),
		"fields": map[string]any{"admin.badge": map[string]any{"title": "Badge", "type": "input", "searchable": r.IntN(2) == 0}, "app.size": map[string]any{"title": "Size", "type": "number", "required": r.IntN(2) == 0}},
		"providers": rows([]any{"corp", "git-hub"}[:r.IntN(3)], func(i int) map[string]any {
			row := map[string]any{"title": "P", "kind": []string{"keycloak", "github"}[i], "issuer": "https://id.example.org", "client_id": "x",
				"users": r.IntN(2) == 0, "app_users": true, "creates": []string{"never", "invitation", "always"}[r.IntN(3)], "status": r.IntN(2) == 0,
				"domains": some([]any{"example.org", "Example.COM"}), "trusts_address": r.IntN(2) == 0, "factor_values": some([]any{"mfa"}), "sort": r.IntN(3),
				"mappings": []any{map[string]any{"claim": "a.b", "value": "x y", "roles": some(roles), "department": depts[0]},
					map[string]any{"claim": "a.b", "value": "z"}}}
			if r.IntN(2) == 0 {
				row["scopes"] = some([]any{"openid", "profile", "email"})
			}
			if r.IntN(2) == 0 {
				row["client_secret"] = map[string]any{"secret": "s3cr3t"}
			}
			return row
		}),
		"webhooks": map[string]any{"erp": map[string]any{"url": "https://example.org/hook", "types": []any{"user.*"}, "status": r.IntN(2) == 0, "secret": map[string]any{"secret": webhook.NewSecret()}}},
		"keys": rows([]any{"deploy", "ci"}[:r.IntN(3)], func(int) map[string]any {
			token, _, _ := auth.NewKey()
			return map[string]any{"roles": []any{roles[0]}, "networks": []any{"10.0.0.0/8"}, "status": r.IntN(2) == 0, "secret": map[string]any{"secret": token}}
		}),
	}
}
