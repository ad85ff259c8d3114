package servertest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"reeve/auth"
	"reeve/server/webhook"
)

// setupDice makes random objects of setup files.
type setupDice struct{ *rand.Rand }

// row are the fields of an object.
type row = map[string]any

var setupWords = []string{"Sales", "R&D", `a "quote"`, "ü ñ", "Ops/EU", "#hash", "x.y", "one\ntwo"}

// RandomSetup returns a random setup with objects of every kind, and every field that one can have, that
// refer to each other.
func RandomSetup(r *rand.Rand) map[string]any {
	d := setupDice{r}
	permissions := []any{"shop.order.refund", "shop.order.query", "shop.item", "depot.move.up"}
	appPermissions := []any{"app.read", "app.write.all"}
	depts, deptRows := d.departments()
	roles, appRoles := d.named(1+d.IntN(5)), d.named(d.IntN(3))
	return map[string]any{
		"permissions":     d.permissions(permissions),
		"app_permissions": row{"app.read": "Read", "app.write.all": d.some(row{"name": "Write", "sort": d.IntN(3), "status": d.yes(), "parent": "app.read"})},
		"departments":     deptRows,
		"roles":           d.rows(roles, func() row { return d.role(permissions, roles, depts) }),
		"app_roles": d.rows(appRoles, func() row {
			return d.some(row{"permissions": d.few(appPermissions), "default": d.yes(), "status": d.yes(),
				"sort": d.IntN(3), "description": d.word(), "password_off": d.yes()})
		}),
		"setting_groups": row{
			"shop": row{"title": "Shop", "remark": d.line()},
			"open": row{"title": "Open", "public": d.yes()}},
		"settings": d.settings(),
		"flags": row{
			"shop.new":   d.flag(roles, appRoles, depts),
			"shop.plain": d.yes(),
		},
		"dictionaries": d.rows(d.few([]any{"size", "color"}), d.dictionary),
		"fields": row{
			"admin.badge": d.field("admin", "input"),
			"app.size":    d.field("app", "number"),
			"app.kind":    d.field("app", "select"),
		},
		"providers": d.providers(roles, appRoles, depts),
		"webhooks": row{"erp": row{"url": []any{"https://example.org/hook", secret("https://example.org/s3cr3t")}[d.IntN(2)], "types": []any{"user.*"}, "status": d.yes(),
			"secret": secret(webhook.NewSecret())}},
		"keys": d.rows(d.few([]any{"deploy", "ci", "a/b c"}), func() row { return d.key(roles[0], depts) }),
	}
}

func secret(text string) row { return row{"secret": text} }

// few returns some elements of a list, perhaps none.
func (d setupDice) few(from []any) []any {
	list := []any{}
	for _, v := range from {
		if d.yes() {
			list = append(list, v)
		}
	}
	return list
}

// some returns most of the fields of an object.
func (d setupDice) some(from row) row {
	with := row{}
	for name, value := range from {
		if d.IntN(4) > 0 {
			with[name] = value
		}
	}
	return with
}

func (d setupDice) yes() bool { return d.IntN(2) == 0 }

func (d setupDice) one(of ...string) string { return of[d.IntN(len(of))] }

func (d setupDice) word() string { return d.one(setupWords...) }

// line is a word without line breaks.
func (d setupDice) line() string { return d.one(setupWords[:len(setupWords)-1]...) }

func (d setupDice) named(n int) (names []any) {
	for i := range n {
		names = append(names, fmt.Sprint(d.line(), " ", i))
	}
	return names
}

func (d setupDice) rows(names []any, of func() row) row {
	all := row{}
	for _, name := range names {
		all[name.(string)] = of()
	}
	return all
}

func (d setupDice) permissions(keys []any) row {
	all := d.rows(keys, func() row {
		return d.some(row{"name": d.line(), "sort": d.IntN(5), "status": d.yes()})
	})
	all["shop.report"] = row{"name": "Report", "type": 1, "parent": d.one("depot", "shop"), "icon": "star", "local": "menu.report",
		"path": "/shop/report", "url": "https://shop.example.org/report", "open": d.one("", "link", "tab"), "show": d.yes()}
	return all
}

// departments returns the names of departments, and the departments: some are equal siblings, which have
// codes, and some are below these.
func (d setupDice) departments() (names []any, rows row) {
	all := []any{"Sales", `R\/D`, `\#1`, "Ünit"}
	names = all[:1+d.IntN(len(all))]
	rows = d.rows(names, func() row {
		return d.some(row{"sort": d.IntN(3), "leader": d.line(), "phone": "13800138000", "email": "sales@example.org"})
	})
	rows["Sales"].(row)["code"] = d.one("", "sales")
	rows["Sales/EU"] = row{"status": d.yes()}
	if d.yes() {
		rows["#sales-1"] = row{"name": "Team", "parent": "Sales"}
		rows["#sales-2"] = row{"name": d.one("Team", "team"), "parent": "Sales", "sort": d.IntN(3)}
		rows["#sales-3"] = row{"name": "Team", "parent": "#sales-2"}
		rows["Sales/Team/Lille"] = row{"parent": "#sales-1"}
		names = append(names[:len(names):len(names)], "#sales-1", "#sales-2", "Sales/Team/Lille")
	}
	return names, rows
}

func (d setupDice) role(permissions, roles, depts []any) row {
	fields := d.some(row{"permissions": d.few(permissions), "grant_roles": d.few(roles), "status": d.yes(), "sort": d.IntN(3),
		"description": d.word(), "require_factor": d.yes(), "password_off": d.yes()})
	if d.yes() {
		fields["data_scope"] = d.one("all", "dept_tree", "dept", "self")
	} else {
		fields["data_scope"], fields["departments"] = "custom", d.few(depts)
	}
	return fields
}

func (d setupDice) key(role any, depts []any) row {
	token, _, _ := auth.NewKey()
	fields := d.some(row{"networks": []any{"10.0.0.0/8", "2001:db8::1"}, "status": d.yes(), "rate_limit": d.IntN(1000),
		"expires_at": time.Now().UTC().AddDate(0, 0, 1+d.IntN(80)).Format(time.RFC3339)})
	fields["roles"], fields["secret"] = []any{role}, secret(token)
	if fields["data_scope"] = d.one("", "all", "dept_tree", "dept", "self", "custom"); fields["data_scope"] == "custom" {
		fields["departments"] = d.few(depts)
	}
	return fields
}

var setupOptions = []any{row{"label": "A", "value": "a"}, row{"label": "B", "value": "b"}}

func (d setupDice) settings() row {
	all := row{
		"shop.n":     row{"title": "N", "type": "number", "value": 1 + d.IntN(100), "props": []any{row{"name": "min", "value": "1"}}, "sort": d.IntN(3)},
		"shop.part":  row{"type": "number", "value": 0.25},
		"shop.on":    row{"title": "On", "type": "switch", "value": d.yes(), "describe": d.word()},
		"shop.line":  row{"type": "input", "value": d.line()},
		"shop.text":  row{"title": "T", "type": "textarea", "value": d.word()},
		"shop.data":  row{"title": "J", "type": "json", "value": `{"a": [1, null]}`},
		"shop.pick":  row{"title": "P", "type": "checkbox", "options": setupOptions, "value": d.few([]any{"a", "b"})},
		"shop.radio": row{"type": "radio", "options": setupOptions, "value": d.one("", "a", "b")},
		"shop.which": row{"type": "select", "options": setupOptions, "value": d.one("", "a", "b")},
		"shop.day":   row{"type": "date", "value": d.one("", "2026-02-28")},
		"shop.time":  row{"type": "time", "value": d.one("", "09:30")},
		"shop.color": row{"type": "color", "value": d.one("", "#1677ff")},
		"shop.logo":  row{"type": "image"},
		"shop.key":   row{"title": "K", "type": "secret", "value": secret("s3cr3t")},
	}
	all["site.title"], all["security.session_hours"] = d.line(), 1+d.IntN(20)
	all["security.cors_origins"] = d.one("", "https://shop.example.org", "https://shop.example.org, https://www.example.org:8443")
	return all
}

func (d setupDice) flag(roles, appRoles, depts []any) row {
	who := d.some(row{"name": "some", "roles": roles[:1], "depts": depts[len(depts)-1:], "users": []any{"admin"},
		"attributes": row{"fields.badge": []any{"gold", "1"}}, "from": "2026-01-01T00:00:00Z", "until": "2027-01-01T00:00:00Z"})
	who["variant"] = "b"
	if len(appRoles) > 0 {
		who["app_roles"] = appRoles
	}
	return row{
		"title": "Flag", "describe": d.word(), "sort": d.IntN(3), "enabled": d.yes(), "variants": row{"a": "x", "b": "y"},
		"default": "a", "off": d.one("a", "b"), "rules": []any{who, row{"percent": row{"a": 12.5, "b": 87.5}}}[:d.IntN(3)],
	}
}

func (d setupDice) dictionary() row {
	fields := d.some(row{"type": d.one("default", "badge", "tag"), "status": d.yes(), "public": d.yes(), "describe": d.word()})
	item := d.some(row{"switch": d.yes(), "sort": d.IntN(3), "status": d.one("default", "success", "error", "processing", "warning")})
	item["value"], item["label"] = "L/XL", "Large"
	fields["name"], fields["items"] = "D", d.few([]any{"S", item})
	return fields
}

func (d setupDice) field(realm, of string) row {
	fields := d.some(row{"describe": d.line(), "required": d.yes(), "sort": d.IntN(3), "listed": d.yes(), "self_access": d.one("none", "read", "write"),
		"props": []any{row{"name": "maxlength", "value": "9"}}})
	fields["title"], fields["type"] = "Field of "+realm, of
	if of == "select" {
		fields["options"], fields["filterable"] = setupOptions, d.yes()
		fields["backend_access"], fields["program_access"] = d.one("none", "read", "write"), d.one("none", "read", "write")
	} else {
		fields["searchable"], fields["unique"] = d.yes(), d.yes()
	}
	return fields
}

func (d setupDice) providers(roles, appRoles, depts []any) row {
	all := d.rows(d.few([]any{"corp", "git-hub", "staff"}), func() row {
		fields := d.some(row{"creates": d.one("never", "invitation", "always"), "status": d.yes(),
			"domains": d.few([]any{"example.org", "Example.COM"}), "trusts_address": d.yes(), "ends_session": d.yes(),
			"factor_values": d.few([]any{"mfa"}), "sort": d.IntN(3), "client_secret": secret("s3cr3t")})
		fields["title"], fields["users"] = "P", d.yes()
		fields["app_users"] = fields["users"] == false || d.yes()
		fields["mappings"] = []any{row{"claim": "a.b", "value": "x y", "roles": d.few(roles), "app_roles": d.few(appRoles), "department": depts[len(depts)-1]},
			row{"claim": "a.b", "value": "z"}}
		return fields
	})
	for name, fields := range all {
		fields := fields.(row)
		if fields["client_id"] = "x"; name == "staff" {
			d.directory(fields)
			continue
		}
		fields["kind"] = map[string]string{"corp": "keycloak", "git-hub": "github"}[name]
		fields["issuer"] = "https://id.example.org"
		if d.yes() {
			fields["scopes"] = d.few([]any{"openid", "profile", "email"})
		}
	}
	return all
}

// directory makes a provider a directory.
func (d setupDice) directory(fields row) {
	for _, name := range []string{"client_id", "ends_session", "factor_values", "client_secret"} {
		delete(fields, name)
	}
	fields["kind"] = d.one("ldap", "active_directory")
	fields["servers"], fields["base_dn"] = []any{"ldaps://ldap.example.org", "ldap://ldap2.example.org:3890"}, "dc=example,dc=org"
	for name, value := range d.some(row{"user_filter": "(cn={username})", "id_attribute": "uidNumber", "username_attribute": "sn",
		"name_attribute": "displayName", "email_attribute": "email", "group_base_dn": "ou=groups,dc=example,dc=org",
		"group_filter": "(member={dn})", "certificates": testCertificate, "plain": false}) {
		fields[name] = value
	}
	if d.yes() {
		fields["bind_dn"], fields["client_secret"] = "cn=reeve,dc=example,dc=org", secret("s3cr3t")
	}
}

// testCertificate is a certificate without a use.
const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBbzCCARWgAwIBAgIUHzK5GXvzGvpLIT18rloxJB6AgAwwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBdDAgFw0yNjExMzAxMTQwMDhaGA8yMTI2MTEwNjExNDAwOFow
DDEKMAgGA1UEAwwBdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGpIUKYHDjGL
TZQA9G5rdQvoxBpsKecSSTTFecjjqzUwxXB5C9dmKrQIvZNMzLQUU63yN9Du0fN3
ChAO8iKdG+mjUzBRMB0GA1UdDgQWBBR/MYcNy9zOGQG9obsog3cZQWK4ajAfBgNV
HSMEGDAWgBR/MYcNy9zOGQG9obsog3cZQWK4ajAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0gAMEUCIGDhodOcza2EwbuvEJMIhAnUWg9Rb55A6/bGL6I0QGt7
AiEA79xHclzE9ek941BWZa0YnWCHESfpsqbnxjCZsTED1DU=
-----END CERTIFICATE-----
`
