package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the tests of the console prepare and look up at the interface.

// list is all that a list of the interface has at a path, or the top of a tree.
func list[T any](c *client, path string) []T {
	c.t.Helper()
	return into[struct{ Data []T }](c.t, c.want(200, "GET", path, "")).Data
}

// create makes what names and values in turn say at a path, and returns its id.
func (c *client) create(path string, pairs ...any) (id int64) {
	c.t.Helper()
	return into[struct{ ID int64 }](c.t, c.want(200, "POST", path, object(pairs...))).ID
}

// twig is a node of a tree of the interface, as far as the tests look at it.
type twig struct {
	ID       int64
	ParentID int64 `json:"parent_id"`
	Name     string
	Key      string
	Leader   string
	Phone    string
	Icon     string
	Show     int
	Status   int
	Children []twig
}

// grown is a tree as one text: names, with those below each in parentheses.
func grown(all []twig) string {
	var texts []string
	for _, n := range all {
		text := n.Name
		if len(n.Children) > 0 {
			text += "(" + grown(n.Children) + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

// leaf is the first node that is so, wherever it lies, or nil.
func leaf(all []twig, is func(twig) bool) *twig {
	for i := range all {
		if is(all[i]) {
			return &all[i]
		}
		if found := leaf(all[i].Children, is); found != nil {
			return found
		}
	}
	return nil
}

// named is the node of a name in the tree at a path, or nil.
func (c *client) named(path, name string) *twig {
	c.t.Helper()
	return leaf(list[twig](c, path), func(n twig) bool { return n.Name == name })
}

// permissions are the ids of keys.
func (c *client) permissions(keys ...string) []int64 {
	c.t.Helper()
	tree, ids := list[twig](c, "/admin/rule"), []int64{}
	for _, key := range keys {
		found := leaf(tree, func(n twig) bool { return n.Key == key })
		if found == nil {
			c.t.Fatalf("there is no permission %s", key)
		}
		ids = append(ids, found.ID)
	}
	return ids
}

// roleWith makes a role that holds permissions and sees everybody.
func (c *client) roleWith(name string, keys ...string) (id int64) {
	c.t.Helper()
	id = c.create("/admin/role", "name", name, "data_scope", "all")
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", id), object("rule_ids", c.permissions(keys...)))
	return id
}

// holder is a client of a new user who holds permissions, by a role of their own.
func (c *client) holder(server *process, name string, keys ...string) *client {
	c.t.Helper()
	c.create("/admin/list", "username", name, "password", password, "role_ids", []int64{c.roleWith("Role of "+name, keys...)})
	return signedInAs(c.t, server, name)
}

// signedInAs is a client of another user with the usual password.
func signedInAs(t testing.TB, server *process, username string) *client {
	t.Helper()
	c := newClient(t, server)
	c.token = into[grant](t, c.want(200, "POST", "/admin/login", object("username", username, "password", password))).Token
	return c
}

// onDisk writes a file to be uploaded by the browser.
func onDisk(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
