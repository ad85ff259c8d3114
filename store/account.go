package store

import (
	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// AppUser is a user of the app API. App users are a realm of their own, with roles and permissions
// of their own: see AppRole.
type AppUser struct {
	Ident
	Username           string `json:"username" log:"personal"`
	Nickname           string `json:"nickname" log:"personal" visible:"name"`
	Email              string `json:"email" log:"personal" visible:"address"`
	EmailVerified      Flag   `json:"email_verified"` // whether the user has opened a link that was sent there
	Mobile             string `json:"mobile" log:"personal"`
	AvatarURL          string `json:"avatar_url" log:"personal"`
	RoleIDs            []ID   `json:"role_ids"` // app roles
	Status             Flag   `json:"status"`
	LoginIP            string `json:"login_ip" log:"-"`
	LoginTime          Time   `json:"login_time" log:"-"`
	MustChangePassword Flag   `json:"must_change_password"`
	PasswordSignIn     string `json:"password_sign_in"` // see PasswordsOff
	CreatedByKey       ID     `json:"created_by_key"`   // API key that created the user; 0 for none. The key may be gone
	Pending            Flag   `json:"pending"`          // registered, and the address is not confirmed yet: can't sign in

	Fields     FieldValues `json:"fields" log:"personal"`
	FieldMarks FieldMarks  `json:"field_marks,omitempty" log:"-"`
	Versioned
}

// AppUsers and their indexes.
var (
	AppUsers      = kv.NewCollection[AppUser]("app_user").Undoable()
	AppUserByName = kv.NewUniqueText(AppUsers, "username", fold.Name, func(u *AppUser) string {
		return u.Username
	})
	AppUserByEmail = kv.NewUniqueText(AppUsers, "email", fold.Address, func(u *AppUser) string {
		return u.Email
	})
	AppUserByRole = kv.NewRefs(AppUsers, "role_ids", AppRoles, func(u *AppUser) []ID {
		return u.RoleIDs
	}, kv.Restrict)
	AppUserByMobile  = kv.NewMany(AppUsers, "mobile", mobileKeys, "pending")
	AppUserByPending = byFlag(AppUsers, "pending", func(u *AppUser) Flag { return u.Pending })
	appUserByEnd     = kv.NewMany(AppUsers, "pending_end", pendingEnds)
	AppUserByStatus  = byFlag(AppUsers, "status", func(u *AppUser) Flag { return u.Status })
	AppUserByCreated = kv.NewEach(AppUsers, "created_at", func(u *AppUser) Time {
		return u.CreatedAt
	})
	AppUserByLogin = kv.NewEach(AppUsers, "login_time", func(u *AppUser) Time {
		return u.LoginTime
	})
	AppUserByKey = kv.NewMany(AppUsers, "created_by_key", func(u *AppUser) []ID {
		return creatingKey(u.CreatedByKey)
	})
	AppUserByField = kv.NewMany(AppUsers, "fields", func(u *AppUser) []string {
		return fieldKeys(u.Fields, u.FieldMarks)
	}, "field_marks")
	AppUserSearch = kv.NewSearch(AppUsers, func(u *AppUser) []string {
		return searchedValues([]string{u.Username, u.Nickname, u.Email, u.Mobile}, u.Fields,
			u.FieldMarks)
	})

	_ = AppUsers.Constraint(constrainAppUser).Constraint(func(tx *Tx, old, new *AppUser) error {
		return constrainCustomized(tx, AppRealm, old, new, AppUserByField.Count)
	}).Follow(func(tx *Tx, old, new *AppUser) error {
		if old == nil || new == nil {
			return nil
		}
		who := Account{App: true, ID: new.ID}
		if old.Pending && !new.Pending {
			if err := deleteLinks(tx, who, Registration); err != nil {
				return err
			}
		}
		return followEmail(tx, who, old.Email, new.Email)
	})
)

var _ = Manage(AppUsers, "user.list", FieldAccess{"status", "user.list.status"})

// PasswordHash is the password hash of a user. It is a record of its own and not a field of the
// user, so that no route can return it.
type PasswordHash struct {
	Ident
	UserID    ID     `json:"user_id"`
	AppUserID ID     `json:"app_user_id"`
	Hash      string `json:"hash" log:"secret"` // hash in the format of package auth; see ImportedHash
	// Earlier has the hashes of the user's earlier passwords, the newest first, as many as
	// security.password_history said when the password was last set. Lowering the setting removes
	// none of them before the next time.
	Earlier []string `json:"earlier,omitempty" log:"secret"`
	kv.Timestamps
}

// PasswordHashes and their references. A hash is deleted with its user.
var (
	PasswordHashes = kv.NewCollection[PasswordHash]("password_hash")
	HashByUser     = refToUser(PasswordHashes, func(h *PasswordHash) ID {
		return h.UserID
	}, kv.Cascade)
	HashByAppUser = refToAppUser(PasswordHashes, func(h *PasswordHash) ID {
		return h.AppUserID
	}, kv.Cascade)

	_ = PasswordHashes.Constraint(constrainHash)
)

var _ = manage(Access{Table: PasswordHashes, Query: "admin.list.query"})

// HashOf returns the password hash of a user. The error is NotFound if the user has no
// password.
func HashOf(tx *Tx, a Account) (*PasswordHash, error) {
	for h, err := range ByRealm(a.App, HashByUser, HashByAppUser).All(tx, a.ID) {
		return h, err
	}
	return nil, errs.New(errs.NotFound, "password of user %d not found", a.ID)
}

// constrainAppUser makes an address that has changed unverified, and requires a permission to
// change roles. Only the program makes a user pending.
func constrainAppUser(tx *Tx, old, new *AppUser) error {
	if err := authorizeAppRoles(tx, old, new); err != nil {
		return err
	}
	if new != nil {
		new.CreatedByKey = createdByKey(tx, old == nil, new.CreatedByKey, func() ID {
			return old.CreatedByKey
		})
	}
	if new != nil {
		if err := checkPasswordSignIn(tx, true, before(old, func(u *AppUser) string { return u.PasswordSignIn }), new.PasswordSignIn); err != nil {
			return err
		}
	}
	if new != nil && bool(new.Pending) && !ActorOf(tx).system &&
		(old == nil || !bool(old.Pending)) {
		return errs.Field(errs.Invalid, "pending", "can only be set to 0")
	}
	if new != nil && !ActorOf(tx).system && (old == nil || !bool(old.EmailVerified)) {
		new.EmailVerified = false // only the program verifies, even when a user undoes a change
	}
	if old == nil || new == nil || fold.SameAddress(old.Email, new.Email) {
		return nil
	}

	new.EmailVerified = false
	if a := ActorOf(tx); a.App && new.Email != "" && RegistrationConfirmed(tx) {
		return ErrConfirmEmail
	}
	if accepts, err := acceptsRegistration(tx, old, new); err != nil || accepts {
		return err
	}

	return mayChangeEmail(tx, Account{App: true, ID: new.ID})
}

// SetHash stores the password hash of a user and ends all sessions of the user except keep; 0
// ends all. This invalidates the user's links, too: another person may have requested or received
// them. The replaced hash is remembered, regardless of the actor.
func SetHash(tx *Tx, a Account, hash string, mustChange bool, keep ID) error {
	pending, err := setMustChange(tx, a, Flag(mustChange))
	if err != nil {
		return err
	}

	remembered := PasswordHistory.Get(tx)
	if pending {
		remembered = 0 // a registration that replaces another one may be of another person
	}

	old, err := HashOf(tx, a)
	switch {
	case err == nil:
		_, err = PasswordHashes.Update(tx, old.ID, func(h *PasswordHash) error {
			h.replace(hash, remembered)
			return nil
		})
	case errs.Is(err, errs.NotFound):
		h := &PasswordHash{Hash: hash}
		h.UserID, h.AppUserID = a.IDs()
		err = PasswordHashes.Create(tx, h)
	}
	if err != nil {
		return err
	}
	if err := deleteLinks(tx, a, Invitation, PasswordReset, EmailVerification, EmailChange); err != nil {
		return err
	}

	return EndSessions(tx, a, keep)
}

// setMustChange updates the record of the user, so that its rules are checked. It reports whether
// the user is an app user whose registration is not confirmed.
func setMustChange(tx *Tx, a Account, must Flag) (pending bool, err error) {
	if a.App {
		u, err := AppUsers.UpdateQuietly(tx, a.ID, func(u *AppUser) error {
			u.MustChangePassword = must
			return nil
		})
		return err == nil && bool(u.Pending), err
	}
	_, err = Users.UpdateQuietly(tx, a.ID, func(u *User) error {
		u.MustChangePassword = must
		return nil
	})
	return false, err
}

// replace sets a new hash, and remembers as many of the earlier ones.
func (h *PasswordHash) replace(hash string, remembered int) {
	earlier := append([]string{h.Hash}, h.Earlier...)
	h.Hash, h.Earlier = hash, earlier[:min(remembered, len(earlier))]
}
