// Package person handles all stored data of one person: its export, and its erasure.
package person

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"reeve/server/people"
	"reeve/server/redact"
	"reeve/server/web"
	"reeve/server/webhooks"
	"reeve/store"
	"reeve/store/errs"
)

func (p *Person) UserRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/admin/list/:id/erase", "admin.list.erase", "Erase a user",
			p.eraseUser, web.Options{
				Confirmed: true,
				Hidden:    redact.Fields{Usernames: true},
				Note: "Deletes the user and the personal data in the sign-in log, monitoring and change " +
					"log, and removes the name from files and jobs, for ever. The username confirms it. " +
					"409 for your own account and for the last enabled owner.",
			}),
		web.Raw("/admin/list/:id/data", "admin.list.data", "Download a user's data", web.ZipMedia,
			p.downloadUserData, web.Options{
				LoggedAs: "export_person",
				Note: "Returns a zip with everything that is stored about the user, as JSON; README.txt in " +
					"it explains the files. The change log has an entry for each use.",
			}),
	}
}

func (p *Person) AppUserRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/user/list/:id/erase", "user.list.erase", "Erase an app user",
			p.eraseAppUser, web.Options{
				Confirmed: true,
				Hidden:    redact.Fields{Usernames: true},
				Note: "Deletes the app user and the personal data in the sign-in log, monitoring and " +
					"change log, for ever. The username confirms it. 409 for your own account.",
			}),
		web.Raw("/user/list/:id/data", "user.list.data", "Download an app user's data",
			web.ZipMedia, p.downloadAppUserData, web.Options{
				LoggedAs: "export_person",
				Note: "Returns a zip with everything that is stored about the app user, as JSON; " +
					"README.txt in it explains the files. The change log has an entry for each use.",
			}),
	}
}

// personReadme explains the files of the zip.
const personReadme = `This archive has everything that this server stores about one person.
Times are RFC 3339. Files that end with .jsonl have one JSON object per line.

user.json         the account: names, contact, department, roles, last sign-in
avatar.*          the picture of the account, if there is one
sessions.json     open sessions: where and when the person signed in
devices.json      browsers and apps that are known from earlier sign-ins
providers.json    connections to sign-in providers: how each knows the person, when the person
                  was connected and last signed in with it, and what it has given
notices.json      notices to the person: sign-ins on other devices or networks, a second
                  factor that was removed, administrators who acted as the person
second-factor.json when an authenticator app was set up and used, and passkeys, if there are any
mails.jsonl       mails to the person: when and why; not their text
invitation.json   the invitation to choose a password, if there is one
keys.json         API keys that act for the user, without the keys themselves
views.json        saved views of lists
sign-ins.jsonl    the sign-in log: attempts to sign in to this account
files.jsonl       descriptions of the files that the person uploaded, or a new version of; not
                  their content
file-versions.jsonl  descriptions of earlier versions that the person uploaded
webhooks.jsonl    receivers outside of this server to which events about the person were sent
jobs.jsonl        long operations, such as imports, that the person started
change-log.jsonl  entries of the change log: what the person changed, and what others
                  changed in the account
incomplete.json   names of files above that lack damaged records, if there are any

Passwords and tokens are stored only as hashes, which are not included. Data of other
people in the change log is left out and shown as "(about another person)".
`

// personData writes the data of one person to a zip. Every part is read in transactions of its own,
// each of which authorizes the caller again, and sent after they have ended.
type personData struct {
	sender *webhooks.Sender
	req    *web.Request
	who    store.Account
	record func(tx *store.Tx) (any, error) // the user as in the API, if the caller may read it
	zip    *zip.Writer

	incomplete []string // files that lack damaged records
}

func (f *Person) downloadUserData(req *web.Request, in *web.ByID, w http.ResponseWriter) error {
	p := &personData{sender: f.Sender, req: req, who: store.Account{ID: in.ID}}
	p.record = func(tx *store.Tx) (any, error) {
		u, err := people.SeenUser(req, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return people.UserOf(req, tx, store.FieldExport, u)
	}
	return p.send(w, "user-"+in.ID.String()+"-data.zip")
}

func (f *Person) downloadAppUserData(req *web.Request, in *web.ByID, w http.ResponseWriter) error {
	p := &personData{sender: f.Sender, req: req, who: store.Account{App: true, ID: in.ID}}
	p.record = func(tx *store.Tx) (any, error) {
		u, err := store.AppUsers.Get(tx, in.ID)
		if err != nil {
			return nil, err
		}
		return people.AppUserOf(req, tx, store.FieldExport, u)
	}
	return p.send(w, "app-user-"+in.ID.String()+"-data.zip")
}

func (p *personData) send(w http.ResponseWriter, name string) error {
	var user any
	err := p.read(func(tx *store.Tx) (err error) {
		user, err = p.record(tx)
		return err
	})
	if err == nil {
		err = p.req.HoldAnswer(web.ExportMemory)
	}
	if err != nil {
		return err
	}

	h := w.Header()
	h.Set("Content-Type", web.ZipMedia)
	h.Set("Content-Disposition", web.Disposition(false, name))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", p.req.ID)
	p.zip = zip.NewWriter(web.NewLongAnswer(p.req, w))
	if err := p.text("README.txt", []byte(personReadme)); err != nil {
		return err
	}
	if err := p.json("user.json", user); err != nil {
		return err
	}

	for _, part := range []struct {
		name  string
		write func() error
	}{
		{"avatar", p.avatar}, {"sessions.json", p.sessions}, {"devices.json", p.devices},
		{"providers.json", p.connections}, {"notices.json", p.notices},
		{"second-factor.json", p.secondFactor}, {"mails.jsonl", p.mails},
		{"invitation.json", p.invitation}, {"keys.json", p.keys},
		{"views.json", p.views},
		{"sign-ins.jsonl", p.signIns}, {"files.jsonl", p.files},
		{"file-versions.jsonl", p.fileVersions}, {"jobs.jsonl", p.jobs},
		{"webhooks.jsonl", p.deliveries},
		{"change-log.jsonl", p.changeLog},
	} {
		err := part.write()
		if store.IsDamage(err) {
			p.lacks(part.name)
			err = p.noteDamage(err)
		}
		if err != nil {
			return err
		}
	}

	if p.incomplete != nil {
		if err := p.json("incomplete.json", p.incomplete); err != nil {
			return err
		}
	}

	return p.zip.Close()
}

// lacks notes that a file lacks something, because it is damaged.
func (p *personData) lacks(name string) {
	if !slices.Contains(p.incomplete, name) {
		p.incomplete = append(p.incomplete, name)
	}
}

// passes reports whether an error is a damaged record, which a file then lacks.
func (p *personData) passes(tx *store.Tx, name string, err error) bool {
	if !store.IsDamage(err) {
		return false
	}
	tx.NoteDamage(err)
	p.lacks(name)
	return true
}

// noteDamage keeps a damage for the health report.
func (p *personData) noteDamage(damage error) error {
	return p.req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		tx.NoteDamage(damage)
		return nil
	})
}

// read runs fn in a transaction if the caller may still read the person.
func (p *personData) read(fn func(tx *store.Tx) error) error {
	return p.req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		if err := p.req.Proceed(tx); err != nil {
			return err
		}
		if _, err := p.record(tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

func (p *personData) file(name string) (io.Writer, error) {
	return p.zip.CreateHeader(&zip.FileHeader{
		Name:     name,
		Method:   zip.Deflate,
		Modified: time.Now().UTC(),
	})
}

func (p *personData) text(name string, text []byte) error {
	f, err := p.file(name)
	if err == nil {
		_, err = f.Write(text)
	}
	return err
}

func (p *personData) json(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return p.text(name, append(text, '\n'))
}

// lines writes a file with a line for each record that find returns.
func (p *personData) lines(name string, find func(tx *store.Tx) ([]store.ID, error),
	one func(*store.Tx, store.ID) (any, error)) error {
	f, err := p.file(name)
	if err != nil {
		return err
	}

	var ids []store.ID
	err = p.read(func(tx *store.Tx) (err error) {
		ids, err = find(tx)
		return err
	})
	if err != nil {
		return err
	}

	for chunk := range slices.Chunk(ids, people.ExportChunk) {
		var text bytes.Buffer
		err := p.read(func(tx *store.Tx) error {
			for _, id := range chunk {
				v, err := one(tx, id)
				if errs.Is(err, errs.NotFound) {
					continue // it has been deleted
				}
				if p.passes(tx, name, err) {
					continue
				}
				if err == nil {
					err = json.NewEncoder(&text).Encode(v)
				}
				if err != nil {
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

	return nil
}
