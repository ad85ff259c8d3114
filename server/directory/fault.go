package directory

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"regexp"
	"time"

	"github.com/go-ldap/ldap/v3"

	"reeve/server/outgoing"
	"reeve/store/errs"
)

// Errors are in fixed words: those of a directory can contain DNs and what was sent.

var (
	errAmbiguous = errs.New(errs.Denied,
		"the directory has more than one entry for this username; an administrator has to check the user filter").Coded("directory_ambiguous")
	errNoBase = errs.New(errs.Denied,
		"the directory has no entry with the base DN; an administrator has to check the settings").Coded("directory_base")
	errSearch = errs.New(errs.Denied,
		"the directory does not allow the search; an administrator has to check the bind DN and its password").Coded("directory_search")
	errGroups = errs.New(errs.Denied,
		"you are in more than %d groups of the directory", maxGroups).Coded("directory_groups")
	errExpired = errs.New(errs.Denied,
		"the password has expired or has to be changed; change it at the directory first").Coded("directory_password")
)

func hostOf(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Host
}

func unreachable(server string) error {
	return errs.New(errs.Busy, "%s can't be reached; sign in with your password, or try again later",
		hostOf(server)).After(time.Minute).Coded("provider_unreachable")
}

func slow(server string) error {
	return errs.New(errs.Busy, "%s did not answer in time; sign in with your password, or try again later",
		hostOf(server)).After(time.Minute).Coded("provider_slow")
}

// connectFault returns why no connection was made.
func connectFault(ctx context.Context, server string, err error) error {
	var refused *outgoing.RefusedError
	var network net.Error
	switch {
	case errors.As(err, &refused):
		return errs.New(errs.Denied, "%s", refused.Message(hostOf(server)))
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return slow(server)
	}
	return unreachable(server)
}

// tlsFault returns why a connection has no TLS.
func tlsFault(ctx context.Context, server string, err error) error {
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var verification *tls.CertificateVerificationError
	var network net.Error
	switch {
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return slow(server)
	case errors.As(err, &host), errors.As(err, &unknown), errors.As(err, &verification),
		certificateWords.MatchString(err.Error()): // StartTLS returns the error as a text
		return errs.New(errs.Denied, "the certificate of %s is not that of a trusted authority for this name, or has expired",
			hostOf(server)).Coded("directory_certificate")
	}
	return errs.New(errs.Denied, "%s offers no TLS: use ldaps:// or set it up for StartTLS", hostOf(server)).Coded("directory_tls")
}

var certificateWords = regexp.MustCompile(`x509: |certificate`)

// fault returns an error of a search.
func (c *conn) fault(ctx context.Context, err error) error {
	var answer *ldap.Error
	switch {
	case ctx.Err() != nil, ldap.IsErrorWithCode(err, ldap.LDAPResultTimeLimitExceeded),
		ldap.IsErrorWithCode(err, ldap.LDAPResultTimeout):
		return slow(c.server)
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultInsufficientAccessRights, ldap.LDAPResultOperationsError,
		ldap.LDAPResultStrongAuthRequired, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultInvalidCredentials):
		return errSearch
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultNoSuchObject, ldap.LDAPResultInvalidDNSyntax):
		return errNoBase
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultBusy, ldap.LDAPResultUnavailable):
		return errs.New(errs.Busy, "the provider has a fault; try again later").After(time.Minute).Coded("provider_fault")
	case ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded):
		return errGroups
	case errors.As(err, &answer) && answer.ResultCode < ldap.ErrorNetwork:
		return errs.New(errs.Denied, "the directory refuses the request with the code %d; an administrator has to check the settings",
			int(answer.ResultCode)).Coded("directory_code")
	}
	return unreachable(c.server)
}

func isWrong(err error) bool {
	return ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInvalidDNSyntax)
}

// mustChange matches what Active Directory says of a right password that has expired (532) or has to
// be changed (773).
var mustChange = regexp.MustCompile(`\bdata (532|773)\b`)

// personFault returns why a person could not bind.
func (c *conn) personFault(ctx context.Context, err error) error {
	switch {
	case isWrong(err) && mustChange.MatchString(err.Error()):
		return errExpired
	case isWrong(err), ldap.IsErrorAnyOf(err, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultNoSuchObject,
		ldap.LDAPResultUnwillingToPerform, ldap.LDAPResultConstraintViolation): // no password, or locked
		return ErrWrong
	}
	return c.fault(ctx, err)
}
