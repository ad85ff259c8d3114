package mail

import (
	"bytes"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Limits of texts in headers, in characters. A longer text is truncated.
const (
	maxName    = 64
	maxSubject = 200
	maxID      = 200 // bytes
)

// envelope is a message as it is sent.
type envelope struct {
	from, to string // paths, in angle brackets
	unicode  string // stage of the first address outside ASCII, for which SMTPUTF8 is necessary; "" if there is none
	data     []byte // headers and body
}

// envelope returns the message ready to send.
func (s *Server) envelope(m *Message) (*envelope, *Fault) {
	switch {
	case !CheckAddress(s.From):
		return nil, refuse(StageSender, "the address of the sender is not an email address")
	case s.ReplyTo != "" && !CheckAddress(s.ReplyTo):
		return nil, refuse(StageSender, "the address for replies is not an email address")
	case !CheckAddress(m.To):
		return nil, refuse(StageRecipient, "the address of the recipient is not an email address")
	case !isID(m.ID):
		return nil, refuse(StageData, "the Message-ID is not valid")
	}

	data, err := s.compose(m, time.Now())
	if err != nil {
		return nil, refuse(StageData, s.conceal(err.Error()))
	}

	e := &envelope{from: path(s.From), to: path(m.To), data: data}
	switch {
	case !isASCII(s.From + s.ReplyTo):
		e.unicode = StageSender
	case !isASCII(m.To):
		e.unicode = StageRecipient
	}

	return e, nil
}

// path returns an address in the form of MAIL FROM and RCPT TO.
func path(address string) string { return "<" + address + ">" }

// isID reports whether text is a Message-ID without its angle brackets: two parts of
// printable ASCII with an @ between them.
func isID(text string) bool {
	left, right, _ := strings.Cut(text, "@")
	return left != "" && right != "" && len(text) <= maxID &&
		!strings.ContainsFunc(text, func(r rune) bool {
			return r <= ' ' || r > '~' || strings.ContainsRune(`<>()[]\,;:"`, r)
		})
}

// compose returns the headers and the body.
func (s *Server) compose(m *Message, at time.Time) ([]byte, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&mail.Address{Name: nameText(s.Name), Address: s.From})
	msg.ToMailAddress(&mail.Address{Name: nameText(m.ToName), Address: m.To})
	if s.ReplyTo != "" {
		msg.ReplyToMailAddress(&mail.Address{Address: s.ReplyTo})
	}

	msg.Subject(headerText(m.Subject, maxSubject))
	msg.SetDateWithValue(at.UTC())
	msg.SetMessageIDWithValue(m.ID)
	// No vacation notices, and no other answers of programs; the second is for Exchange.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader(gomail.HeaderXAutoResponseSuppress, "All")
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, err
	}

	return b.Bytes(), nil
}

// headerText returns text for a header: one line, at most limit characters, and nothing
// that a program would decode.
func headerText(text string, limit int) string {
	// "=?" starts an encoded word, RFC 2047.
	return shorten(strings.ReplaceAll(oneLine(text), "=?", "= ?"), limit)
}

// nameText returns a display name for a header. Package net/mail does not encode a backslash
// between characters outside ASCII, and does not parse it either.
func nameText(name string) string {
	return strings.ReplaceAll(headerText(name, maxName), `\`, "/")
}

// shorten returns the first limit characters; the last one is an ellipsis if there are more.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return strings.TrimSpace(string(runes[:limit-1])) + "…"
}
