// Package mails sends the queued mails, which other features add to the queue in their
// transactions. SMTP and the templates are in package mail.
package mails

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/mail"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
	"reeve/store/kv"
)

const (
	MailBatch    = 50               // mails sent over one connection
	mailIdle     = 5 * time.Minute  // how often the queue is looked at without a reason
	mailTimeout  = time.Minute      // for one mail
	mailTurn     = 10 * time.Second // for the mails of one connection: more urgent ones may have been queued
	maxMailPause = time.Hour
)

// Outbox sends the queued mails, one after the other. Requests only queue them, so that a mail
// server that is slow or down delays no request.
type Outbox struct {
	s         *web.Server
	templates *mail.Templates
	changed   chan struct{} // contains a token if mails or settings have changed
	Backoff   func(attempts int) time.Duration
	Unproven  func(tx *store.Tx) ([]errs.Message, error) // faults of backups
	Turn      time.Duration                              // mailTurn
	roots     *x509.CertPool                             // root certificates of mail servers; nil for those of the system

	sent, failures atomic.Uint64

	mu    sync.Mutex
	fault *mail.Fault // why the mail server could not be used; nil if it could
}

func NewOutbox(s *web.Server) (*Outbox, error) {
	templates, err := mail.ParseTemplates(s.Config.Mail)
	if err != nil {
		return nil, fmt.Errorf("parse the templates of mails: %w", err)
	}

	o := &Outbox{
		s:         s,
		templates: templates,
		changed:   make(chan struct{}, 1),
		Backoff:   mailBackoff,
		Turn:      mailTurn,
	}
	s.DB.OnCommit(func(c kv.Changes) {
		if c.Of(store.Mails) == nil && c.Of(store.Settings) == nil {
			return
		}
		select {
		case o.changed <- struct{}{}:
		default:
		}
	})
	s.Metrics.Counter("reeve_mail_sent_total", "Mails that the mail server has accepted.",
		o.sent.Load)
	s.Metrics.Counter("reeve_mail_failures_total", "Failed attempts to send a mail.",
		o.failures.Load)
	return o, nil
}

// mailBackoff returns the time between an attempt and the next.
func mailBackoff(attempts int) time.Duration {
	return min(time.Minute<<min(attempts, 10), maxMailPause)
}

// Run sends mails until ctx ends.
func (o *Outbox) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, err := o.Round(ctx)
		if err != nil && ctx.Err() == nil {
			o.s.Failures.Report(o.s.Log, "mail", err, func(line *zerolog.Event) {
				line.Msg("mails can't be sent")
			})
			wait = mailBackoff(0)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-o.changed:
		}
		timer.Stop()
	}
}

// Round sends the mails that are due, and returns how long to wait before the next round.
func (o *Outbox) Round(ctx context.Context) (wait time.Duration, err error) {
	db := o.handle()
	var due []*store.Mail
	var next store.Time
	var server mail.Server
	ready := false
	err = db.View(store.System, func(tx *store.Tx) (err error) {
		if ready = MailOff(o.s, tx).Empty(); ready {
			server, err = mailServer(tx)
		}
		if err == nil {
			due, next, err = store.DueMails(tx, MailBatch)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	if due, err = o.drop(db, due, ready); err != nil {
		return 0, err
	}
	if len(due) > 0 {
		return 0, o.sendAll(ctx, db, server, due)
	}

	wait = mailIdle
	if next != 0 && ready {
		wait = min(wait, max(0, time.Until(next.Std())))
	}

	return wait, nil
}

// handle returns the store handle of the outbox.
func (o *Outbox) handle() store.Handle {
	return o.s.DB.WithRecorder(nil).For("mail", nil).From(&store.Origin{Operation: audit.Operation{Title: "send mail"}})
}

// drop finds the recipients of requests, which are mails of their own then, and gives up mails
// whose time is over. It returns the mails that can be sent now: none if sending is off.
func (o *Outbox) drop(db store.Handle, due []*store.Mail,
	ready bool) (left []*store.Mail, err error) {
	var drop []*store.Mail
	for _, m := range due {
		switch {
		case m.Account().ID == 0 || m.Until <= kv.TimeOf(time.Now()):
			drop = append(drop, m)
		case ready:
			left = append(left, m)
		}
	}

	if len(drop) == 0 {
		return left, nil
	}

	return left, db.Update(store.System, func(tx *store.Tx) error {
		for _, m := range drop {
			var err error
			if m.Account().ID == 0 {
				err = store.ResolveRequest(tx, m.ID)
			} else {
				_, err = store.Mails.Update(tx, m.ID, func(m *store.Mail) error {
					m.End(store.MailFailed)
					return nil
				})
			}
			if err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
		}
		return nil
	})
}

// sendAll sends mails over one connection.
func (o *Outbox) sendAll(ctx context.Context, db store.Handle, server mail.Server,
	due []*store.Mail) error {
	server.Roots = o.roots
	dialing, cancel := context.WithTimeout(ctx, mailTimeout)
	client, err := mail.Dial(dialing, server)
	cancel()
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return o.serverDown(db, due, err)
	}

	defer client.Close()
	begun := time.Now()
	for i, m := range due {
		if ctx.Err() != nil {
			return nil
		}
		if i > 0 && time.Since(begun) > o.Turn {
			break
		}

		job, err := o.prepare(db, m)
		if err != nil {
			return err
		}
		if job == nil {
			continue // cancelled
		}

		sending, cancel := context.WithTimeout(ctx, mailTimeout)
		reply, err := o.deliver(sending, client, job)
		cancel()
		if err != nil && ctx.Err() != nil {
			return nil // it is sent again after the restart
		}
		if fault, _ := mailFault(err); fault != nil &&
			(fault.Down || fault.Stage == mail.StageSender) {
			if err := o.withdraw(db, job); err != nil {
				return err
			}
			return o.serverDown(db, due[i:], fault) // a sender that is refused is refused for every mail
		}
		if err := o.record(db, m.ID, job, reply, err); err != nil {
			return err
		}
	}

	return o.serverUp(db)
}

// withdraw ends the link of a mail that was not sent.
func (o *Outbox) withdraw(db store.Handle, job *mailJob) error {
	if job.link == 0 {
		return nil
	}
	return db.Update(store.System, func(tx *store.Tx) error {
		return store.SentLinkToken(tx, job.link, job.token, false)
	})
}

// serverDown records that the mail server could not be used for any mail that is due, with few
// commits and without connecting again for each.
func (o *Outbox) serverDown(db store.Handle, due []*store.Mail, err error) error {
	fault, err := mailFault(err)
	if err != nil {
		return err
	}

	held := *fault
	held.Down, fault = true, &held
	o.mu.Lock()
	o.fault = fault
	o.mu.Unlock()
	for len(due) > 0 {
		o.failures.Add(uint64(len(due)))
		err := db.Update(store.System, func(tx *store.Tx) (err error) {
			for _, m := range due {
				if err := o.attempted(tx, m.ID, "", fault); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}

		err = db.View(store.System, func(tx *store.Tx) (err error) {
			due, _, err = store.DueMails(tx, MailBatch)
			return err
		})
		if err != nil {
			return err
		}

		due = slices.DeleteFunc(due, func(m *store.Mail) bool { return m.Account().ID == 0 })
	}

	return nil
}

// serverUp records that the mail server works. If it did not before, the mails that wait because of
// that are due now.
func (o *Outbox) serverUp(db store.Handle) error {
	o.mu.Lock()
	was := o.fault
	o.fault = nil
	o.mu.Unlock()
	if was == nil {
		return nil
	}

	var held []store.ID
	err := db.View(store.System, func(tx *store.Tx) (err error) {
		held, err = store.HeldMails(tx, was.Stage)
		return err
	})
	for few := range slices.Chunk(held, MailBatch) {
		if err != nil {
			break
		}
		err = db.Update(store.System, func(tx *store.Tx) error {
			for _, id := range few {
				if err := store.HastenMail(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
	}

	return err
}

// mailFault returns the Fault in an error; other errors are returned.
func mailFault(err error) (*mail.Fault, error) {
	var fault *mail.Fault
	if errors.As(err, &fault) {
		return fault, nil
	}
	return nil, err
}

// deliver renders and sends a mail.
func (o *Outbox) deliver(ctx context.Context, client *mail.Client,
	job *mailJob) (reply string, err error) {
	m := &mail.Message{To: job.to, ToName: job.data.Name, ID: job.id}
	if m.Subject, m.Text, m.HTML, err = o.templates.Render(job.purpose, job.language, job.data); err != nil {
		return "", err
	}
	r, err := client.Send(ctx, m)
	if err != nil {
		if fault, _ := mailFault(err); fault != nil {
			fault.Text = job.conceal(fault.Text)
		}
		return "", err
	}
	return job.conceal(r.Text), nil
}

// conceal removes the link and the code of a mail from a text of the mail server.
func (job *mailJob) conceal(text string) string {
	if job.data.Digits != "" {
		text = strings.ReplaceAll(text, job.data.Digits, store.SecretMask)
	}
	return Conceal(text)
}

// Conceal removes the link from a text of the mail server, which is stored: everything from where
// it begins, since the server can quote the lines of the message, in which the link is broken.
func Conceal(text string) string {
	for _, sign := range []string{LinkPath, "rv_l_"} {
		if i := strings.Index(text, sign); i >= 0 {
			text = text[:i] + store.SecretMask
		}
	}
	return text
}

// responseOf returns the response of the mail server, with its status.
func responseOf(fault *mail.Fault) string {
	if fault.Status == 0 {
		return fault.Text
	}
	return strconv.Itoa(fault.Status) + " " + fault.Text
}

// sendOne sends one mail over a connection of its own.
func (o *Outbox) sendOne(ctx context.Context, server mail.Server,
	job mailJob) (reply string, err error) {
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	server.Roots = o.roots
	client, err := mail.Dial(ctx, server)
	if err != nil {
		return "", err
	}
	defer client.Close()
	job.id = fmt.Sprintf("test.%d@%s", time.Now().UnixMicro(), o.host())
	return o.deliver(ctx, client, &job)
}

// record stores the result of an attempt.
func (o *Outbox) record(db store.Handle, id store.ID, job *mailJob, reply string,
	failure error) error {
	var fault *mail.Fault
	if failure == nil {
		o.sent.Add(1)
	} else {
		o.failures.Add(1)
		var err error
		if fault, err = mailFault(failure); err != nil {
			fault = &mail.Fault{Stage: "settings", Text: err.Error(), Permanent: true}
			o.s.Log.Error().Err(err).Stringer("mail", id).Msg("a mail can't be made")
		}
	}
	return db.Update(store.System, func(tx *store.Tx) error {
		if job.link != 0 {
			unknown := fault != nil && fault.Stage == mail.StageData && fault.Status == 0 // it may have been accepted
			if err := store.SentLinkToken(tx, job.link, job.token, fault == nil ||
				unknown); err != nil {
				return err
			}
		}
		return o.attempted(tx, id, reply, fault)
	})
}

// attempted records an attempt on a mail. fault is nil if the mail server has accepted it.
func (o *Outbox) attempted(tx *store.Tx, id store.ID, reply string, fault *mail.Fault) error {
	_, err := store.Mails.Update(tx, id, func(m *store.Mail) error {
		m.Attempts, m.LastAt = m.Attempts+1, tx.Now()
		switch {
		case fault == nil:
			m.End(store.MailSent)
			m.SentAt, m.Stage, m.Response = tx.Now(), "", reply
			return nil
		case fault.Permanent && !fault.Down:
			m.End(store.MailFailed)
		default:
			m.NextAt = tx.Now().Add(o.Backoff(int(m.Attempts) - 1))
			if m.NextAt >= m.Until {
				m.End(store.MailFailed)
			}
		}

		m.Stage, m.Response = fault.Stage, responseOf(fault)
		return nil
	})
	if errs.Is(err, errs.NotFound) {
		return nil // its recipient was deleted
	}
	return err
}
