package directorytest

import (
	"crypto/tls"
	"crypto/x509"
)

// config refuses passwords that are sent without TLS.
const config = `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile {dir}/slapd.pid
sizelimit 500
TLSCertificateFile {dir}/cert.pem
TLSCertificateKeyFile {dir}/key.pem
security simple_bind=112
database mdb
maxsize 16777216
suffix "{base}"
rootdn "cn=root,{base}"
rootpw "{password}"
directory {dir}/db
overlay memberof
access to attrs=userPassword by anonymous auth by * none
{access}
access to * by dn.exact="cn=reader,{base}" read by * none
`

const people = `dn: {base}
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: cn=reader,{base}
objectClass: person
cn: reader
sn: reader
userPassword: {password}

dn: {people}
objectClass: organizationalUnit
ou: people

dn: {groups}
objectClass: organizationalUnit
ou: groups

dn: uid=ann,{people}
objectClass: inetOrgPerson
uid: ann
cn: Ann Example
sn: Example
mail: ann@example.org
departmentNumber: 42
userPassword: {password}

dn: uid=bob,{people}
objectClass: inetOrgPerson
uid: bob
cn: Bob Example
sn: Example
userPassword: {password}

dn: cn=all,{groups}
objectClass: groupOfNames
cn: all
member: uid=ann,{people}
member: uid=bob,{people}
`

func (s *Server) tls() *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(s.Authority))
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}
