package mail

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Values of Fault.Stage, in the order of a connection.
const (
	StageConnect   = "connect"   // name resolution, connection, greeting
	StageTLS       = "tls"       // STARTTLS, or the TLS handshake
	StageAuth      = "auth"      // authentication
	StageSender    = "sender"    // MAIL FROM
	StageRecipient = "recipient" // RCPT TO
	StageData      = "data"      // DATA, and the message itself
)

// Fault is why a message was not sent. If it is neither Permanent nor Down, sending this
// message later may succeed.
type Fault struct {
	Stage  string // one of the Stage constants
	Status int    // SMTP status of the server; 0 if it did not answer
	// Response of the server, or error of the network: one printable line of at most 500 bytes,
	// without the password.
	Text      string
	Permanent bool // sending the same message again would fail again: a 5xx status for the sender, the recipient or the message
	Down      bool // the server cannot be used at all now: other messages would fail, too
}

func (f *Fault) Error() string {
	if f.Status != 0 {
		return fmt.Sprintf("%s: %d %s", f.Stage, f.Status, f.Text)
	}
	return f.Stage + ": " + f.Text
}

// errTooLong is the error for an answer of more than maxAnswer bytes.
var errTooLong = errors.New("the answer of the server is too long")

// fault returns the Fault for an error at a stage.
func (c *Client) fault(ctx context.Context, stage string, err error) *Fault {
	f := &Fault{Stage: stage,
		Down: stage == StageConnect || stage == StageTLS || stage == StageAuth}
	var answer *textproto.Error
	if errors.As(err, &answer) {
		f.Status = answer.Code
		f.Text = cmp.Or(c.server.conceal(answer.Msg), "no reason given")
		f.Permanent = !f.Down && f.Status >= 500 && f.Status <= 599
		return f
	}
	if c.link != nil && c.link.err != nil {
		err = c.link.err // err may only be about the beginning of a line
	}
	f.Text = c.server.conceal(describe(ctx, err))
	return f
}

// refuse returns a permanent Fault for a message that is not sent at all.
func refuse(stage, text string) *Fault {
	return &Fault{Stage: stage, Text: text, Permanent: true}
}

// unusable returns a Fault for a server that cannot be used.
func unusable(stage, text string) *Fault {
	return &Fault{Stage: stage, Text: text, Down: true}
}

// describe returns the text of an error of the network. It prefers the reason why the
// connection was closed to the consequence.
func describe(ctx context.Context, err error) string {
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return "canceled"
	case ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) &&
		timeout.Timeout():
		return "the server did not answer in time"
	case errors.Is(err, errTooLong):
		return errTooLong.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection"
	}
	return err.Error()
}

// maxText is the limit of the bytes of Fault.Text and Reply.Text.
const maxText = 500

// conceal returns a text of the server as one printable line, without the password, even
// if the server repeats what it was sent.
func (s *Server) conceal(text string) string {
	// Once before and once after: removing characters can put a password together.
	text = s.withoutPassword(oneLine(s.withoutPassword(text)))
	if len(text) <= maxText {
		return text
	}
	end := maxText - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// withoutPassword replaces the password, and its encodings in AUTH PLAIN and AUTH LOGIN.
func (s *Server) withoutPassword(text string) string {
	if s.Password == "" {
		return text
	}

	secrets := []string{
		base64.StdEncoding.EncodeToString([]byte("\x00" + s.Username + "\x00" + s.Password)),
		base64.StdEncoding.EncodeToString([]byte(s.Password)),
		s.Password,
		oneLine(s.Password),
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}

	return text
}

// oneLine returns text without control, format and replacement characters; white space
// becomes single spaces.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == 0:
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
