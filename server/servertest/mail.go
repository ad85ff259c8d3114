package servertest

import (
	"errors"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"reeve/store"
)

// mailbox is an SMTP server that keeps what it gets.
type mailbox struct {
	port int

	mu     sync.Mutex
	mails  []sentMail
	reject func(to string) error // for the recipient of each mail; nil for none
	sender error                 // for the sender of each mail; nil for none
}

// sentMail is one mail.
type sentMail struct{ To, Data string }

// OpenMailbox starts an SMTP server, and sets up the instance to send mail to it.
func (in *Instance) OpenMailbox() *mailbox {
	in.T.Helper()
	box := &mailbox{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Must(in.T, err)
	box.port = l.Addr().(*net.TCPAddr).Port
	s := smtp.NewServer(box)
	s.Domain, s.ErrorLog = "mx.example.org", log.New(io.Discard, "", 0)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l) // ends with an error when it is closed
	}()

	in.T.Cleanup(func() {
		s.Close()
		l.Close() // if Serve has not begun, Close does not know the listener
		<-ended
	})
	in.SendMailTo(box.port)
	return box
}

// SendMailTo sets up the instance to send mail to a port of this machine.
func (in *Instance) SendMailTo(port int) {
	in.T.Helper()
	in.OK("PUT", "/system/setting",
		`{"values":{"mail.enabled":1,"mail.host":"127.0.0.1","mail.port":`+strconv.Itoa(port)+`,"mail.security":"none","mail.from":"reeve@example.org"}}`, "owner")
}

func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &mailSession{box: b}, nil }

type mailSession struct {
	box *mailbox
	to  string
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	return s.box.sender
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.to = to
	if s.box.reject != nil {
		return s.box.reject(to)
	}
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.box.mails = append(s.box.mails, sentMail{s.to, string(data)})
	return nil
}

func (s *mailSession) Reset()        {}
func (s *mailSession) Logout() error { return nil }

// All returns the mails so far.
func (b *mailbox) All() []sentMail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]sentMail{}, b.mails...)
}

// Rejecting makes the server reject recipients.
func (b *mailbox) Rejecting(fn func(to string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reject = fn
}

// RefusingSender makes the server refuse the sender of each mail; nil for no longer.
func (b *mailbox) RefusingSender(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sender = err
}

// Last returns the newest mail to an address.
func (b *mailbox) Last(t testing.TB, to string) sentMail {
	t.Helper()
	all := b.All()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].To == to {
			return all[i]
		}
	}
	t.Fatalf("nothing was sent to %s", to)
	return sentMail{}
}

// Text returns the plain text of a mail, and its subject.
func (r sentMail) Text(t testing.TB) (subject, text string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(r.Data))
	Must(t, err)
	subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	Must(t, err)
	return subject, r.part(t, 0)
}

// HTML returns the HTML of a mail.
func (r sentMail) HTML(t testing.TB) string { return r.part(t, 1) }

// part returns a part of a mail: 0 is the text, 1 the HTML.
func (r sentMail) part(t testing.TB, n int) string {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(r.Data))
	Must(t, err)
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	Must(t, err)
	parts := multipart.NewReader(m.Body, params["boundary"])
	for range n {
		_, err := parts.NextRawPart()
		Must(t, err)
	}

	part, err := parts.NextRawPart()
	Must(t, err)
	body, err := io.ReadAll(quotedprintable.NewReader(part))
	Must(t, err)
	return string(body)
}

var linkURL = regexp.MustCompile(`https://reeve\.example\.org/link/(rv_l_[A-Za-z0-9_-]{49})`)

// Token returns the token of the link in a mail.
func (r sentMail) Token(t testing.TB) string {
	t.Helper()
	_, text := r.Text(t)
	found := linkURL.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no link in %q", text)
	}
	return found[1]
}

// ResolveRequests finds the recipients of requests for new passwords, which otherwise happens after
// some time.
func (in *Instance) ResolveRequests() {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		var ids []store.ID
		for m, err := range store.Mails.All(tx) {
			Must(in.T, err)
			if m.Account().ID == 0 {
				ids = append(ids, m.ID)
			}
		}
		for _, id := range ids {
			Must(in.T, store.ResolveRequest(tx, id))
		}
		return nil
	})
}

// SendMails sends the mails that are due.
func (in *Instance) SendMails() {
	in.T.Helper()
	in.ResolveRequests()
	for range 1000 {
		wait, err := in.Server.Outbox.Round(in.T.Context())
		Must(in.T, err)
		if wait > 0 {
			return
		}
	}
	in.T.Fatal(errors.New("there is always another mail to send"))
}
