package e2e

import (
	"encoding/json"
	"fmt"
)

// mustFail sends a request to all nodes with a token that lost a right before: none accepts it.
func (d *drill) mustFail(what, url, token string) {
	for i := range 3 {
		a, err := d.at(i, token).do("GET", url, "")
		switch {
		case err != nil || a.status == 503: // a node that is gone, or alone, says nothing
			continue
		case a.status != 401 && a.status != 403:
			d.t.Errorf("node %s answers %d for a %s that was taken away", d.names[i], a.status, what)
		}
		d.note(func() { d.revoked[what]++ })
	}
}

// works reports whether a request is answered with success, at a node that has the write of an answer.
func (d *drill) works(node int, after *answer, url, token string) bool {
	c := d.at(node, token)
	c.extra["Reeve-Commit"] = after.header.Get("Reeve-Commit")
	a, err := c.do("GET", url, "")
	return err == nil && a.status == 200
}

// signsIn signs a user in at a node.
func (d *drill) signsIn(node int, username string) (token string, a *answer) {
	a, err := d.at(node, "").do("POST", "/admin/login", object("username", username, "password", password))
	if err != nil || a.status != 200 {
		return "", nil
	}
	return into[grant](d.t, a).Token, a
}

// revokesSessions signs in at one node and out at another.
func (d *drill) revokesSessions(username string) {
	for n := 0; !d.over.Load(); n++ {
		token, a := d.signsIn(n, username)
		if token == "" {
			rest(false)
			continue
		}
		c := d.at(n+1, token)
		c.extra["Reeve-Commit"] = a.header.Get("Reeve-Commit")
		a, err := c.do("POST", "/admin/logout", "")
		if done, _ := outcome(a, err); !done {
			rest(false)
			continue
		}
		d.mustFail("session", "/admin/info", token)
	}
}

// user creates a user.
func (d *drill) user(username string) (id int) {
	made := d.at(0, d.token).want(200, "POST", "/admin/list", object("username", username, "password", password))
	return into[struct{ ID int }](d.t, made).ID
}

// role creates a role that may read departments.
func (d *drill) role() (id int) {
	c := d.at(0, d.token)
	id = into[struct{ ID int }](d.t, c.want(200, "POST", "/admin/role", `{"name":"Reader","data_scope":"all"}`)).ID
	rules := into[struct{ Data []ruleNode }](d.t, c.want(200, "GET", "/admin/rule", "")).Data
	ids, err := json.Marshal(rulesNamed(rules, "admin.dept.query"))
	noErr(d.t, err)
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", id), fmt.Sprintf(`{"rule_ids":%s}`, ids))
	return id
}

// revokesKeys creates an API key at one node, uses it at another, and deletes it at a third one.
func (d *drill) revokesKeys(client, role int) {
	for n := client; !d.over.Load(); n++ {
		a, err := d.at(n, d.token).do("POST", "/admin/key", fmt.Sprintf(`{"name":"drill %d %d","role_ids":[%d]}`, client, n, role))
		if done, _ := outcome(a, err); !done {
			rest(false)
			continue
		}
		key := into[struct {
			ID    int
			Token string
		}](d.t, a)
		used := d.works(n+1, a, "/admin/dept?pageSize=1", key.Token)
		c := d.at(n+2, d.token)
		c.extra["Reeve-Commit"] = a.header.Get("Reeve-Commit")
		a, err = c.do("DELETE", fmt.Sprint("/admin/key/", key.ID), "")
		if done, _ := outcome(a, err); !done || !used {
			rest(false)
			continue
		}
		d.mustFail("key", "/admin/dept?pageSize=1", key.Token)
	}
}

// revokesRoles gives a user a role at one node, and takes it away at another.
func (d *drill) revokesRoles(role int, username string, id int) {
	const url = "/admin/dept?pageSize=1"
	user, token := fmt.Sprint("/admin/list/", id), ""
	for n := 0; !d.over.Load(); n++ {
		if token == "" {
			token, _ = d.signsIn(n, username)
		}
		a, err := d.at(n, d.token).do("PUT", user, fmt.Sprintf(`{"role_ids":[%d]}`, role))
		if done, _ := outcome(a, err); !done || token == "" {
			rest(false)
			continue
		}
		used := d.works(n+1, a, url, token)
		a, err = d.at(n+2, d.token).do("PUT", user, `{"role_ids":[]}`)
		if done, _ := outcome(a, err); !done || !used {
			rest(false)
			continue
		}
		d.mustFail("role", url, token)
	}
}
