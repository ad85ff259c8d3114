package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"reeve/store/errs"
	"reeve/store/kv"
)

// A person is erased in steps, because many records can name the person:
//
//  1. A line is added to the list of erasures (person_erased.go), which survives a restore.
//  2. One transaction deletes the user and the key that seals the person's data in the change log,
//     and creates an Erasure.
//  3. FinishErasure removes the person from other records.
//  4. EndErasure deletes the Erasure. Until then, the server continues it, even after a restart. With
//     several nodes it remains for some minutes, in which each node removes the person from its own
//     files. Then its line is left, which each node adds to its own list.

// Erasure is an erasure that has not ended, or its line.
type Erasure struct {
	Ident
	UserID    ID       `json:"user_id"`
	AppUserID ID       `json:"app_user_id"`
	Texts     []string `json:"texts"`          // names of the person in monitoring: username, addresses and mobile
	Line      string   `json:"line,omitempty"` // line in the list of erasures
	DoneAt    Time     `json:"done_at"`        // time at which a node has completed it; 0 before
	kv.Timestamps
}

// Erasures are the erasures that have not ended, and the lines of all with several nodes.
var Erasures = kv.NewCollection[Erasure]("erasure").Unlogged()

// Ended reports whether only the line is left.
func (e *Erasure) Ended() bool { return e.DoneAt != 0 && len(e.Texts) == 0 }

// Who returns who is erased.
func (e *Erasure) Who() Account { return accountOf(e.UserID, e.AppUserID) }

// ErasedCounts counts what an erasure has removed.
type ErasedCounts struct {
	Sessions   int64 `json:"sessions" doc:"Number of sessions that were ended"`
	Devices    int64 `json:"devices" doc:"Number of known devices that were deleted"`
	SignIns    int64 `json:"sign_ins" doc:"Number of rows of the sign-in log that were deleted"`
	Files      int64 `json:"files" doc:"Number of files from which the name of the uploader was removed"`
	Jobs       int64 `json:"jobs" doc:"Number of jobs from which the username was removed"`
	Events     int64 `json:"events" doc:"Number of events of monitoring that were removed"`
	Deliveries int64 `json:"deliveries" doc:"Number of stored deliveries of webhooks that were removed"`
}

// Erase deletes a user, and makes the user's personal data in the change log unreadable. actor
// must be allowed to delete the user; username must be the user's, as a confirmation. The erasure
// is not complete until FinishErasure has returned.
func Erase(db Handle, actor *Actor, who Account, username string) (*Erasure, ErasedCounts, error) {
	var line erasedLine
	err := db.Update(actor, func(tx *Tx) (err error) {
		if err = mayErase(tx, who, username); err == nil {
			line, err = identify(tx, who)
		}
		return err
	})
	if err != nil {
		return nil, ErasedCounts{}, err
	}
	if err := addErased(db.Dir(), line); err != nil {
		return nil, ErasedCounts{}, err
	}

	e, removed, err := deletePerson(db, actor, line, func(tx *Tx) error {
		return mayErase(tx, who, username)
	})
	if err != nil && errs.Of(err).Code != "write_outcome_unknown" {
		line.Withdrawn = true // nothing was changed, so the next start must not erase the user
		if undone := addErased(db.Dir(), line); undone != nil {
			err = undone
		}
	}

	return e, removed, err
}

// mayErase returns an error if the actor may not erase a user.
func mayErase(tx *Tx, who Account, username string) error {
	actor := ActorOf(tx)
	if who.ID == actor.ID && who.App == actor.App && !actor.system {
		return errs.New(errs.Conflict,
			"you can't erase your own account; another user with the permission can").Coded("erase_self")
	}
	u, err := who.Seen(tx)
	switch {
	case err != nil:
		return err
	case *u.Username != username:
		return errs.Field(errs.Invalid, "username", "must be the exact username of the user")
	}
	return who.table().ValidateDelete(tx, who.ID)
}

// deletePerson deletes a user and the user's key, in one transaction. The key must exist: the
// entry of the change log is sealed with it.
func deletePerson(db Handle, actor *Actor, line erasedLine,
	check func(*Tx) error) (e *Erasure, removed ErasedCounts, err error) {
	who := line.who()
	text, err := json.Marshal(line)
	if err != nil {
		return nil, removed, err
	}
	err = db.Update(actor, func(tx *Tx) error {
		e, removed = &Erasure{Line: string(text)}, ErasedCounts{}
		e.UserID, e.AppUserID = who.IDs()
		if err := check(tx); err != nil {
			return err
		}

		sessions, err := SessionsOf(tx, who)
		if err != nil {
			return err
		}

		devices, err := devicesOf(tx, who)
		if err != nil {
			return err
		}

		removed.Sessions, removed.Devices = int64(len(sessions)), int64(len(devices))
		if e.Texts, err = who.delete(tx); err != nil {
			return err
		}

		key, err := KeyByPerson.Get(tx, who.Person())
		if err == nil {
			err = PersonKeys.Delete(tx, key.ID)
		}
		if err != nil {
			return err
		}

		tx.LogAction("erase", map[string]any{"realm": who.Realm(), "id": who.ID})
		return Erasures.Create(tx, e)
	})
	return e, removed, err
}

// delete deletes the record of a user, if there is one, and returns the texts that identify the
// person.
func (a Account) delete(tx *Tx) (texts []string, err error) {
	if !a.exists(tx) {
		return nil, nil
	}
	u, err := a.Member(tx)
	if err != nil {
		return nil, err
	}
	pending := ""
	if a.App {
		if pending, err = RegistrationEmail(tx, a.ID); err != nil {
			return nil, err
		}
	}
	texts = []string{*u.Username, *u.Email, *u.Mobile, pending}
	known, err := IdentitiesOf(tx, a)
	for _, i := range known {
		texts = append(texts, i.Email)
	}
	if err != nil {
		return nil, err
	}
	return notEmpty(texts...), a.table().Delete(tx, a.ID)
}

func notEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// identify returns the line of the list of erasures for a user. It creates the user's key if there
// is none.
func identify(tx *Tx, who Account) (erasedLine, error) {
	line := erasedLine{Realm: who.Realm(), ID: who.ID, At: tx.Now()}
	key, err := KeyByPerson.Get(tx, who.Person())
	if errs.Is(err, errs.NotFound) {
		key = newPersonKey(who)
		err = PersonKeys.Create(tx, key)
	}
	if err != nil {
		return line, err
	}
	line.Key = key.identity()
	line.Record, err = who.recordIdentity(tx)
	return line, err
}

// identity identifies a person in the list of erasures. It does not tell the key, which is random.
func (k *PersonKey) identity() string {
	sum := sha256.Sum256(k.Key)
	return hex.EncodeToString(sum[:])
}

// recordIdentity identifies the record of a user in backups that are older than the user's key; ""
// if there is no record.
func (a Account) recordIdentity(tx *Tx) (string, error) {
	u, err := a.Member(tx)
	if err != nil {
		return "", ignoreMissing(err)
	}
	install, err := Installs.Get(tx, 1)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, install.PasswordKey)
	mac.Write([]byte("erased " + a.Person() + " " + u.CreatedAt.String())) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil)), nil
}
