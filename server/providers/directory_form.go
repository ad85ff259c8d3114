package providers

import (
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"regexp"
	"strings"

	"reeve/server/directory"
	"reeve/store"
	"reeve/store/errs"
)

// directoryIn is the input of providers that are directories.
type directoryIn struct {
	Servers           *[]string   `json:"servers" check:"max=10" doc:"For a directory: URLs of its servers, ldaps://host or ldap://host, with :port if it is not the usual one. They are tried in this order"`
	Plain             *store.Flag `json:"plain" doc:"For a directory: 1 to use ldap:// without StartTLS, so that passwords are sent without encryption; only to hosts in providers.allow of the configuration"`
	Certificates      *string     `json:"certificates" check:"max=100000,raw" doc:"For a directory: certificates in PEM of authorities that are trusted besides those of the system"`
	BindDN            *string     `json:"bind_dn" check:"max=1000,text" doc:"For a directory: DN of the account that searches, with its password in client_secret; empty to search without an account"`
	BaseDN            *string     `json:"base_dn" check:"max=1000,text" doc:"For a directory: DN of the entry below which people are. Required"`
	UserFilter        *string     `json:"user_filter" check:"max=2000,text" doc:"For a directory: filter that finds a person, with {username} in place of the username; what is usual for the kind by default, as are the other fields"`
	IDAttribute       *string     `json:"id_attribute" check:"max=100,text" doc:"For a directory: attribute by which people are told apart, which never changes and is never used again"`
	UsernameAttribute *string     `json:"username_attribute" check:"max=100,text" doc:"For a directory: attribute with the username"`
	NameAttribute     *string     `json:"name_attribute" check:"max=100,text" doc:"For a directory: attribute with the name"`
	EmailAttribute    *string     `json:"email_attribute" check:"max=100,text" doc:"For a directory: attribute with the address. It counts as that of the person only with trusts_address"`
	GroupBaseDN       *string     `json:"group_base_dn" check:"max=1000,text" doc:"For a directory: DN of the entry below which groups are searched; empty to use only the groups that the attribute memberOf names"`
	GroupFilter       *string     `json:"group_filter" check:"max=2000,text" doc:"For a directory: filter that finds the groups of a person, with {dn} in place of the DN, or {username}"`
}

var attributePattern = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9.;-]*$`)

// checkDirectory checks what only directories have.
func checkDirectory(v *store.Provider, faults errs.Faults) {
	for field, text := range map[string]string{"issuer": v.Issuer, "client_id": v.ClientID} {
		if text != "" {
			faults.Add(field, "must be empty for a directory")
		}
	}
	for field, list := range map[string][]string{"scopes": v.Scopes, "factor_values": v.FactorValues} {
		if len(list) > 0 {
			faults.Add(field, "must be empty for a directory")
		}
	}
	if len(v.Servers) == 0 {
		faults.Add("servers", "is required")
	}
	for _, server := range v.Servers {
		u, err := url.Parse(server)
		if err != nil || u.Scheme != "ldap" && u.Scheme != "ldaps" || u.Hostname() == "" || u.User != nil ||
			u.Path != "" || u.RawQuery != "" || u.Fragment != "" || len(server) > 300 {
			faults.Add("servers", "must be URLs like ldaps://ldap.example.org")
		}
	}
	if !areCertificates(v.Certificates) {
		faults.Add("certificates", "must be certificates in PEM")
	}
	for field, dn := range map[string]string{"base_dn": v.BaseDN, "group_base_dn": v.GroupBaseDN} {
		if !directory.IsDN(dn) {
			faults.Add(field, "must be a DN like ou=people,dc=example,dc=org")
		}
	}
	if v.BaseDN == "" {
		faults.Add("base_dn", "is required")
	}
	for field, name := range map[string]string{"id_attribute": v.IDAttribute, "username_attribute": v.UsernameAttribute,
		"name_attribute": v.NameAttribute, "email_attribute": v.EmailAttribute} {
		if !attributePattern.MatchString(name) {
			faults.Add(field, "must be the name of an attribute")
		}
	}
	checkFilter(faults, "user_filter", v.UserFilter, "{username}")
	if v.GroupBaseDN != "" {
		checkFilter(faults, "group_filter", v.GroupFilter, "{dn}", "{username}")
	}
}

// noDirectory adds the fields that only directories have.
func noDirectory(v *store.Provider, faults errs.Faults) {
	given := map[string]bool{"servers": len(v.Servers) > 0, "plain": bool(v.Plain)}
	for field, text := range v.Texts() {
		given[field] = *text != ""
	}
	for field, is := range given {
		if is {
			faults.Add(field, "is for directories: the kinds ldap and active_directory")
		}
	}
}

// checkFilter checks a filter that has one of some texts, in whose place others are put.
func checkFilter(faults errs.Faults, field, filter string, places ...string) {
	filled := filter
	for _, place := range places {
		filled = strings.ReplaceAll(filled, place, "x")
	}
	if filled == filter {
		faults.Add(field, "must have %s", strings.Join(places, " or "))
	} else if !directory.IsFilter(filled) {
		faults.Add(field, "must be an LDAP filter in parentheses")
	}
}

// areCertificates reports whether a text is certificates in PEM, or empty.
func areCertificates(text string) bool {
	for rest := []byte(text); len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		rest = []byte(strings.TrimSpace(string(rest)))
	}
	return true
}
