package mail

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"reeve/store/disk/disktest"
)

// shortLimits are for tests in which a limit must be reached. The limit is far above what
// other answers take.
var shortLimits = limits{command: time.Second, accept: time.Second, quit: time.Second}

// script is what a server answers: a greeting, then one answer for every line it reads, or
// for all lines of a message after 354.
type script []string

// answers are those of a good server, each for the command before it.
var answers = script{"220 mx.example.org", "250-mx.example.org\r\n250 AUTH LOGIN", "250 sender",
	"250 recipient", "354 go on", "250 queued"}

// scripted starts a server that plays a script on every connection, reads one more line and
// then gives the connection to end.
func scripted(t *testing.T, lines script, end func(net.Conn)) Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ended := make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed below
			}
			closed := context.AfterFunc(ctx, func() { conn.Close() })
			if play(conn, lines) == nil {
				end(conn)
			}
			closed()
			conn.Close()
		}
	}()

	t.Cleanup(func() {
		stop()
		l.Close()
		<-ended
	})
	return Server{
		Host:     "127.0.0.1",
		Port:     l.Addr().(*net.TCPAddr).Port,
		Security: NoTLS,
		From:     "reeve@example.org",
	}
}

// play runs a script. It returns after it has read the line that nothing answers.
func play(conn net.Conn, lines script) error {
	r := bufio.NewReaderSize(conn, 16)
	for _, line := range lines {
		if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
			return err
		}

		until := ""
		if strings.HasPrefix(line, "354") {
			until = ".\r\n"
		}

		for {
			got, err := r.ReadString('\n')
			if err != nil {
				return err
			}
			if until == "" || got == until {
				break
			}
		}
	}
	return nil
}

// repeat writes text until the client closes the connection.
func repeat(text string) func(net.Conn) {
	return func(conn net.Conn) {
		for {
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

func silence(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn) // until the client closes it
}

// trickle writes a byte of an answer from time to time.
func trickle(conn net.Conn) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for range ticker.C {
		if _, err := io.WriteString(conn, "2"); err != nil {
			return
		}
	}
}

// hostile are things that a server does instead of an answer.
var hostile = []struct {
	what string
	end  func(net.Conn)
	text string // of the Fault; "" for any
}{
	{"silence", silence, "the server did not answer in time"},
	{"a byte at a time", trickle, "the server did not answer in time"},
	{"an end", func(net.Conn) {}, "the server closed the connection"},
	{"garbage", func(conn net.Conn) {
		fmt.Fprintf(conn, "\x00\xff\x1b[2J garbage\r\n\r\n250\r\n")
	}, ""},
	{"an endless line", repeat("2500"), "the answer of the server is too long"},
	{"an endless answer", repeat("250-x\r\n"), "the answer of the server is too long"},
	{"an endless answer of empty lines", repeat("\r\n"), ""},
}

// faults are those of a connection that is lost instead of the answer with the same index.
var faults = []Fault{
	{Stage: StageConnect, Down: true},
	{Stage: StageConnect, Down: true},
	{Stage: StageConnect, Down: true}, // to MAIL FROM, before the message has been looked at
	{Stage: StageRecipient},
	{Stage: StageData},
	{Stage: StageData},
}

// TestHostileServers covers everything that a server can do instead of each answer.
func TestHostileServers(t *testing.T) {
	for i, want := range faults {
		for _, test := range hostile {
			t.Run(fmt.Sprintf("%s instead of %q", test.what, answers[i]), func(t *testing.T) {
				t.Parallel()
				s := scripted(t, answers[:i], test.end)
				if i == 0 {
					s = scriptedGreeting(t, test.end)
				}
				c, err := dial(t.Context(), s, shortLimits)
				if err == nil {
					defer c.Close()
					_, err = c.Send(t.Context(), testMessage())
				}
				got, want := faultOf(t, err), want
				want.Text = cmp.Or(test.text, got.Text)
				disktest.Equal(t, "fault", got, want)
			})
		}
	}
}

// scriptedGreeting starts a server that does something instead of its greeting.
func scriptedGreeting(t *testing.T, end func(net.Conn)) Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed below
			}
			end(conn)
			conn.Close()
		}
	}()

	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return Server{
		Host:     "127.0.0.1",
		Port:     l.Addr().(*net.TCPAddr).Port,
		Security: NoTLS,
		From:     "reeve@example.org",
	}
}

// TestHostileTLS covers everything that a server can do instead of a TLS handshake.
func TestHostileTLS(t *testing.T) {
	for _, test := range hostile {
		for _, security := range []string{TLSImplicit, TLSRequired} {
			t.Run(test.what+" with "+security, func(t *testing.T) {
				t.Parallel()
				s := scriptedGreeting(t, test.end)
				if security == TLSRequired {
					s = scripted(t, script{"220 mx", "250-mx\r\n250 STARTTLS", "220 go on"},
						test.end)
				}
				s.Security = security
				_, err := dial(t.Context(), s, shortLimits)
				got := faultOf(t, err)
				disktest.Equal(t, "fault", got, Fault{Stage: StageTLS, Text: got.Text, Down: true})
			})
		}
	}
}

// TestInjectionBeforeTLS covers somebody on the network who adds an answer in clear text
// before the TLS handshake: nothing of it may count.
func TestInjectionBeforeTLS(t *testing.T) {
	certificate, roots := testCertificate(t)
	s := scripted(t, script{"220 mx", "250-mx\r\n250-AUTH PLAIN\r\n250 STARTTLS"},
		func(conn net.Conn) {
			fmt.Fprint(conn, "220 go on\r\n250-mx\r\n250 AUTH LOGIN\r\n")
			secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}})
			if _, err := bufio.NewReader(secure).ReadString('\n'); err != nil {
				return
			}
			fmt.Fprint(secure, "250 mx\r\n")
			silence(secure)
		})
	s.Security, s.Roots, s.Username, s.Password = TLSRequired, roots, "reeve", secret
	_, err := dial(t.Context(), s, shortLimits)
	disktest.Equal(t, "fault", faultOf(t, err), Fault{
		Stage: StageAuth,
		Text:  `the server offers neither AUTH PLAIN nor AUTH LOGIN: ""`,
		Down:  true,
	})
}

// TestHostileAuthentication covers what a server can do during authentication.
func TestHostileAuthentication(t *testing.T) {
	plain := base64.StdEncoding.EncodeToString([]byte("\x00reeve\x00" + secret))
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, test := range []struct {
		what, answer string
		want         Fault
	}{
		{"endless challenges", "334 VXNlcm5hbWU6",
			Fault{Text: "unexpected server response: Username:"}},
		{"challenges with the password", "334 " + encoded,
			Fault{Text: "unexpected server response: ***"}},
		{"the password in the answer", "535 " + secret + " " + encoded + " " + plain, Fault{
			Status: 535,
			Text:   "*** *** ***",
		}},
		{"the password in pieces", "535 pass\x01word-can\u200bary-äöü", Fault{
			Status: 535,
			Text:   "***",
		}},
		{"no reason", "535 ", Fault{Status: 535, Text: "no reason given"}},
		{"not base64", "334 %", Fault{Text: "illegal base64 data at input byte 0"}},
		{"a long answer", "535 " + strings.Repeat("ü", 1000), Fault{
			Status: 535,
			Text:   strings.Repeat("ü", 248) + "…",
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			s := scripted(t, answers[:2], repeat(test.answer+"\r\n"))
			s.Username, s.Password = "reeve", secret
			_, err := dial(t.Context(), s, shortLimits)
			test.want.Stage, test.want.Down = StageAuth, true
			disktest.Equal(t, "fault", faultOf(t, err), test.want)
		})
	}
}

// TestServer_StopsReading sends a message that does not fit into the buffers of a connection.
func TestServer_StopsReading(t *testing.T) {
	stop := make(chan struct{})
	s := scripted(t, answers[:4], func(conn net.Conn) {
		fmt.Fprint(conn, "354 go on\r\n")
		<-stop
	})

	defer close(stop)
	c, err := dial(t.Context(), s, shortLimits)
	must(t, err)
	defer c.Close()
	m := testMessage()
	m.Text = strings.Repeat(strings.Repeat("x", 70)+"\n", 1<<18)
	_, err = c.Send(t.Context(), m)
	disktest.Equal(t, "fault", faultOf(t, err), Fault{
		Stage: StageData,
		Text:  "the server did not answer in time",
	})
}

// TestCancel_EndsEverything cancels while a server is silent, with the limits of the program.
func TestCancel_EndsEverything(t *testing.T) {
	for i := range answers[1:] {
		t.Run(fmt.Sprintf("before %q", answers[i+1]), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			s := scripted(t, answers[:i+1], func(conn net.Conn) {
				cancel()
				silence(conn)
			})
			c, err := Dial(ctx, s)
			if err == nil {
				defer c.Close()
				_, err = c.Send(ctx, testMessage())
			}
			want := faults[i+1]
			want.Text = "canceled"
			disktest.Equal(t, "fault", faultOf(t, err), want)
		})
	}
}

// TestSend_ResetFails covers a server that closes the connection after it has rejected a
// recipient: the next message is sent over another.
func TestSend_ResetFails(t *testing.T) {
	s := scripted(t, append(answers[:3:3], "550 5.1.1 unknown"), func(net.Conn) {})
	c, err := dial(t.Context(), s, shortLimits)
	must(t, err)
	defer c.Close()
	for range 2 {
		_, err = c.Send(t.Context(), testMessage())
		disktest.Equal(t, "fault", faultOf(t, err), Fault{
			Stage:     StageRecipient,
			Status:    550,
			Text:      "5.1.1 unknown",
			Permanent: true,
		})
	}
}

// TestGreylisting sends the same message twice: the first time it is turned away.
func TestGreylisting(t *testing.T) {
	first := true
	s := &server{reject: func(stage, _ string) error {
		if stage != StageRecipient || !first {
			return nil
		}
		first = false
		return &smtp.SMTPError{
			Code:         451,
			EnhancedCode: smtp.EnhancedCode{4, 7, 1},
			Message:      "Greylisted, come back",
		}
	}}
	c := dialed(t, s.start(t, TLSRequired))
	_, err := c.Send(t.Context(), testMessage())
	disktest.Equal(t, "fault", faultOf(t, err), Fault{
		Stage:  StageRecipient,
		Status: 451,
		Text:   "4.7.1 Greylisted, come back",
	})
	_, err = c.Send(t.Context(), testMessage())
	must(t, err)
	got, _ := s.got()
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}

	checkMessage(t, got[0].data, testMessage())
	if n := strings.Count(s.sent(), "\r\nRSET\r\n"); n != 1 {
		t.Errorf("%d RSET, want one after the rejection:\n%s", n, s.sent())
	}
}

// TestConnectionRefused dials a port at which nothing listens.
func TestConnectionRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	must(t, l.Close())
	for _, test := range []struct {
		what string
		to   Server
	}{
		{"nothing listens", Server{Host: "127.0.0.1", Port: port, Security: TLSRequired}},
		{"no such port", Server{Host: "127.0.0.1", Port: 1 << 20, Security: TLSRequired}},
		{"no host", Server{Port: port, Security: TLSImplicit}},
		{"hostile host", Server{Host: "a\r\nb", Port: port, Security: TLSImplicit}},
	} {
		t.Run(test.what, func(t *testing.T) {
			_, err := dial(t.Context(), test.to, shortLimits)
			got := faultOf(t, err)
			disktest.Equal(t, "fault", got, Fault{Stage: StageConnect, Text: got.Text, Down: true})
		})
	}
}
