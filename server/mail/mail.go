// Package mail sends email over SMTP, and renders the messages that Reeve sends.
//
// [Dial] connects to a [Server], and [Client.Send] sends one [Message] to one recipient; an
// error of either is a [*Fault], which says whether to try the message again and whether
// the server can be used at all. [ParseTemplates] reads the texts, and [Templates.Render]
// makes the subject, the plain text and the HTML of a message from [Data].
//
// The server is not trusted: every command has a timeout, the bytes of an answer are
// bounded, and a response is reduced to one printable line without the password. Nor
// are names and subjects: they are reduced to one line before they reach a header.
//
//	client, err := mail.Dial(ctx, mail.Server{Host: "smtp.example.org", Port: 587, Security: mail.TLSRequired, From: "reeve@example.org"})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	reply, err := client.Send(ctx, &mail.Message{To: "ada@example.org", Subject: subject, Text: text, HTML: html, ID: "1f6b2c@example.org"})
package mail

import (
	"crypto/x509"
	"net"
	"net/mail"
	"strings"
	"unicode"
)

// Values of Server.Security.
const (
	TLSRequired = "starttls" // connect in clear text, then STARTTLS or fail
	TLSImplicit = "tls"      // TLS from the first byte
	NoTLS       = "none"     // clear text
)

// Server is an SMTP server, and the sender of messages.
type Server struct {
	Host     string
	Port     int
	Security string // TLSRequired, TLSImplicit or NoTLS
	Username string // "" for no authentication
	Password string
	From     string         // email address of the sender
	Name     string         // display name of the sender; "" for none
	ReplyTo  string         // email address; "" for none
	Roots    *x509.CertPool // certificate authorities; nil for those of the system
}

// Message is one message, for one recipient.
type Message struct {
	To      string // email address
	ToName  string // display name of the recipient; "" for none
	Subject string
	Text    string
	HTML    string
	ID      string // Message-ID without angle brackets, like 1f6b2c@example.org; stays the same when the message is sent again
}

// Reply is the server's answer to an accepted message.
type Reply struct {
	Text string // such as "250 2.0.0 Ok: queued as 4F…"; one line of at most 500 bytes, "" if unknown
}

// Limits of addresses in bytes, RFC 5321 section 4.5.3.1 (with its erratum 1690).
const (
	maxAddress = 254
	maxLocal   = 64
	maxLabel   = 63 // of a part of the domain, between dots
)

// CheckAddress reports whether text is an email address that a message can be sent to: a
// local part without quotes, and a domain name. Letters outside ASCII are accepted; sending
// to such an address takes a server with SMTPUTF8.
func CheckAddress(text string) bool {
	if len(text) > maxAddress || strings.ContainsFunc(text, isUnprintable) {
		return false
	}
	// The parser also accepts names, comments, quotes and addresses in angle brackets.
	// Then what it returns differs from the text.
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Name != "" || parsed.Address != text {
		return false
	}
	at := strings.LastIndexByte(text, '@')
	return at <= maxLocal && isDomain(text[at+1:])
}

// isUnprintable reports whether r is a control, format, space or replacement character.
func isUnprintable(r rune) bool {
	return !unicode.IsPrint(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar
}

// isDomain reports whether text is a domain name, in ASCII or not.
func isDomain(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return false
			}
		}
	}
	return true
}

// isASCII reports whether text needs no SMTPUTF8.
func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// isLoopback reports whether host is this machine, by its name or address alone: what a name
// server answers is not trusted.
func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
