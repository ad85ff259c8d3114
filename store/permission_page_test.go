package store

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"reeve/store/audit"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
)

func TestPageURL(t *testing.T) {
	for text, accepted := range map[string]bool{
		"https://example.org":                      true,
		"HTTP://EXAMPLE.org:8080/a/b?c=d&e#f":      true,
		"https://[2001:db8::7]/x":                  true,
		"https://例え.jp/路径":                         true,
		"https://example.org/a@b:c":                true,
		"/":                                        true,
		"/grafana/d/1?orgId=1#top":                 true,
		"/a//b":                                    true,
		"/" + strings.Repeat("é", maxPageURL-1):    true,
		"/" + strings.Repeat("x", maxPageURL):      false,
		"javascript:alert(1)":                      false,
		"JavaScript:alert(1)":                      false,
		"java\tscript:alert(1)":                    false,
		" javascript:alert(1)":                     false,
		"data:text/html,<script>alert(1)</script>": false,
		"vbscript:x":                               false,
		"blob:https://example.org/1":               false,
		"file:///etc/passwd":                       false,
		"ftp://example.org":                        false,
		"mailto:ann@example.org":                   false,
		"//example.org":                            false,
		"///example.org":                           false,
		"/\\example.org":                           false,
		"/\t/example.org":                          false,
		"/\n/example.org":                          false,
		"\\\\example.org":                          false,
		"https:/example.org":                       false,
		"https:example.org":                        false,
		"https:///example.org":                     false,
		"https://":                                 false,
		"https://:443/":                            false,
		"https:\\\\example.org":                    false,
		"https://ann@example.org":                  false,
		"https://ann:secret@example.org":           false,
		"https://@example.org":                     false,
		"https://example.org\\@other.example":      false,
		"https://exam ple.org":                     false,
		"https://example.org/a b":                  false,
		"https://example.org/%zz":                  false,
		"https://example.org:port":                 false,
		"https://example.org/\x00":                 false,
		"https://example.org/\u0085":               false,
		"https://example.org/\u2028":               false,
		"example.org":                              false,
		"grafana":                                  false,
		"./grafana":                                false,
		"?x":                                       false,
		"#x":                                       false,
	} {
		if fault := pageURLFault(text); fault.Empty() != accepted {
			t.Errorf("%q: %q, want accepted: %v", text, fault, accepted)
		}
	}
}

func TestURLRules(t *testing.T) {
	edit := func(fn func(*Permission)) func(tx *Tx) error {
		return func(tx *Tx) error {
			_, err := Permissions.Update(tx, 2, func(p *Permission) error { fn(p); return nil })
			return err
		}
	}

	create := func(p Permission) func(tx *Tx) error {
		return func(tx *Tx) error { return Permissions.Create(tx, &p) }
	}

	const u = "https://example.org"
	refused := func(fields string) refusal { return refusal{errs.Invalid, "invalid", fields} }
	for name, test := range map[string]struct {
		fn   func(tx *Tx) error
		want refusal // zero value for none
		is   string  // url and open of permission 2 afterwards
	}{
		"another URL": {edit(func(p *Permission) {
			p.URL = "/x"
		}), refusal{}, "/x tab"},
		"opened in the same tab": {edit(func(p *Permission) {
			p.Open = OpenLink
		}), refusal{}, u + " link"},
		"opened as by default": {edit(func(p *Permission) {
			p.Open = ""
		}), refusal{}, u + " link"},
		"the URL removed": {edit(func(p *Permission) {
			p.URL = ""
		}), refusal{}, " "},
		"made a menu": {edit(func(p *Permission) {
			p.Type = MenuPermission
		}), refused("open url"), ""},
		"made a menu without a URL": {edit(func(p *Permission) {
			p.Type, p.URL = MenuPermission, ""
		}), refusal{}, " "},
		"made a menu with another mode": {edit(func(p *Permission) {
			p.Type, p.URL, p.Open = MenuPermission, "", OpenLink
		}), refused("open"), ""},
		"the URL removed, with another mode": {edit(func(p *Permission) {
			p.URL, p.Open = "", OpenLink
		}), refused("open"), ""},
		"a mode that is none": {edit(func(p *Permission) {
			p.Open = "window"
		}), refused("open"), ""},
		"a script": {edit(func(p *Permission) {
			p.URL = "javascript:alert(1)"
		}), refused("url"), ""},
		"everything wrong": {edit(func(p *Permission) {
			p.URL, p.Open = "//x", "window"
		}), refused("open url"), ""},
		"moved to a page of the console": {edit(func(p *Permission) {
			p.Path = "/own"
		}), refused("url"), ""},
		"a page of the console": {create(Permission{
			Key:  "x",
			Type: PagePermission,
			Path: "/own",
			URL:  u,
		}), refused("url"), ""},
		"a page of the console, no URL": {create(Permission{
			Key:  "x",
			Type: PagePermission,
			Path: "/own",
		}), refusal{}, u + " tab"},
		"an action with a URL": {create(Permission{
			Key:  "x",
			Type: ActionPermission,
			URL:  u,
		}), refused("open url"), ""},
		"an action with a mode": {create(Permission{
			Key:  "x",
			Type: ActionPermission,
			Open: OpenTab,
		}), refused("open"), ""},
		"a page with a mode and no URL": {create(Permission{
			Key:  "x",
			Type: PagePermission,
			Open: OpenTab,
		}), refused("open"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, t.TempDir(),
				Options{Pages: map[string]bool{"/own": true}, Seed: func(tx *Tx) error {
					for _, p := range []Permission{{Key: "a", Status: true}, {
						Key:      "a.page",
						ParentID: 1,
						Type:     PagePermission,
						URL:      u,
						Open:     OpenTab,
					}} {
						if err := Permissions.Create(tx, &p); err != nil {
							return err
						}
					}
					return Roles.Create(tx, &Role{Name: "Owner", Status: true})
				}})
			err := db.Update(System, test.fn) // System: the rule is for everybody
			if test.want != (refusal{}) {
				disktest.Equal(t, "refusal", refusalOf(t, err), test.want)
				test.is = u + " tab"
			} else if err != nil {
				t.Fatal(err)
			}

			p := allOf(t, db, Permissions)[1]
			disktest.Equal(t, "stored", p.URL+" "+p.Open, test.is)
		})
	}
}

// TestPageURL_HiddenForHeadings checks that a page in the menu only because of a page below it
// shows its URL only to holders of it.
func TestPageURL_HiddenForHeadings(t *testing.T) {
	db := granted(t)
	update(t, db, func(tx *Tx) error {
		for _, edit := range []func(tx *Tx) error{
			func(tx *Tx) error {
				_, err := Permissions.Update(tx, 2, func(p *Permission) error {
					p.URL = "https://example.org/private"
					return nil
				})
				return err
			},
			func(tx *Tx) error {
				return Permissions.Create(tx, &Permission{
					Key:      "a.page.below",
					ParentID: 2,
					Type:     PagePermission,
					URL:      "/below",
					Open:     OpenTab,
					Show:     true,
					Status:   true,
				})
			},
			func(tx *Tx) error {
				return Roles.Create(tx, &Role{Name: "Below", Status: true, RuleIDs: []ID{5}})
			},
		} {
			if err := edit(tx); err != nil {
				return err
			}
		}
		return nil
	})
	view(t, db, func(tx *Tx) error {
		for name, test := range map[string]struct {
			actor *Actor
			want  []string
		}{
			"of both": {&Actor{ID: 1, RoleIDs: []ID{2, 3}},
				[]string{"a: ", "a.page: https://example.org/private link",
					"a.page.below: /below tab"}},
			"of the page below": {&Actor{ID: 1, RoleIDs: []ID{3}},
				[]string{"a: ", "a.page: ", "a.page.below: /below tab"}},
			"of the page above": {&Actor{ID: 1, RoleIDs: []ID{2}},
				[]string{"a: ", "a.page: https://example.org/private link"}},
			"of none": {&Actor{ID: 1}, nil},
		} {
			disktest.Equal(t, name, linksIn(Menus(tx, test.actor)), test.want)
		}

		p, err := Permissions.Get(tx, 2)
		disktest.Equal(t, "stored", p.URL, "https://example.org/private")
		return err
	})
}

// linksIn lists the keys, URLs and modes of menus.
func linksIn(nodes []*kv.Node[Permission]) (all []string) {
	for _, n := range nodes {
		all = append(all, n.Value.Key+": "+strings.TrimSpace(n.Value.URL+" "+n.Value.Open))
		all = append(all, linksIn(n.Children)...)
	}
	return all
}

// earlierPermission is a Permission as it was stored before pages had URLs.
type earlierPermission struct {
	Ident
	ParentID ID     `json:"parent_id"`
	Type     int64  `json:"type"`
	Key      string `json:"key"`
	Name     string `json:"name"`
	Path     string `json:"path"`
	Icon     string `json:"icon"`
	Local    string `json:"local"`
	Sort     int64  `json:"sort"`
	Show     Flag   `json:"show"`
	Status   Flag   `json:"status"`
	Versioned
}

var (
	earlierPermissions = kv.NewCollection[earlierPermission]("permission")
	_                  = kv.NewUnique(earlierPermissions, "key", func(p *earlierPermission) string {
		return p.Key
	})
	_ = kv.NewRef(earlierPermissions, "parent_id", earlierPermissions,
		func(p *earlierPermission) ID {
			return p.ParentID
		}, kv.Restrict)
)

// TestPageURL_EarlierRecordsStay checks that sending back a record from before pages had URLs does
// not change it, and that the change log has only real changes.
func TestPageURL_EarlierRecordsStay(t *testing.T) {
	dir, earlier := t.TempDir(), reeve
	earlier.Tables = slices.Clone(reeve.Tables)
	earlier.Tables[slices.Index(earlier.Tables, kv.Table(Permissions))] = earlierPermissions
	db := open(t, dir, Options{schema: &earlier, Seed: func(tx *Tx) error {
		return earlierPermissions.Create(tx, &earlierPermission{
			Key:    "a",
			Name:   "A",
			Type:   PagePermission,
			Status: true,
		})
	}})
	shut(t, db)
	db = open(t, dir, Options{})
	before := allOf(t, db, Permissions)[0]
	if before.Version != 1 || before.URL+before.Open != "" {
		t.Fatalf("read: %+v", before)
	}

	head := db.LogHead().Seq
	set := func(fn func(*Permission)) {
		update(t, db, func(tx *Tx) error {
			_, err := Permissions.Update(tx, 1, func(p *Permission) error { fn(p); return nil })
			return err
		})
	}
	set(func(p *Permission) { p.Name = "A" })
	disktest.Equal(t, "unchanged", allOf(t, db, Permissions)[0], before)
	disktest.Equal(t, "entries", db.LogHead().Seq, head)
	set(func(p *Permission) { p.Name = "B" })
	set(func(p *Permission) { p.URL = "/x" })
	var logged []string
	rows, err := db.ReadLog(head+1, 10)
	noErr(t, err)
	for _, row := range rows {
		var e audit.Entry
		noErr(t, json.Unmarshal(row.Text, &e))
		for _, f := range e.Changes[0].Fields {
			logged = append(logged, f.Name+" "+string(f.Old.Plain)+" "+string(f.New.Plain))
		}
	}

	disktest.Equal(t, "logged", logged, []string{`name "A" "B"`, `url "" "/x"`, `open "" "link"`})
}
