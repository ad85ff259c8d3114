package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"reeve/store/errs"
)

var userFields = []string{"id", "username", "nickname", "role_names", "dept_name", "status", "login_time"}

func (p *program) listUsers(c *client) error {
	query := url.Values{}
	if text := p.text("search"); text != "" {
		query.Set("keywordSearch", text)
	}
	if name := p.text("role"); name != "" {
		role, err := c.role(name)
		if err != nil {
			return err
		}
		query.Set("role_id", role.id())
	}
	all, err := c.all("/admin/list", query, 0)
	if err != nil {
		return err
	}
	return p.list("users", all, userFields...)
}

// user returns the user with a username.
func (c *client) user(name string) (record, error) {
	return c.named("user", "/admin/list", "username", name, url.Values{"username": {name}})
}

func userFlags(f *pflag.FlagSet, p *program) {
	f.String("name", "", "the `NAME` that others see")
	f.String("email", "", "the e-mail `ADDRESS`")
	f.StringSlice("role", nil, "give the user this `ROLE`; can be repeated")
	f.String("password-file", "", "read the password from this `FILE` instead of generating one")
	outputFlag(f, p)
}

func (p *program) addUser(c *client) error {
	in := map[string]any{"username": p.args[0], "nickname": p.text("name"), "email": p.text("email")}
	roles, err := c.roles(p.texts("role"))
	if err != nil {
		return err
	}
	in["role_ids"] = idsOf(roles)
	if path := p.text("password-file"); path != "" {
		if p.text("output") != "" {
			return errors.New("--output is for a generated password, and --password-file has one")
		}
		if in["password"], err = readPassword(path); err != nil {
			return err
		}
	}

	return p.revealPassword(func() (record, error) { return c.made("POST", "/admin/list", in) })
}

// revealPassword puts out the password that the server generates for a user, if it does.
func (p *program) revealPassword(ask func() (record, error)) error {
	return p.reveal(revealed{
		field: "password",
		ask:   ask,
		text: func(made record) string {
			text := "username: " + made.text("username")
			if password := made.text("password"); password != "-" {
				text += "\npassword: " + password + "\nIt must be changed at the next sign-in."
			}
			return text
		},
		lost: func(made record) string {
			return "the password is lost: run `reeve user reset " + made.text("username") + "`"
		},
	})
}

func (p *program) enableUser(c *client) error  { return p.setUserStatus(c, 1) }
func (p *program) disableUser(c *client) error { return p.setUserStatus(c, 0) }

func (p *program) setUserStatus(c *client, status int) error {
	u, err := c.user(p.args[0])
	if err != nil {
		return err
	}
	var changed record
	err = c.call("PUT", "/admin/list/"+u.id()+"/status", nil, map[string]any{"status": status}, &changed)
	if err != nil {
		return err
	}
	return p.show(changed, "%s is %s", changed.text("username"), changed.text("status"))
}

// resetUser gives a user a new password and removes the second factor. With --owner it is the first
// enabled owner.
func (p *program) resetUser(c *client) error {
	owner, _ := p.flags.GetBool("owner")
	if owner == (len(p.args) > 0) {
		return errors.New("usage: reeve user reset USERNAME, or reeve user reset --owner")
	}
	if owner {
		return p.revealPassword(func() (record, error) { return c.made("POST", "/local/owner", nil) })
	}

	u, err := c.user(p.args[0])
	if err != nil {
		return err
	}
	path := "/admin/list/" + u.id()
	var left error
	err = p.revealPassword(func() (record, error) {
		made, err := c.made("PUT", path+"/password", map[string]any{})
		if err != nil {
			return nil, err
		}
		if u.text("second_factor") == "1" {
			if err := c.call("DELETE", path+"/factor", nil, nil, nil); err != nil {
				left = fmt.Errorf("the password was reset, but the second factor was not removed: %w", err)
			}
		}
		made["username"] = jsonText(u.text("username"))
		return made, nil
	})
	return errors.Join(err, left)
}

func (p *program) userSessions(c *client) error {
	all, err := c.sessions(p.args[0])
	if err != nil {
		return err
	}
	return p.list("sessions", all, "id", "ip", "user_agent", "created_at", "last_used", "expires_at")
}

func (c *client) sessions(username string) ([]record, error) {
	u, err := c.user(username)
	if err != nil {
		return nil, err
	}
	return c.all("/system/session", url.Values{"user_id": {u.id()}}, 0)
}

func (p *program) signOutUser(c *client) error {
	all, err := c.sessions(p.args[0])
	if err != nil {
		return err
	}
	if len(all) > 0 {
		ids := make([]string, len(all))
		for i, s := range all {
			ids[i] = s.id()
		}
		query := url.Values{"ids": {strings.Join(ids, ",")}}
		if err := c.call("DELETE", "/system/session", query, nil, nil); err != nil {
			return err
		}
	}
	text := errs.Count(len(all), "session") + " ended"
	if len(all) == 0 {
		text = "no sessions to end"
	}
	return p.show(map[string]int{"ended": len(all)}, "%s", text)
}

func (p *program) listRoles(c *client) error {
	all, err := c.all("/admin/role", nil, 0)
	if err != nil {
		return err
	}
	return p.list("roles", all, "id", "name", "data_scope", "status", "description")
}

// role returns the role with a name.
func (c *client) role(name string) (record, error) {
	return c.named("role", "/admin/role", "name", name, nil)
}

func (c *client) roles(names []string) (all []record, err error) {
	for _, name := range names {
		role, err := c.role(name)
		if err != nil {
			return nil, err
		}
		all = append(all, role)
	}
	return all, nil
}

// idsOf returns the IDs of records, for a body.
func idsOf(all []record) []json.RawMessage {
	ids := []json.RawMessage{}
	for _, r := range all {
		ids = append(ids, r["id"])
	}
	return ids
}

func (p *program) grantRole(c *client) error {
	return p.changeRoles(c, func(held []string, id string) []string { return append(held, id) })
}

func (p *program) revokeRole(c *client) error {
	return p.changeRoles(c, func(held []string, _ string) []string { return held })
}

// changeRoles changes the roles of a user. with returns those that the user has besides a role,
// with it or without it.
func (p *program) changeRoles(c *client, with func(held []string, id string) []string) error {
	u, err := c.user(p.args[0])
	if err != nil {
		return err
	}
	roles, err := c.roles(p.args[1:])
	if err != nil {
		return err
	}

	var held []json.RawMessage
	if err := json.Unmarshal(u["role_ids"], &held); err != nil {
		return err
	}
	ids := []string{}
	for _, id := range held {
		ids = append(ids, string(id))
	}
	for _, role := range roles {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == role.id() })
		ids = with(ids, role.id())
	}
	numbers := []json.Number{}
	for _, id := range ids {
		numbers = append(numbers, json.Number(id))
	}

	var changed record
	in := map[string]any{"role_ids": numbers, "version": u["version"]}
	if err := c.call("PUT", "/admin/list/"+u.id(), nil, in, &changed); err != nil {
		return err
	}
	return p.show(changed, "%s has the roles: %s", changed.text("username"), changed.text("role_names"))
}

var keyFields = []string{"id", "name", "username", "role_names", "state", "expires_at", "last_used", "hint"}

func (p *program) listKeys(c *client) error {
	all, err := c.all("/admin/key", nil, 0)
	if err != nil {
		return err
	}
	return p.list("API keys", all, keyFields...)
}

func keyFlags(f *pflag.FlagSet, p *program) {
	f.StringSlice("role", nil, "give the key this `ROLE`; can be repeated")
	f.StringSlice("network", nil, "allow only this `NETWORK`, such as 10.0.0.0/8; can be repeated")
	f.String("expires", "", "let the key end at this `TIME`, such as 2027-01-31")
	outputFlag(f, p)
}

func (p *program) newKey(c *client) error {
	roles, err := c.roles(p.texts("role"))
	if err != nil {
		return err
	}
	in := map[string]any{"name": p.args[0], "role_ids": idsOf(roles)}
	if networks := p.texts("network"); networks != nil {
		in["networks"] = networks
	}
	if at := p.text("expires"); at != "" {
		in["expires_at"] = at
	}

	return p.reveal(revealed{
		field: "token",
		ask:   func() (record, error) { return c.made("POST", "/admin/key", in) },
		text:  func(made record) string { return made.text("token") },
		lost: func(made record) string {
			if err := c.call("DELETE", "/admin/key/"+made.id(), nil, nil, nil); err != nil {
				return fmt.Sprintf("the new key %s is lost, and could not be deleted: %v", made.id(), err)
			}
			return "the new key is deleted again"
		},
	})
}

// key returns the API key that a service uses, by its name or ID.
func (c *client) key(name string) (record, error) {
	all, err := c.all("/admin/key", nil, 0)
	if err != nil {
		return nil, err
	}

	var byID record
	var found, known = []record{}, []string{}
	for _, k := range all {
		if k.id() == name {
			byID = k
		}
		if strings.EqualFold(k.text("name"), name) {
			found = append(found, k)
		}
		known = append(known, k.text("name"))
	}

	switch {
	case byID != nil && (len(found) == 0 || len(found) == 1 && found[0].id() == name):
		return byID, nil
	case byID != nil:
		return nil, fmt.Errorf("%s is the name of one API key and the ID of another; rename one of them first", name)
	case len(found) == 0:
		return nil, fmt.Errorf("there is no API key %s%s", name, similar(name, known))
	case len(found) == 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%d API keys have the name %s; give the ID", len(found), name)
}

func (p *program) rotateAPIKey(c *client) error {
	k, err := c.key(p.args[0])
	if err != nil {
		return err
	}
	hours, _ := p.flags.GetInt("overlap-hours")
	in := map[string]any{"overlap_hours": hours}
	return p.reveal(revealed{
		field: "token",
		ask:   func() (record, error) { return c.made("POST", "/admin/key/"+k.id()+"/rotate", in) },
		text:  func(made record) string { return made.text("token") },
		lost: func(made record) string {
			return "the new secret is lost, and the previous one is valid until " +
				made.text("previous_until") + ": rotate again when nothing needs it"
		},
	})
}

func (p *program) revokeKey(c *client) error {
	k, err := c.key(p.args[0])
	if err != nil {
		return err
	}
	if err := c.call("DELETE", "/admin/key/"+k.id(), nil, nil, nil); err != nil {
		return err
	}
	return p.show(k, "API key %s is deleted", k.text("name"))
}
