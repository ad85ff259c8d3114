// Package directory signs people in with a directory, such as OpenLDAP or Active Directory, by LDAP
// (RFC 4511). It knows neither routes nor sessions.
//
// Start with [Client.SignIn]: it finds the entry of a person with the account that may search, and then
// binds as that entry with the person's password. Nothing is changed in the directory, and nothing is
// copied from it but what is said of the person who signs in.
//
// Directories are not trusted more than other providers: connections are made only where package outgoing
// allows, what a directory sends is bounded, and a step takes at most ten seconds. Passwords are sent by
// TLS, unless the provider is set to do without.
//
//	client := directory.NewClient(allow)
//	person, err := client.SignIn(ctx, config, "ann", "password")
package directory

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"reeve/store"
	"reeve/store/errs"
)

// Config is how a directory is asked.
type Config struct {
	*store.Directory
	Secret     string   // password of BindDN
	Attributes []string // attributes to ask for, besides those of Directory
}

// Person is what a directory says of a person.
type Person struct {
	ID         string // never that of another person
	DN         string
	Username   string
	Name       string
	Email      string              // "" for none
	Attributes map[string][]string // those that were asked for, with GroupsClaim
}

// GroupsClaim is the attribute of Person with the DNs of all groups, those in memberOf too.
const GroupsClaim = "groups"

// ErrWrong rejects a name or password that the directory does not accept.
var ErrWrong = errs.New(errs.Unauthenticated, "wrong username or password").Coded("wrong_credentials")

// SignIn returns the person with a username and password. The error is ErrWrong for an unknown name and
// for a wrong password alike; known is then the username of the entry, "" if there is none.
func (c *Client) SignIn(ctx context.Context, config *Config, username, password string) (p *Person, known string, err error) {
	if username == "" || password == "" { // a bind without a password succeeds, and proves nothing (RFC 4513, 5.1.2)
		return nil, "", ErrWrong
	}
	end, err := c.begin(config)
	if err != nil {
		return nil, "", err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	conn, err := c.connect(ctx, config)
	if err != nil {
		return nil, "", err
	}
	defer conn.Close()
	defer func() {
		if errs.Is(err, errs.Busy) {
			c.mark(conn.server)
		}
	}()

	if config.BindDN != "" {
		if err := conn.bindService(ctx, config); err != nil {
			return nil, "", err
		}
	}
	entry, err := conn.find(ctx, config, username)
	if err != nil {
		return nil, "", err
	}
	if entry == nil {
		_ = conn.Bind("cn="+rand.Text()+","+config.BaseDN, password) // takes about as long as for a known name
		return nil, "", ErrWrong
	}
	if p, err = config.person(entry); err != nil {
		return nil, "", err
	}
	if err := conn.Bind(entry.DN, password); err != nil {
		return nil, p.Username, conn.personFault(ctx, err)
	}
	// Groups are searched last, so that a wrong password takes as long as an unknown name.
	if err = conn.bindService(ctx, config); err == nil {
		err = conn.addGroups(ctx, config, p, username)
	}
	return p, p.Username, err
}

// bindService binds as the account that searches, or as none.
func (c *conn) bindService(ctx context.Context, config *Config) error {
	var err error
	if config.BindDN == "" {
		err = c.UnauthenticatedBind("")
	} else {
		err = c.Bind(config.BindDN, config.Secret)
	}
	switch {
	case err == nil:
		return nil
	case isWrong(err):
		return errSearch
	}
	return c.fault(ctx, err)
}

// maxFound limits the entries that are asked for: one more than may be found.
const maxFound = 2

// find returns the entry of a person; nil if there is none.
func (c *conn) find(ctx context.Context, config *Config, username string) (*ldap.Entry, error) {
	filter := strings.ReplaceAll(config.UserFilter, "{username}", ldap.EscapeFilter(username))
	found, err := c.search(ctx, config.BaseDN, filter, maxFound, config.attributes())
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded), len(found) > 1:
		return nil, errAmbiguous
	case ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject):
		return nil, errNoBase
	case err != nil:
		return nil, c.fault(ctx, err)
	case len(found) == 0:
		return nil, nil
	}
	return found[0], nil
}

// maxGroups limits the groups of a person.
const maxGroups = 2000

// addGroups adds the groups of which a person is a member.
func (c *conn) addGroups(ctx context.Context, config *Config, p *Person, username string) error {
	groups := p.Attributes[memberOf]
	if config.GroupBaseDN != "" && config.GroupFilter != "" {
		filter := strings.NewReplacer("{dn}", ldap.EscapeFilter(p.DN), "{username}", ldap.EscapeFilter(username)).
			Replace(config.GroupFilter)
		found, err := c.search(ctx, config.GroupBaseDN, filter, maxGroups, []string{"1.1"}) // no attributes
		if err != nil {
			return c.fault(ctx, err)
		}
		for _, group := range found {
			groups = append(groups, group.DN)
		}
	}
	if len(groups) > maxGroups {
		return errGroups
	}
	p.Attributes[GroupsClaim] = groups
	return nil
}

func (c *conn) search(ctx context.Context, base, filter string, limit int, attributes []string) ([]*ldap.Entry, error) {
	found, err := c.Search(ldap.NewSearchRequest(base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, limit,
		int(timeLimit.Seconds()), false, filter, attributes, nil))
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return found.Entries, nil // references to other servers are not followed
}
