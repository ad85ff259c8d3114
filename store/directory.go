package store

import (
	"slices"
	"strings"
)

// Kinds of providers that are directories, which people sign in to here: their password is checked by
// LDAP. They differ in what is proposed for the fields of Directory.
const (
	KindLDAP            = "ldap"
	KindActiveDirectory = "active_directory"
)

// Directory is how a directory is asked. It is empty for other providers. The client secret of the
// provider is the password of BindDN.
type Directory struct {
	Servers           []string `json:"servers"`            // ldap:// or ldaps:// URLs, tried in this order
	Plain             Flag     `json:"plain"`              // ldap:// is used without StartTLS
	Certificates      string   `json:"certificates"`       // authorities in PEM, besides those of the system
	BindDN            string   `json:"bind_dn"`            // account that searches; "" for none
	BaseDN            string   `json:"base_dn"`            // entry below which people are
	UserFilter        string   `json:"user_filter"`        // finds a person; has {username}
	IDAttribute       string   `json:"id_attribute"`       // never changes and is never used again
	UsernameAttribute string   `json:"username_attribute"` // proposed for a new account, as is the name
	NameAttribute     string   `json:"name_attribute"`
	EmailAttribute    string   `json:"email_attribute"`
	GroupBaseDN       string   `json:"group_base_dn"` // entry below which groups are; "" to use memberOf alone
	GroupFilter       string   `json:"group_filter"`  // finds the groups of a person, has {dn} or {username}
}

// IsDirectory reports whether people sign in here with the password of a directory.
func (p *Provider) IsDirectory() bool { return p.Kind == KindLDAP || p.Kind == KindActiveDirectory }

// ProposedDirectory returns what is usual for a kind of directory; nothing for other providers.
func ProposedDirectory(kind string) Directory {
	switch kind {
	case KindLDAP:
		return Directory{
			Servers:           []string{},
			UserFilter:        "(&(objectClass=person)(uid={username}))",
			IDAttribute:       "entryUUID",
			UsernameAttribute: "uid",
			NameAttribute:     "cn",
			EmailAttribute:    "mail",
			GroupFilter:       "(&(objectClass=groupOfNames)(member={dn}))",
		}
	case KindActiveDirectory:
		return Directory{
			Servers:           []string{},
			UserFilter:        "(&(objectCategory=person)(objectClass=user)(|(sAMAccountName={username})(userPrincipalName={username})))",
			IDAttribute:       "objectGUID",
			UsernameAttribute: "sAMAccountName",
			NameAttribute:     "displayName",
			EmailAttribute:    "mail",
			GroupFilter:       "(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={dn}))", // also groups in groups
		}
	}
	return Directory{Servers: []string{}}
}

// PersonIssuer returns the issuer of the people of a provider. That of a directory is the provider
// itself, since the entries of two directories may have the same IDs.
func (p *Provider) PersonIssuer() string {
	if p.IsDirectory() {
		return "ldap:" + p.ID.String()
	}
	return p.Issuer
}

// tidy brings the texts of a directory into the form in which they are stored.
func (d *Directory) tidy() {
	for i, server := range d.Servers {
		d.Servers[i] = strings.TrimSuffix(strings.TrimSpace(server), "/")
	}
	d.Servers = slices.DeleteFunc(d.Servers, func(server string) bool { return server == "" })
	if d.Servers == nil {
		d.Servers = []string{}
	}
	d.Certificates = strings.ReplaceAll(d.Certificates, "\r\n", "\n")
	for _, text := range d.Texts() {
		*text = strings.TrimSpace(*text)
	}
}

// Texts returns the fields that are one text, by their names in JSON.
func (d *Directory) Texts() map[string]*string {
	return map[string]*string{
		"certificates":       &d.Certificates,
		"bind_dn":            &d.BindDN,
		"base_dn":            &d.BaseDN,
		"user_filter":        &d.UserFilter,
		"id_attribute":       &d.IDAttribute,
		"username_attribute": &d.UsernameAttribute,
		"name_attribute":     &d.NameAttribute,
		"email_attribute":    &d.EmailAttribute,
		"group_base_dn":      &d.GroupBaseDN,
		"group_filter":       &d.GroupFilter,
	}
}
