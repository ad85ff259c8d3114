package person

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/url"
	"slices"

	"reeve/server/account"
	"reeve/server/changes"
	"reeve/server/mails"
	"reeve/server/people"
	"reeve/server/rights"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
	"reeve/store/kv"
)

func (p *personData) avatar() error {
	var a *store.Avatar
	err := p.read(func(tx *store.Tx) error {
		if p.who.App {
			return nil
		}
		for found, err := range store.AvatarByUser.All(tx, p.who.ID) {
			a = found
			return err
		}
		return nil
	})
	if err != nil || a == nil {
		return err
	}

	blob, err := p.req.DB.OpenBlob(a.Digest)
	if err != nil {
		return err
	}

	f, err := p.file("avatar" + extensionOf(a.MIME))
	if err == nil {
		_, err = io.Copy(f, blob)
	}

	return err
}

// extensionOf returns the extension of the pictures that avatars can be.
func extensionOf(media string) string {
	switch media {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	}
	if all, err := mime.ExtensionsByType(media); err == nil && len(all) > 0 {
		return all[0]
	}
	return ""
}

func (p *personData) sessions() error {
	all := []*account.Session{}
	err := p.read(func(tx *store.Tx) error {
		by := store.ByRealm(p.who.App, store.SessionByUser, store.SessionByAppUser)
		for _, id := range by.AnyOf(p.who.ID).IDs(tx) {
			s, err := store.Sessions.Get(tx, id)
			if p.passes(tx, "sessions.json", err) {
				continue
			}
			if err != nil {
				return err
			}
			out, err := account.SessionOf(tx, p.req, s)
			if err != nil {
				return err
			}
			all = append(all, out)
		}
		return nil
	})
	return errors.Join(err, p.json("sessions.json", all))
}

// exportedNotice is a notice with the name of the administrator whom it is about.
type exportedNotice struct {
	store.Notice
	By string `json:"by"`
}

func (p *personData) notices() error {
	if p.who.App {
		return nil
	}

	all := []exportedNotice{}
	err := p.read(func(tx *store.Tx) error {
		u, err := store.Users.Get(tx, p.who.ID)
		if err != nil {
			return err
		}

		for _, n := range u.Notices {
			out := exportedNotice{Notice: n}
			if n.ByID != 0 {
				by, err := store.Users.Get(tx, n.ByID)
				if err != nil && !errs.Is(err, errs.NotFound) {
					return err
				}
				if err == nil {
					out.By = by.Username
				}
			}
			all = append(all, out)
		}

		return nil
	})
	return errors.Join(err, p.json("notices.json", all))
}

func (p *personData) secondFactor() error {
	var out *account.SecondFactorOut
	passkeys := []*account.Passkey{}
	err := p.read(func(tx *store.Tx) (err error) {
		if out, err = account.FactorOf(tx, p.who); err != nil {
			return err
		}
		by := store.ByRealm(p.who.App, store.PasskeyByUser, store.PasskeyByAppUser)
		for k, err := range by.All(tx, p.who.ID) {
			if p.passes(tx, "second-factor.json", err) {
				continue
			}
			if err != nil {
				return err
			}
			one, err := account.PasskeyOf(tx, p.req, k)
			if err != nil {
				return err
			}
			passkeys = append(passkeys, one)
		}
		return nil
	})
	if err != nil || !bool(out.Enabled) && len(passkeys) == 0 {
		return err
	}

	return p.json("second-factor.json", struct {
		*account.SecondFactorOut
		Passkeys []*account.Passkey `json:"passkeys"`
	}{out, passkeys})
}

func (p *personData) mails() error {
	by := store.ByRealm(p.who.App, store.MailByUser, store.MailByAppUser)
	return p.lines("mails.jsonl",
		func(tx *store.Tx) ([]store.ID, error) { return by.AnyOf(p.who.ID).IDs(tx), nil },
		func(tx *store.Tx, id store.ID) (any, error) {
			m, err := store.Mails.Get(tx, id)
			if err != nil {
				return nil, err
			}
			return mails.MailOf(tx, p.req, m)
		})
}

func (p *personData) invitation() error {
	var out *people.Invitation
	err := p.read(func(tx *store.Tx) error {
		l, err := store.LinkOf(tx, store.Invitation, p.who)
		if errs.Is(err, errs.NotFound) {
			return nil
		}
		if err == nil {
			out, err = people.InvitationOf(tx, p.req, l)
		}
		return err
	})
	if err != nil || out == nil {
		return err
	}

	return p.json("invitation.json", out)
}

func (p *personData) keys() error {
	all := []*rights.ApiKey{}
	err := p.read(func(tx *store.Tx) error {
		if p.who.App {
			return nil
		}
		for k, err := range store.KeyByUser.All(tx, p.who.ID) {
			if p.passes(tx, "keys.json", err) {
				continue
			}
			if err != nil {
				return err
			}
			out, err := rights.KeyOf(tx, p.req, k)
			if err != nil {
				return err
			}
			all = append(all, out)
		}
		return nil
	})
	return errors.Join(err, p.json("keys.json", all))
}

func (p *personData) views() error {
	all := []*store.View{}
	err := p.read(func(tx *store.Tx) error {
		if p.who.App {
			return nil
		}
		for v, err := range store.ViewByUser.All(tx, p.who.ID) {
			if p.passes(tx, "views.json", err) {
				continue
			}
			if err != nil {
				return err
			}
			all = append(all, v)
		}
		return nil
	})
	return errors.Join(err, p.json("views.json", all))
}

func (p *personData) signIns() error {
	by := store.ByRealm(p.who.App, store.LoginLogByUser, store.LoginLogByAppUser)
	return p.lines("sign-ins.jsonl",
		func(tx *store.Tx) ([]store.ID, error) { return by.AnyOf(p.who.ID).IDs(tx), nil },
		func(tx *store.Tx, id store.ID) (any, error) { return store.LoginLogs.Get(tx, id) })
}

// exportedFile describes a file, without the key in its public URL.
type exportedFile struct {
	store.Ident
	GroupID   store.ID   `json:"group_id"`
	Name      string     `json:"name"`
	Kind      string     `json:"kind"`
	MIME      string     `json:"mime"`
	Size      int64      `json:"size"`
	Public    store.Flag `json:"public"`
	TrashedAt store.Time `json:"trashed_at"`
	store.Versioned
}

// exportedVersion describes an earlier version of a file.
type exportedVersion struct {
	store.Ident
	FileID     store.ID   `json:"file_id"`
	Kind       string     `json:"kind"`
	MIME       string     `json:"mime"`
	Size       int64      `json:"size"`
	StoredAt   store.Time `json:"stored_at"`
	ReplacedAt store.Time `json:"replaced_at"`
}

func (p *personData) files() error {
	return p.lines("files.jsonl",
		func(tx *store.Tx) ([]store.ID, error) {
			if p.who.App {
				return nil, nil
			}
			ids := append(store.FileByUploader.AnyOf(p.who.ID).IDs(tx),
				store.FileByAuthor.AnyOf(p.who.ID).IDs(tx)...)
			slices.Sort(ids)
			return slices.Compact(ids), nil
		},
		func(tx *store.Tx, id store.ID) (any, error) {
			f, err := store.Files.Get(tx, id)
			if err != nil {
				return nil, err
			}
			return exportedFile{f.Ident, f.GroupID, f.Name, f.Kind, f.MIME, f.Size,
				store.Flag(f.Public()), f.TrashedAt, f.Versioned}, nil
		})
}

func (p *personData) fileVersions() error {
	return p.lines("file-versions.jsonl",
		func(tx *store.Tx) ([]store.ID, error) {
			if p.who.App {
				return nil, nil
			}
			return store.FileVersionByAuthor.AnyOf(p.who.ID).IDs(tx), nil
		},
		func(tx *store.Tx, id store.ID) (any, error) {
			v, err := store.FileVersions.Get(tx, id)
			if err != nil {
				return nil, err
			}
			return exportedVersion{v.Ident, v.FileID, v.Kind, v.MIME, v.Size, v.StoredAt, v.CreatedAt}, nil
		})
}

func (p *personData) jobs() error {
	return p.lines("jobs.jsonl",
		func(tx *store.Tx) ([]store.ID, error) {
			if p.who.App {
				return nil, nil
			}
			return store.JobByUser.AnyOf(p.who.ID).IDs(tx), nil
		},
		func(tx *store.Tx, id store.ID) (any, error) {
			j, err := store.Jobs.Get(tx, id)
			if err != nil {
				return nil, err
			}
			return j.In(p.req.Language()), nil
		})
}

// changeLog writes the entries in data.db that are about the person.
func (p *personData) changeLog() error {
	f, err := p.file("change-log.jsonl")
	if err != nil {
		return err
	}

	last := p.req.DB.LogHead().Seq
	for next := uint64(1); ; {
		rows, _, err := changes.ExportRows(p.req, next, last)
		if err != nil || len(rows) == 0 {
			return err
		}

		var text bytes.Buffer
		err = p.read(func(tx *store.Tx) error {
			for _, row := range rows {
				next = row.Seq + 1
				if err := p.addEntry(tx, &text, row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if _, err := f.Write(text.Bytes()); err != nil {
			return err
		}
	}
}

func (p *personData) addEntry(tx *store.Tx, text *bytes.Buffer, row audit.Row) error {
	if changes.IsDamagedRow(row) {
		p.lacks("change-log.jsonl")
		return nil
	}
	e, err := row.Decode()
	if err != nil {
		return err
	}
	out, err := p.entry(tx, &e)
	if err != nil || out == nil {
		return err
	}
	return json.NewEncoder(text).Encode(out)
}

// exportedDelivery has the receiver of data about the person. The data is in the change
// log.
type exportedDelivery struct {
	At      store.Time `json:"at"`
	Webhook store.ID   `json:"webhook_id"`
	Host    string     `json:"host"`
	Event   string     `json:"event"`
	Type    string     `json:"type"`
	Status  int        `json:"status"`
}

func (p *personData) deliveries() error {
	f, err := p.file("webhooks.jsonl")
	if err != nil {
		return err
	}

	hosts, keys := map[uint64]string{}, map[uint64][]byte{}
	err = p.read(func(tx *store.Tx) error {
		for v, err := range store.Webhooks.All(tx) {
			if p.passes(tx, "webhooks.jsonl", err) {
				continue
			}
			if err != nil {
				return err
			}
			secrets, err := store.WebhookKeysOf(tx, v.ID)
			if err != nil {
				return err
			}
			if u, err := url.Parse(v.URL); err == nil {
				hosts[uint64(v.ID)] = u.Host
			}
			keys[uint64(v.ID)] = secrets.Deliveries
		}
		return nil
	})
	if err != nil {
		return err
	}

	p.sender.Save()
	lines := json.NewEncoder(f)
	for d, err := range p.sender.Log.About(p.who.Person(), func(id uint64) []byte {
		return keys[id]
	}) {
		if err != nil {
			return err
		}
		if err := lines.Encode(exportedDelivery{kv.TimeOf(d.At), store.ID(d.Webhook),
			hosts[d.Webhook], d.Event, d.Type, d.Status}); err != nil {
			return err
		}
	}

	return nil
}
