package directory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-ldap/ldap/v3"

	"reeve/store/errs"
)

const (
	memberOf   = "memberOf"
	objectGUID = "objectGUID"
)

// attributes returns the names of the attributes to ask for.
func (c *Config) attributes() []string {
	names := map[string]string{} // attributes are compared without case
	for _, name := range append([]string{memberOf, c.IDAttribute, c.UsernameAttribute, c.NameAttribute, c.EmailAttribute},
		c.Attributes...) {
		if name != "" && !strings.EqualFold(name, GroupsClaim) {
			names[strings.ToLower(name)] = name
		}
	}
	return slices.Sorted(maps.Values(names))
}

// maxID is the maximum length of the ID of a person, in bytes.
const maxID = 255

// person returns what an entry says. Values that are no texts are left out, but the ID.
func (c *Config) person(entry *ldap.Entry) (*Person, error) {
	p := &Person{
		DN:         entry.DN,
		ID:         idOf(c.IDAttribute, entry.GetEqualFoldRawAttributeValues(c.IDAttribute)),
		Username:   entry.GetEqualFoldAttributeValue(c.UsernameAttribute),
		Name:       entry.GetEqualFoldAttributeValue(c.NameAttribute),
		Email:      entry.GetEqualFoldAttributeValue(c.EmailAttribute),
		Attributes: map[string][]string{},
	}
	if p.ID == "" || len(p.ID) > maxID {
		return nil, errs.New(errs.Denied, "the entry at the directory has no attribute %s, by which people are told apart; an administrator has to check the settings",
			c.IDAttribute).Coded("directory_id")
	}
	for _, a := range entry.Attributes {
		texts := slices.DeleteFunc(slices.Clone(a.Values), func(text string) bool { return !utf8.ValidString(text) })
		if strings.EqualFold(a.Name, c.IDAttribute) {
			texts = []string{p.ID}
		}
		name := a.Name
		if strings.EqualFold(name, memberOf) {
			name = memberOf
		}
		p.Attributes[name] = texts
	}
	return p, nil
}

// idOf returns the only value of an attribute as a text; "" if it has none or several. GUIDs are
// written as Active Directory does.
func idOf(attribute string, values [][]byte) string {
	if len(values) != 1 {
		return ""
	}
	v := values[0]
	switch {
	case strings.EqualFold(attribute, objectGUID) && len(v) == 16:
		return fmt.Sprintf("%x-%x-%x-%x-%x", []byte{v[3], v[2], v[1], v[0]}, []byte{v[5], v[4]}, []byte{v[7], v[6]},
			v[8:10], v[10:])
	case !utf8.Valid(v):
		return fmt.Sprintf("%x", v)
	}
	return string(v)
}

// IsDN reports whether a text is a DN (RFC 4514), also an empty one.
func IsDN(text string) bool {
	_, err := ldap.ParseDN(text)
	return err == nil
}

// IsFilter reports whether a text is a filter (RFC 4515).
func IsFilter(text string) bool {
	_, err := ldap.CompileFilter(text)
	return err == nil
}

// Has reports whether an attribute has a value, or whether the person is in the group with a DN.
func (p *Person) Has(attribute, value string) bool {
	dn, _ := ldap.ParseDN(value) // nil for other values
	for name, values := range p.Attributes {
		if !strings.EqualFold(name, attribute) {
			continue
		}
		for _, v := range values {
			if strings.EqualFold(v, value) {
				return true
			}
			if dn == nil {
				continue
			}
			if other, err := ldap.ParseDN(v); err == nil && dn.EqualFold(other) {
				return true
			}
		}
	}
	return false
}
