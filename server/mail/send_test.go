package mail

import (
	"context"
	"crypto/tls"
	"os"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"reeve/store/disk/disktest"
)

// TestSend sends two messages over one connection, with every kind of TLS and
// authentication.
func TestSend(t *testing.T) {
	for _, security := range []string{TLSRequired, TLSImplicit, NoTLS} {
		for _, mechanisms := range [][]string{nil, {"PLAIN"}, {"LOGIN"},
			{"CRAM-MD5", "LOGIN", "PLAIN"}} {
			t.Run(security+" "+strings.Join(mechanisms, " "), func(t *testing.T) {
				s := &server{mechanisms: mechanisms}
				c := dialed(t, s.start(t, security))
				for range 2 {
					reply, err := c.Send(t.Context(), testMessage())
					must(t, err)
					disktest.Equal(t, "reply", reply, &Reply{Text: "250 2.0.0 OK: queued"})
				}

				must(t, c.Close())
				got, connections := s.got()
				if len(got) != 2 || connections != 1 {
					t.Fatalf("%d messages over %d connections", len(got), connections)
				}

				disktest.Equal(t, "envelope", []string{got[0].from, got[0].to},
					[]string{"reeve@example.org", "ada@example.org"})
				checkMessage(t, got[0].data, testMessage())
				if !strings.Contains(s.sent(), "\r\nQUIT\r\n") {
					t.Errorf("the connection was not ended with QUIT:\n%s", s.sent())
				}
			})
		}
	}
}

func TestHelloName(t *testing.T) {
	s := &server{}
	dialed(t, s.start(t, NoTLS))
	name, err := os.Hostname()
	must(t, err)
	if !strings.Contains(s.sent(), "EHLO "+name+"\r\n") &&
		!strings.Contains(s.sent(), "EHLO localhost\r\n") {
		t.Errorf("neither %s nor localhost:\n%s", name, s.sent())
	}
}

// rejection returns a function that rejects the address "bad@example.org" at a stage.
func rejection(stage string, code int) func(string, string) error {
	return func(at, address string) error {
		if at == stage &&
			(address == "bad@example.org" || stage != StageRecipient && stage != StageData) {
			return &smtp.SMTPError{
				Code:         code,
				EnhancedCode: smtp.EnhancedCode{code / 100, 7, 1},
				Message:      "not\tnow \xff\u202e" + secret,
			}
		}
		return nil
	}
}

// TestRejections covers what the server can reject, with 4xx and 5xx.
func TestRejections(t *testing.T) {
	const text = "7.1 not now ***"
	for _, test := range []struct {
		stage string
		code  int
		want  Fault
	}{
		{StageConnect, 421, Fault{Stage: StageConnect, Status: 421, Text: "4." + text, Down: true}},
		{StageConnect, 554, Fault{Stage: StageConnect, Status: 554, Text: "5." + text, Down: true}},
		{StageAuth, 454, Fault{Stage: StageAuth, Status: 454, Text: "4." + text, Down: true}},
		{StageAuth, 535, Fault{Stage: StageAuth, Status: 535, Text: "5." + text, Down: true}},
		{StageSender, 421, Fault{Stage: StageConnect, Status: 421, Text: "4." + text, Down: true}},
		{StageSender, 451, Fault{Stage: StageSender, Status: 451, Text: "4." + text}},
		{StageSender, 550,
			Fault{Stage: StageSender, Status: 550, Text: "5." + text, Permanent: true}},
		{StageRecipient, 421, Fault{Stage: StageRecipient, Status: 421, Text: "4." + text}},
		{StageRecipient, 451, Fault{Stage: StageRecipient, Status: 451, Text: "4." + text}},
		{StageRecipient, 550, Fault{
			Stage:     StageRecipient,
			Status:    550,
			Text:      "5." + text,
			Permanent: true,
		}},
		{StageData, 452, Fault{Stage: StageData, Status: 452, Text: "4." + text}},
		{StageData, 554, Fault{Stage: StageData, Status: 554, Text: "5." + text, Permanent: true}},
	} {
		t.Run(test.want.Error(), func(t *testing.T) {
			s := &server{mechanisms: []string{"PLAIN"}, reject: rejection(test.stage, test.code)}
			c, err := Dial(t.Context(), s.start(t, TLSRequired))
			if err == nil {
				t.Cleanup(func() { c.Close() })
				m := testMessage()
				m.To = "bad@example.org"
				_, err = c.Send(t.Context(), m)
			}

			disktest.Equal(t, "fault", faultOf(t, err), test.want)
			if test.stage != StageRecipient && test.stage != StageData {
				return
			}

			_, err = c.Send(t.Context(), testMessage()) // to somebody else
			must(t, err)
			want := 1
			if test.code == 421 {
				want = 2
			}
			if got, connections := s.got(); len(got) != 1 || connections != want {
				t.Errorf("%d messages over %d connections, want 1 over %d", len(got), connections,
					want)
			}
		})
	}
}

// TestUnusableServers covers servers that Dial rejects.
func TestUnusableServers(t *testing.T) {
	plain := (&server{}).start(t, NoTLS)
	signIn := (&server{mechanisms: []string{"PLAIN"}}).start(t, TLSRequired)
	implicit := (&server{}).start(t, TLSImplicit)
	old := (&server{options: func(s *smtp.Server) {
		s.TLSConfig.MaxVersion = tls.VersionTLS11
		s.TLSConfig.MinVersion = tls.VersionTLS10
	}}).start(t, TLSImplicit)

	with := func(s Server, change func(*Server)) Server {
		change(&s)
		return s
	}
	for _, test := range []struct {
		what   string
		server Server
		want   Fault
	}{
		{"no STARTTLS", with(plain, func(s *Server) {
			s.Security = TLSRequired
		}), Fault{Stage: StageTLS, Text: "the server does not offer STARTTLS"}},
		{"not TLS", with(plain, func(s *Server) {
			s.Security = TLSImplicit
		}), Fault{Stage: StageTLS, Text: "tls: first record does not look like a TLS handshake"}},
		{"unknown security", with(plain, func(s *Server) {
			s.Security = "ssl\n"
		}), Fault{Stage: StageTLS, Text: `unknown security "ssl"`}},
		{"no authentication", with(plain, func(s *Server) {
			s.Username, s.Password = "reeve", secret
		}),
			Fault{Stage: StageAuth,
				Text: `the server offers neither AUTH PLAIN nor AUTH LOGIN: ""`}},
		{"clear text", with(plain, func(s *Server) {
			s.Host, s.Username, s.Password = "mail.invalid", "reeve", secret
		}), Fault{Stage: StageAuth, Text: "passwords are not sent in clear text; use TLS"}},
		{"clear text, this machine by another name", with(plain, func(s *Server) {
			s.Host, s.Username, s.Password = "127.0.0.1.nip.invalid", "reeve", secret
		}), Fault{Stage: StageAuth, Text: "passwords are not sent in clear text; use TLS"}},
		{"wrong password", with(signIn, func(s *Server) {
			s.Password = "canary"
		}), Fault{Stage: StageAuth, Status: 535, Text: "5.7.8 Authentication failed"}},
		{"unknown authority", with(implicit, func(s *Server) {
			s.Roots = nil
		}), Fault{
			Stage: StageTLS,
			Text:  "tls: failed to verify certificate: x509: certificate signed by unknown authority",
		}},
		{"unknown authority after STARTTLS", with(signIn, func(s *Server) {
			s.Roots = nil
		}), Fault{
			Stage: StageTLS,
			Text:  "tls: failed to verify certificate: x509: certificate signed by unknown authority",
		}},
		{"TLS 1.1", old, Fault{
			Stage: StageTLS,
			Text:  "remote error: tls: protocol version not supported",
		}},
		{"wrong name", with(implicit, func(s *Server) {
			s.Host = "localhost"
		}), Fault{
			Stage: StageTLS,
			Text:  "tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match localhost",
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			test.want.Down = true
			_, err := Dial(t.Context(), test.server)
			disktest.Equal(t, "fault", faultOf(t, err), test.want)
		})
	}
}

func TestSend_Reconnects(t *testing.T) {
	s := &server{mechanisms: []string{"PLAIN"}}
	c := dialed(t, s.start(t, TLSRequired))
	c.link.Close()
	_, err := c.Send(t.Context(), testMessage())
	must(t, err)
	if got, connections := s.got(); len(got) != 1 || connections != 2 {
		t.Errorf("%d messages over %d connections", len(got), connections)
	}

	must(t, c.Close())
	_, err = c.Send(t.Context(), testMessage())
	disktest.Equal(t, "fault after Close", faultOf(t, err), Fault{
		Stage: StageConnect,
		Text:  "the client is closed",
		Down:  true,
	})
}

func TestCanceledContext(t *testing.T) {
	s := (&server{}).start(t, TLSRequired)
	c := dialed(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want := Fault{Stage: StageConnect, Text: "canceled", Down: true}
	_, err := Dial(ctx, s)
	disktest.Equal(t, "Dial", faultOf(t, err), want)
	_, err = c.Send(ctx, testMessage())
	disktest.Equal(t, "Send", faultOf(t, err), want)
	_, err = c.Send(t.Context(), testMessage())
	must(t, err)
}

// TestUnusableMessages covers messages that are not sent at all.
func TestUnusableMessages(t *testing.T) {
	s := &server{}
	usable := s.start(t, NoTLS)
	for _, test := range []struct {
		what   string
		change func(*Server, *Message)
		want   Fault
	}{
		{"recipient", func(_ *Server, m *Message) {
			m.To = "a@example.org>\r\nRCPT TO:<b@example.org"
		},
			Fault{
				Stage: StageRecipient,
				Text:  "the address of the recipient is not an email address",
			}},
		{"sender", func(s *Server, _ *Message) {
			s.From = "Reeve <reeve@example.org>"
		}, Fault{Stage: StageSender, Text: "the address of the sender is not an email address"}},
		{"replies", func(s *Server, _ *Message) {
			s.ReplyTo = "a@example.org,b@example.org"
		}, Fault{Stage: StageSender, Text: "the address for replies is not an email address"}},
		{"Message-ID", func(_ *Server, m *Message) {
			m.ID = "a@b>\r\nBcc: <c@d"
		}, Fault{Stage: StageData, Text: "the Message-ID is not valid"}},
		{"no Message-ID", func(_ *Server, m *Message) {
			m.ID = ""
		}, Fault{Stage: StageData, Text: "the Message-ID is not valid"}},
		{"non-ASCII recipient", func(_ *Server, m *Message) {
			m.To = "ada@bücher.example"
		}, Fault{Stage: StageRecipient, Text: noUTF8}},
		{"non-ASCII sender", func(s *Server, _ *Message) {
			s.From = "grüße@example.org"
		}, Fault{Stage: StageSender, Text: noUTF8}},
	} {
		t.Run(test.what, func(t *testing.T) {
			from, m := usable, testMessage()
			test.change(&from, m)
			test.want.Permanent = true
			c := dialed(t, from)
			_, err := c.Send(t.Context(), m)
			disktest.Equal(t, "fault", faultOf(t, err), test.want)
		})
	}

	if strings.Contains(s.sent(), "MAIL FROM") {
		t.Errorf("a command was sent:\n%s", s.sent())
	}
}

func TestNonASCIIAddresses(t *testing.T) {
	s := &server{options: func(s *smtp.Server) { s.EnableSMTPUTF8 = true }}
	c := dialed(t, s.start(t, NoTLS))
	want := []received{{"reeve@example.org", "用户@例子.测试", true, ""},
		{"reeve@example.org", "ada@bücher.example", true, ""},
		{"reeve@example.org", "ada@example.org", false, ""}}
	for _, w := range want {
		m := testMessage()
		m.To = w.to
		_, err := c.Send(t.Context(), m)
		must(t, err)
	}

	got, _ := s.got()
	for i := range got {
		got[i].data = ""
	}

	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %v, want %v", got, want)
	}
}
