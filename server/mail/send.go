package mail

import (
	"context"
	"errors"

	"github.com/wneessen/go-mail/smtp"
)

// noUTF8 is the text of the Fault for an address outside ASCII.
const noUTF8 = "the server does not support email addresses with characters outside ASCII (SMTPUTF8)"

// Send sends one message. The connection remains usable if the server rejects the message
// or its recipient; if it is lost, the next call connects again, with the errors of Dial. An
// error is a *Fault. If it is of StageData and without a Status, the server may have accepted
// the message all the same.
func (c *Client) Send(ctx context.Context, m *Message) (*Reply, error) {
	if c.closed {
		return nil, unusable(StageConnect, "the client is closed")
	}

	e, f := c.server.envelope(m)
	if f != nil {
		return nil, f
	}

	for {
		if err := ctx.Err(); err != nil {
			return nil, c.fault(ctx, StageConnect, err)
		}

		used := c.smtp != nil
		if !used {
			if f := c.connect(ctx); f != nil {
				return nil, f
			}
		}

		reply, f := c.transmit(ctx, e)
		if f == nil {
			return reply, nil
		}
		// Servers close connections that are idle. Nothing of the message was sent.
		if used && f.Stage == StageConnect {
			continue
		}

		return nil, f
	}
}

// transmit runs the commands for one message.
func (c *Client) transmit(ctx context.Context, e *envelope) (*Reply, *Fault) {
	conn := c.link.Conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if offered, _ := c.smtp.Extension("SMTPUTF8"); e.unicode != "" && !offered {
		return nil, refuse(e.unicode, noUTF8)
	}

	c.smtp.SkipSMTPUTF8(e.unicode == "") // servers do not relay such messages to every domain
	c.link.next(c.limits.command)
	if err := c.smtp.Mail(e.from); err != nil {
		return nil, c.failed(ctx, StageSender, err)
	}

	c.link.next(c.limits.command)
	if err := c.smtp.Rcpt(e.to); err != nil {
		return nil, c.failed(ctx, StageRecipient, err)
	}

	c.link.next(c.limits.command)
	w, err := c.smtp.Data()
	if err != nil {
		return nil, c.failed(ctx, StageData, err)
	}

	c.link.next(c.limits.command)
	if _, err := w.Write(e.data); err != nil {
		return nil, c.failed(ctx, StageData, err)
	}

	c.link.next(c.limits.accept)
	if err := w.Close(); err != nil {
		return nil, c.failed(ctx, StageData, err)
	}

	reply := &Reply{}
	if answer, ok := w.(*smtp.DataCloser); ok {
		reply.Text = c.server.conceal("250 " + answer.ServerResponse())
	}

	return reply, nil
}

// failed returns the Fault of a command, after which the connection is either ready for
// another message or closed.
func (c *Client) failed(ctx context.Context, stage string, err error) *Fault {
	f := c.fault(ctx, stage, err)
	const closing = 421 // the server closes the connection
	if f.Status != 0 && f.Status != closing {
		c.link.next(c.limits.command)
		if c.smtp.Reset() == nil {
			return f
		}
		c.disconnect()
		return f
	}

	c.disconnect()
	if stage == StageSender {
		// The message has not been looked at yet, so the fault is not one of the message.
		f.Stage, f.Down = StageConnect, true
	}

	return f
}

// Close ends the connection. An error says only that the server did not say goodbye: all
// messages for which Send succeeded were accepted.
func (c *Client) Close() error {
	c.closed = true
	if c.smtp == nil {
		return nil
	}
	c.link.next(c.limits.quit)
	err := c.smtp.Quit()
	c.disconnect()
	if err != nil {
		return errors.New(c.server.conceal(describe(context.Background(), err)))
	}
	return nil
}
