package directory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-ldap/ldap/v3"

	"reeve/server/directory"
	"reeve/server/directory/directorytest"
	"reeve/server/outgoing"
	"reeve/store"
	"reeve/store/errs"
)

// newClient returns a client that may connect to loopback.
func newClient(t *testing.T) *directory.Client {
	t.Helper()
	allow, err := outgoing.ParseAllow("providers.allow", []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return directory.NewClient(allow)
}

// configOf returns how a server is asked, with changes.
func configOf(s *directorytest.Server, changes ...func(*directory.Config)) *directory.Config {
	d := store.ProposedDirectory(store.KindLDAP)
	d.Servers, d.Certificates = []string{s.Secure}, s.Authority
	d.BindDN, d.BaseDN, d.GroupBaseDN = directorytest.Reader, directorytest.People, directorytest.Groups
	c := &directory.Config{Directory: &d, Secret: directorytest.Password, Attributes: []string{"departmentNumber"}}
	for _, change := range changes {
		change(c)
	}
	return c
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s, c := directorytest.Start(t), newClient(t)
	for name, server := range map[string]string{"TLS": s.Secure, "StartTLS": s.Plain} {
		p, known, err := c.SignIn(t.Context(), configOf(s, func(c *directory.Config) { c.Servers = []string{server} }),
			"ANN", directorytest.Password)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.DN != directorytest.DN("ann") || p.Username != "ann" || known != "ann" || p.Name != "Ann Example" ||
			p.Email != "ann@example.org" || len(p.ID) != 36 {
			t.Errorf("%s: %+v", name, p)
		}
		for _, claim := range [][2]string{{"groups", "cn=sales," + directorytest.Groups},
			{"groups", "CN=Sales, OU=Groups, DC=example, DC=org"}, {"departmentnumber", "42"},
			{"MEMBEROF", "cn=sales," + directorytest.Groups}} {
			if !p.Has(claim[0], claim[1]) {
				t.Errorf("%s: has not %v: %v", name, claim, p.Attributes)
			}
		}
		for _, claim := range [][2]string{{"groups", "sales"}, {"groups", "cn=sales"}, {"groups", ""}, {"mail", "ann"}} {
			if p.Has(claim[0], claim[1]) {
				t.Errorf("%s: has %v: %v", name, claim, p.Attributes)
			}
		}
	}
}

// A directory can be searched without an account.
func TestSignIn_AnonymousSearch(t *testing.T) {
	t.Parallel()
	s, c := directorytest.Start(t, "access to * by anonymous read by * none"), newClient(t)
	p, _, err := c.SignIn(t.Context(), configOf(s, func(c *directory.Config) { c.BindDN = "" }), "ann", directorytest.Password)
	if err != nil || !p.Has("groups", "cn=sales,"+directorytest.Groups) {
		t.Errorf("%v, %+v", err, p)
	}
}

// The ID of a person remains when everything else changes.
func TestSignIn_RenamedPerson(t *testing.T) {
	t.Parallel()
	s, c := directorytest.Start(t), newClient(t)
	before, _, err := c.SignIn(t.Context(), configOf(s), "ann", directorytest.Password)
	if err != nil {
		t.Fatal(err)
	}
	s.Change(func(l *ldap.Conn) error {
		return l.ModifyDN(ldap.NewModifyDNRequest(directorytest.DN("ann"), "uid=anna", true, ""))
	})
	after, _, err := c.SignIn(t.Context(), configOf(s), "anna", directorytest.Password)
	if err != nil || after.ID != before.ID || after.Username != "anna" {
		t.Errorf("%v, %+v, before %+v", err, after, before)
	}
}

func TestSignIn_Refused(t *testing.T) {
	t.Parallel()
	s, c := directorytest.Start(t), newClient(t)
	s.Change(func(l *ldap.Conn) error {
		r := ldap.NewAddRequest("uid=ann,"+directorytest.Groups, nil)
		r.Attribute("objectClass", []string{"inetOrgPerson"})
		for _, name := range []string{"uid", "cn", "sn"} {
			r.Attribute(name, []string{"ann"})
		}
		if err := l.Add(r); err != nil {
			return err
		}
		m := ldap.NewModifyRequest(directorytest.DN("bob"), nil)
		m.Add("departmentNumber", []string{"1", "2"})
		return l.Modify(m)
	})
	plain := func(c *directory.Config) { c.Servers = []string{s.Plain} }
	for name, row := range map[string]struct {
		username, password string
		change             func(*directory.Config)
		code, known        string
	}{
		"wrong password":   {username: "ann", password: "other", code: "wrong_credentials", known: "ann"},
		"no password":      {username: "ann", code: "wrong_credentials"},
		"unknown name":     {username: "eve", password: directorytest.Password, code: "wrong_credentials"},
		"no name":          {password: directorytest.Password, code: "wrong_credentials"},
		"any name":         {username: "*", password: directorytest.Password, code: "wrong_credentials"},
		"filter":           {username: "eve)(uid=ann", password: directorytest.Password, code: "wrong_credentials"},
		"closed filter":    {username: "ann))(|(uid=ann", password: directorytest.Password, code: "wrong_credentials"},
		"no bytes of text": {username: "ann\x00\xff", password: directorytest.Password, code: "wrong_credentials"},
		"huge": {username: strings.Repeat("a", 100_000), password: strings.Repeat("b", 100_000),
			code: "wrong_credentials"},
		"ambiguous": {username: "ann", change: func(c *directory.Config) { c.BaseDN = directorytest.Base },
			code: "directory_ambiguous"},
		"no base": {username: "ann", change: func(c *directory.Config) { c.BaseDN = "ou=none," + directorytest.Base },
			code: "directory_base"},
		"wrong secret":        {username: "ann", change: func(c *directory.Config) { c.Secret = "other" }, code: "directory_search"},
		"no account searches": {username: "ann", change: func(c *directory.Config) { c.BindDN = "" }, code: "directory_base"},
		"no ID":               {username: "ann", change: func(c *directory.Config) { c.IDAttribute = "objectGUID" }, code: "directory_id"},
		"several IDs":         {username: "bob", change: func(c *directory.Config) { c.IDAttribute = "departmentNumber" }, code: "directory_id"},
		"unknown authority": {username: "ann", change: func(c *directory.Config) { c.Certificates = "" },
			code: "directory_certificate"},
		"unknown authority, StartTLS": {username: "ann", change: func(c *directory.Config) { plain(c); c.Certificates = "" },
			code: "directory_certificate"},
		"other name": {username: "ann", change: func(c *directory.Config) {
			c.Servers = []string{strings.Replace(s.Secure, "127.0.0.1", "localhost", 1)}
		}, code: "directory_certificate"},
		"without TLS": {username: "ann", change: func(c *directory.Config) { plain(c); c.Plain = true }, code: "directory_code"},
	} {
		if row.password == "" && row.change != nil {
			row.password = directorytest.Password
		}
		if row.change == nil {
			row.change = func(*directory.Config) {}
		}
		p, known, err := c.SignIn(t.Context(), configOf(s, row.change), row.username, row.password)
		if err == nil {
			t.Errorf("%s: signed in as %+v", name, p)
			continue
		}
		if e := errs.Of(err); e.Code != row.code || known != row.known {
			t.Errorf("%s: %s (%v), known %q", name, e.Code, err, known)
		}
		for _, secret := range []string{directorytest.Password, directorytest.Base} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error has %s: %v", name, secret, err)
			}
		}
	}
}

// Another server is asked when one can't be reached, and the one that works is asked first then.
func TestSignIn_SeveralServers(t *testing.T) {
	t.Parallel()
	s, other, c := directorytest.Start(t), directorytest.Start(t), newClient(t)
	config := configOf(s, func(c *directory.Config) {
		c.Servers = []string{s.Secure, other.Secure}
		c.Certificates += other.Authority
	})
	s.Stop()
	for range 2 {
		if _, _, err := c.SignIn(t.Context(), config, "ann", directorytest.Password); err != nil {
			t.Error(err)
		}
	}
	other.Stop()
	if _, _, err := c.SignIn(t.Context(), config, "ann", directorytest.Password); !errs.Is(err, errs.Busy) {
		t.Errorf("no server: %v", err)
	}
}

// A person can be in many groups.
func TestSignIn_ManyGroups(t *testing.T) {
	t.Parallel()
	s, c := directorytest.Start(t), newClient(t)
	for n := range 100 {
		s.AddGroup(fmt.Sprint("group-", n), "bob")
	}
	p, _, err := c.SignIn(t.Context(), configOf(s), "bob", directorytest.Password)
	if err != nil {
		t.Fatal(err)
	}
	if groups := slices.Compact(slices.Sorted(slices.Values(p.Attributes["groups"]))); len(groups) != 101 {
		t.Errorf("%d groups", len(groups))
	}
}
