package mail

import (
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// hostileTexts are names and subjects that must not leave their header.
var hostileTexts = []string{
	"Ada\r\nBcc: victim@example.org",
	"Ada\nBcc: victim@example.org\n\n<script>",
	"Ada\rBcc: victim@example.org",
	"Ada\x00\x07\x1b[31m",
	"Ada\u2028Bcc: a\u2029b\u0085c\vd\fe",
	`Ada "the countess" Lovelace`,
	`Ada \" <victim@example.org>, "`,
	"<victim@example.org>",
	"victim@example.org, other@example.org;",
	"Ada, Lovelace; (comment) [list]: group:;",
	"=?utf-8?q?Ada=0D=0ABcc:_victim@example.org?=",
	"=?utf-8?b?QWRhDQpCY2M6IHY=?=",
	"=?=?utf-8?q?=0A?=",
	"\u202egnp.eda\u202c\u2066x\u2069",
	"\u200b\ufeff\u00ad",
	"阿达·洛芙莱斯，您好", `ü\中`,
	"👩‍💻 Ада \U0001F1E8\U0001F1F3",
	"\xff\xfe\x80Ada",
	strings.Repeat("a", 10_000),
	strings.Repeat("ü", 10_000),
	strings.Repeat("a ", 5_000),
	strings.Repeat("\r\nBcc: v@example.org", 500),
	strings.Repeat(`"`, 10_000),
	strings.Repeat(`\`, 63) + "\"",
	".\r\n", ".", " ", "", "-", "--boundary--", "%s%d%n", "$(id)", "{{.Link}}",
}

// TestHostileHeaders sends every hostile text in every place to a server.
func TestHostileHeaders(t *testing.T) {
	s := &server{}
	to := s.start(t, NoTLS)
	for _, text := range hostileTexts {
		to.Name, to.ReplyTo = text, "replies@example.org"
		c := dialed(t, to)
		m := testMessage()
		m.ToName, m.Subject, m.Text, m.HTML = text, text, "\n.\r\n..\n", "\n.\n"
		_, err := c.Send(t.Context(), m)
		must(t, err)
		got, _ := s.got()
		last := got[len(got)-1]
		disktest.Equal(t, "envelope", []string{last.from, last.to}, []string{to.From, m.To})
		m.Text = "\n.\n..\n"
		h := checkMessage(t, last.data, m)
		checkAddress(t, h, "From", mail.Address{Name: nameText(text), Address: to.From})
		checkAddress(t, h, "To", mail.Address{Name: nameText(text), Address: m.To})
		checkAddress(t, h, "Reply-To", mail.Address{Address: to.ReplyTo})
		subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
		must(t, err)
		disktest.Equal(t, "subject", subject, headerText(text, maxSubject))
	}
}

// checkAddress checks the only address of a header.
func checkAddress(t *testing.T, h mail.Header, name string, want mail.Address) {
	t.Helper()
	got, err := h.AddressList(name)
	must(t, err)
	if len(got) != 1 || *got[0] != want {
		t.Errorf("%s: %v, want %v, in %q", name, got, want, h.Get(name))
	}
}

// TestRandomHeaders puts random texts of hostile pieces into headers.
func TestRandomHeaders(t *testing.T) {
	random := disktest.Random(t)
	pieces := []string{"\r", "\n", "\r\n", " ", "\t", "\x00", ":", "Bcc: v@example.org", "=?",
		"?=", "utf-8?q?", "\"", "\\", "<", ">", ",", ";", "(", ")", "@", "ü", "中", "\u202e",
		"\xff", "a", "Ada"}

	s := &Server{From: "reeve@example.org"}
	for range disktest.Size(500, 2000, 50_000) {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}

		m := testMessage()
		s.Name, m.ToName, m.Subject = b.String(), b.String(), b.String()
		e, f := s.envelope(m)
		if f != nil {
			t.Fatal(f)
		}

		h := checkMessage(t, string(e.data), m)
		checkAddress(t, h, "From", mail.Address{Name: nameText(b.String()), Address: s.From})
		if t.Failed() {
			t.Fatalf("with %q", b.String())
		}
	}
}

func TestHeaderText(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"  Ada\r\n\tLovelace\x00 ", "Ada Lovelace"},
		{"a\u202eb\u200bc\xffd", "abcd"},
		{"=?utf-8?q?a?=", "= ?utf-8?q?a?="},
		{strings.Repeat("中", maxName), strings.Repeat("中", maxName)},
		{strings.Repeat("中", maxName+1), strings.Repeat("中", maxName-1) + "…"},
		{strings.Repeat("a", maxName-2) + " bc", strings.Repeat("a", maxName-2) + "…"},
	} {
		disktest.Equal(t, test.text, headerText(test.text, maxName), test.want)
	}
}

// checkMessage checks the bytes of a message that a server has received: only the expected
// headers, short lines, and both parts of the body.
func checkMessage(t *testing.T, data string, m *Message) mail.Header {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSuffix(data, "\r\n"), "\r\n") {
		if len(line) > 998 || strings.ContainsAny(line, "\r\n\x00") || !isASCII(line) {
			t.Errorf("a line of %d bytes: %.200q", len(line), line)
		}
	}

	parsed, err := mail.ReadMessage(strings.NewReader(data))
	must(t, err)
	h := parsed.Header
	var names []string
	for name, values := range h {
		if names = append(names, name); len(values) != 1 {
			t.Errorf("%d headers %s", len(values), name)
		}
	}

	if want := 9; len(names) != want && !(len(names) == want+1 && h.Get("Reply-To") != "") {
		t.Errorf("%d headers, want %d: %v", len(names), want, names)
	}

	at, err := h.Date()
	must(t, err)
	if since := time.Since(at); since < -time.Minute || since > time.Hour ||
		!strings.HasSuffix(h.Get("Date"), "+0000") {
		t.Errorf("Date: %s", h.Get("Date"))
	}

	for name, want := range map[string]string{
		"Message-Id":               "<" + m.ID + ">",
		"Auto-Submitted":           "auto-generated",
		"X-Auto-Response-Suppress": "All",
		"Mime-Version":             "1.0",
	} {
		disktest.Equal(t, name, h.Get(name), want)
	}

	for _, name := range []string{"From", "To"} {
		if _, err := h.AddressList(name); err != nil {
			t.Errorf("%s: %v in %q", name, err, h.Get(name))
		}
	}

	checkParts(t, h, parsed.Body, m)
	return h
}

// checkParts checks the body: the plain text, then HTML.
func checkParts(t *testing.T, h mail.Header, body io.Reader, m *Message) {
	t.Helper()
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	must(t, err)
	disktest.Equal(t, "Content-Type", kind, "multipart/alternative")
	parts := multipart.NewReader(body, parameters["boundary"])
	for _, want := range []struct{ kind, text string }{{"text/plain; charset=UTF-8", m.Text},
		{"text/html; charset=UTF-8", m.HTML}} {
		part, err := parts.NextRawPart()
		must(t, err)
		disktest.Equal(t, "Content-Type", part.Header.Get("Content-Type"), want.kind)
		disktest.Equal(t, "Content-Transfer-Encoding",
			part.Header.Get("Content-Transfer-Encoding"), "quoted-printable")
		b, err := io.ReadAll(quotedprintable.NewReader(part))
		must(t, err)
		disktest.Equal(t, want.kind, strings.ReplaceAll(string(b), "\r\n", "\n"), want.text)
	}

	if _, err := parts.NextRawPart(); err != io.EOF {
		t.Errorf("a third part, or %v", err)
	}
}
