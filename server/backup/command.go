package backup

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"reeve/server/target"
	"reeve/store"
	"reeve/store/copies"
	"reeve/store/disk"
	"reeve/store/errs"
)

// commandKeeper gives whole backups to a command. It can neither list nor read them.
type commandKeeper struct {
	b      *Service
	target target.Config
	hash   string // see sentCopy

	mu   sync.Mutex
	last *Copy // last copy that the command has taken; nil for none
}

// sentCopy is the last copy that a command has taken, in a file of the data directory: the command can't be
// asked, and a restart is no reason for another copy.
type sentCopy struct {
	Command    string // hash of its words, which may contain secrets, and of the recipients; others need a copy
	Generation string // generation of the data; others need a copy
	Copy       Copy
}

// newCommandKeeper returns the keeper of a target. b.mu must be locked.
func newCommandKeeper(b *Service, t target.Config) *commandKeeper {
	words := strings.Join(slices.Concat(t.Command, b.set.Recipients), "\x00")
	k := &commandKeeper{b: b, target: t, hash: fmt.Sprintf("%x", sha256.Sum256([]byte(words)))}
	text, err := os.ReadFile(k.path())
	if errors.Is(err, fs.ErrNotExist) {
		return k
	}
	var s sentCopy
	if err = errors.Join(err, json.Unmarshal(text, &s)); err != nil {
		b.s.Log.Warn().Err(err).Str("target", t.Name).Msg("the last copy is unknown, and another one is made")
	} else if s.Command == k.hash && s.Generation == b.s.DB.LogHead().Generation {
		k.last = &s.Copy
	}
	return k
}

func (k *commandKeeper) path() string {
	return filepath.Join(k.b.s.DB.Dir(), "backup-sent-"+url.PathEscape(k.target.Name))
}

// note keeps the last copy, also if it can't be written: the command has taken it.
func (k *commandKeeper) note(c Copy) {
	k.mu.Lock()
	k.last = &c
	k.mu.Unlock()
	text, err := json.Marshal(sentCopy{k.hash, k.b.s.DB.LogHead().Generation, c})
	if err == nil {
		err = disk.WriteFile(k.path(), text)
	}
	if err != nil {
		k.b.s.Log.Warn().Err(err).Str("target", k.target.Name).Msg("the next start makes another copy")
	}
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
	k.note(Copy{Target: k.target.Name, Name: name, At: b.Time(), Size: size, Files: b.Files(), State: Sent})
	return nil
}

func (*commandKeeper) prove(context.Context) error              { return errUnproven }
func (*commandKeeper) prune(context.Context, copies.Keep) error { return nil }

func (k *commandKeeper) warnings() []errs.Message {
	all := []errs.Message{errs.Say("what the command has stored is not read back: fetch the file, which `reeve backup check FILE` proves and `reeve restore FILE` restores")}
	k.b.mu.Lock()
	pings := k.b.set.PingURL != ""
	k.b.mu.Unlock()
	if pings {
		all = append(all, errs.Say("backup.ping_url is not requested for it, since its copies can't be proven"))
	}
	hourly := false
	err := k.b.s.DB.View(store.System, func(tx *store.Tx) error {
		hourly = store.BackupHourly.Get(tx) > 0
		return nil
	})
	if err == nil && hourly {
		all = append(all, errs.Say("the command gets a whole backup each hour, with all contents of files, since backup.hourly is above 0"))
	}
	return all
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
