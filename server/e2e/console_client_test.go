package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Helpers of the console's tests that prepare data and read it through the interface.

// list returns all records of a list, or the roots of a tree.
func list[T any](c *client, path string) []T {
	c.t.Helper()
	return into[struct{ Data []T }](c.t, c.want(200, "GET", path, "")).Data
}

// create creates a record from alternating names and values, and returns its ID.
func (c *client) create(path string, pairs ...any) (id int64) {
	c.t.Helper()
	return into[struct{ ID int64 }](c.t, c.want(200, "POST", path, object(pairs...))).ID
}

// twig is a node of a tree, with the fields that the tests use.
type twig struct {
	ID       int64
	ParentID int64 `json:"parent_id"`
	Name     string
	Key      string
	Leader   string
	Code     string
	Phone    string
	Icon     string
	Show     int
	Status   int
	Children []twig
}

// grown returns a tree as a text: names, with children in parentheses.
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

// leaf returns the first node at any depth for which is holds, or nil.
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

// named returns the node with a name in the tree at a path, or nil.
func (c *client) named(path, name string) *twig {
	c.t.Helper()
	return leaf(list[twig](c, path), func(n twig) bool { return n.Name == name })
}

// permissions returns the IDs of permissions by their keys.
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

// roleWith creates a role with permissions and the data scope all.
func (c *client) roleWith(name string, keys ...string) (id int64) {
	c.t.Helper()
	id = c.create("/admin/role", "name", name, "data_scope", "all")
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", id),
		object("rule_ids", c.permissions(keys...)))
	return id
}

// holder creates a user with permissions, by a role of its own, and returns a client signed
// in as the user.
func (c *client) holder(server *process, name string, keys ...string) *client {
	c.t.Helper()
	c.create("/admin/list", "username", name, "password", password, "role_ids",
		[]int64{c.roleWith("Role of "+name, keys...)})
	other := newClient(c.t, server)
	other.commit.Store(c.commit.Load()) // a node that does not have the person yet waits for it
	other.enter(name)
	return other
}

// orderAction creates an action below the page shop.order, with its menu, and returns its ID.
func (c *client) orderAction(key, name string) int64 {
	c.t.Helper()
	menu := c.create("/admin/rule", "type", 0, "key", "shop", "name", "Shop")
	page := c.create("/admin/rule", "type", 1, "key", "shop.order", "name", "Orders", "parent_id",
		menu)
	return c.create("/admin/rule", "type", 2, "key", key, "name", name, "parent_id", page)
}

// signedInAs returns a client of another user with the usual password.
func signedInAs(t testing.TB, server *process, username string) *client {
	t.Helper()
	c := newClient(t, server)
	c.enter(username)
	return c
}

// enter signs in with the usual password.
func (c *client) enter(username string) {
	c.t.Helper()
	c.token = into[grant](c.t,
		c.want(200, "POST", "/admin/login", object("username", username, "password", password))).Token
}

// onDisk writes a file for the browser to upload, and returns its path.
func onDisk(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
