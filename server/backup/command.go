package backup

import (
	"context"
	"errors"
	"io"
	"sync"

	"reeve/server/target"
	"reeve/store/copies"
	"reeve/store/errs"
)

// commandKeeper gives whole backups to a command. It can neither list nor read them.
type commandKeeper struct {
	b      *Service
	target target.Config

	mu   sync.Mutex
	last *Copy // last copy since the start; nil for none
}

func (k *commandKeeper) list(context.Context) ([]Copy, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil {
		return []Copy{*k.last}, nil
	}
	return nil, nil
}

func (k *commandKeeper) add(ctx context.Context, progress func(done, total int64)) error {
	recipients, err := k.b.confirmed()
	if err != nil {
		return err
	}
	b, err := k.b.s.DB.Backup(ctx, true)
	if err != nil {
		return err
	}
	defer b.Close() // it was read to its end, or the attempt has failed
	size, err := b.EncryptedSize(recipients)
	if err != nil {
		return err
	}
	name := "reeve-" + b.Time().Std().UTC().Format("20060102-150405") + ".tar.age"
	err = k.target.Run(ctx, name, func(out io.Writer) error {
		return b.Encrypt(&counted{out, copies.NewLimiter(k.target.Bandwidth), ctx, 0, size, progress}, recipients)
	})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = &Copy{Target: k.target.Name, Name: name, At: b.Time(), Size: size, Files: b.Files(), State: Sent}
	return nil
}

func (*commandKeeper) prove(context.Context) error              { return errUnproven }
func (*commandKeeper) prune(context.Context, copies.Keep) error { return nil }
func (*commandKeeper) warnings() []errs.Message {
	return []errs.Message{errs.Say("what the command has stored is not read back: `reeve backup check` proves it")}
}

// counted reports the bytes that are written, and slows them down.
type counted struct {
	out         io.Writer
	limit       *copies.Limiter
	ctx         context.Context
	done, total int64
	progress    func(done, total int64)
}

func (c *counted) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		var m int
		m, err = c.out.Write(p[:min(len(p), c.limit.Most())])
		n, c.done, p = n+m, c.done+int64(m), p[m:]
		c.progress(min(c.done, c.total), c.total)
		c.limit.Wait(c.ctx, m)
		err = errors.Join(err, c.ctx.Err())
	}
	return n, err
}
