package store

import (
	"cmp"
	"slices"
	"time"

	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// A Link is an operation for one person, once, with a link and without signing in: accept an
// invitation, set a new password, or confirm an e-mail address. There is at most one for each
// purpose and person. It has up to three tokens, because each copy and each mail has its own; the
// first use of any of them deletes the link. Only the hashes of tokens are stored.
type Link struct {
	Ident
	Purpose   string      `json:"purpose"`
	UserID    ID          `json:"user_id"`
	AppUserID ID          `json:"app_user_id"`
	Email     string      `json:"email" log:"personal" visible:"address"` // address that it confirms; "" for invitations and passwords
	CreatedBy ID          `json:"created_by"`                             // user who has invited; 0 for the person, or if unknown
	Tokens    []LinkToken `json:"tokens" log:"secret"`                    // the oldest first
	ExpiresAt Time        `json:"expires_at"`                             // expiry of the last token; 0 without tokens
	Versioned
}

// LinkToken is the token of one copy of a link.
type LinkToken struct {
	Hash      string `json:"hash"`       // SHA-256 of the token, hexadecimal
	Email     string `json:"email"`      // address to which it was sent; "" for a copy that a user got
	CreatedBy ID     `json:"created_by"` // user who got the copy; 0 if it was sent
	ExpiresAt Time   `json:"expires_at"`
}

// Purposes of links.
const (
	Invitation        = "invitation"         // set the first password
	PasswordReset     = "password_reset"     // set a new password
	EmailVerification = "email_verification" // confirm the address that the user has
	EmailChange       = "email_change"       // confirm a new address, which then replaces the current one
	Registration      = "registration"       // confirm the address of a new account, see account_registration.go
)

// Limits of links.
const (
	invitationLife = 7 * 24 * time.Hour
	linkLife       = time.Hour           // of links that a person has asked for
	invitationKept = 90 * 24 * time.Hour // for which invitations can be renewed
	linkKept       = 24 * time.Hour      // for which other links are kept
	maxLinkTokens  = 3                   // another one replaces the oldest, see trim
)

// Links and their indexes. A link is deleted with its user.
var (
	Links         = kv.NewCollection[Link]("link")
	LinkByUser    = refToUser(Links, func(l *Link) ID { return l.UserID }, kv.Cascade)
	LinkByAppUser = refToAppUser(Links, func(l *Link) ID { return l.AppUserID }, kv.Cascade)
	LinkBySubject = kv.NewUnique(Links, "subject", func(l *Link) string {
		return linkSubject(l.Purpose, l.Account())
	})
	LinkByPurpose = kv.NewEach(Links, "purpose", func(l *Link) string {
		return l.realmPurpose()
	}, "user_id", "app_user_id")
	LinkByToken        = kv.NewMany(Links, "token", linkHashes)
	LinkByExpiry       = kv.NewEach(Links, "expires_at", func(l *Link) Time { return l.ExpiresAt })
	LinkByRegistration = kv.NewUniqueText(Links, "email", fold.Address, registrationAddress,
		"purpose")
	LinkByEnd = kv.NewEach(Links, "end", func(l *Link) Time { return l.end() })

	_ = Links.Authorize(authorizeLink).Constraint(constrainLink)
)

var _ = manage(Access{
	Table:  Links,
	Query:  "admin.invite.query",
	Create: "admin.invite.create",
	Delete: "admin.invite.delete",
})

// Account returns the person whom the link is for.
func (l *Link) Account() Account { return accountOf(l.UserID, l.AppUserID) }

func linkSubject(purpose string, who Account) string { return purpose + " " + who.Person() }

// realmPurpose is the key of LinkByPurpose.
func (l *Link) realmPurpose() string { return l.Account().Realm() + " " + l.Purpose }

// PendingInvitations returns the condition of the invitations of one realm.
func PendingInvitations(app bool) kv.Condition {
	return LinkByPurpose.AnyOf(Account{App: app}.Realm() + " " + Invitation)
}

func linkHashes(l *Link) []string {
	hashes := make([]string, len(l.Tokens))
	for i, t := range l.Tokens {
		hashes[i] = t.Hash
	}
	return hashes
}

// Valid returns the number of tokens that have not expired.
func (l *Link) Valid(now Time) (n int) {
	for _, t := range l.Tokens {
		if now < t.ExpiresAt {
			n++
		}
	}
	return n
}

// linkPermission returns the permission that a user needs to get a link for another user.
func linkPermission(l *Link) string {
	prefix := "admin."
	if l.AppUserID != 0 {
		prefix = "user."
	}
	if l.Purpose == Invitation {
		return prefix + "invite.create"
	}
	return prefix + "list.password"
}

// authorizeLink allows a change of a link by actors who may set the user's password, and by users
// who confirm their own address.
func authorizeLink(tx *Tx, l *Link) error {
	err := mayLink(tx, l)
	if errs.Is(err, errs.NotFound) {
		err = Links.NotFound(l.ID)
	}
	return err
}

func constrainLink(tx *Tx, _, new *Link) error {
	if new == nil {
		return nil
	}
	if err := mayLink(tx, new); err != nil || new.AppUserID != 0 || !new.SetsPassword() {
		return err
	}
	return RequireSessionProof(tx) // the recipient of the link could sign in with it, which is a proof
}

func mayLink(tx *Tx, l *Link) error {
	actor := ActorOf(tx)
	if l.AppUserID != 0 && (!actor.App || actor.ID == l.AppUserID) || actor.system {
		return nil
	}
	u, err := Users.Get(tx, l.UserID)
	if err != nil || isSelf(tx, u) && l.confirmsEmail() {
		return err
	}
	return checkUserChange(tx, u)
}

// SetsPassword reports whether the link sets a password.
func (l *Link) SetsPassword() bool { return !l.confirmsEmail() }

// confirmsEmail reports whether the link confirms an address instead of setting a password.
func (l *Link) confirmsEmail() bool {
	return l.Purpose == EmailVerification || l.Purpose == EmailChange || l.Purpose == Registration
}

// LinkOf returns the link of a person for a purpose. The error is NotFound if there is none.
func LinkOf(tx *Tx, purpose string, who Account) (*Link, error) {
	return LinkBySubject.Get(tx, linkSubject(purpose, who))
}

// Invite creates the invitation of a person, or renews it. It has no token yet. A person who has a
// password and is not obliged to change it can't be invited.
func Invite(tx *Tx, who Account) (*Link, error) {
	if err := mayInvite(tx, who); err != nil {
		return nil, err
	}
	return openLink(tx, Invitation, who, "")
}

// ValidateInvite returns the error of Invite without inviting.
func ValidateInvite(tx *Tx, who Account) error {
	err := mayInvite(tx, who)
	if err == nil {
		err = constrainLink(tx, nil, newLink(Invitation, who, ""))
	}
	return err
}

// mayInvite returns an error for a person who does not need an invitation, because of an earlier
// sign-in or a chosen password.
func mayInvite(tx *Tx, who Account) error {
	status, mustChange, signedIn, err := who.signInState(tx)
	if err == nil {
		err = who.notPending(tx)
	}
	if err != nil {
		return err
	}
	if !status {
		return errs.New(errs.Conflict, "%s is disabled", who.nameOr(tx)).Coded("user_disabled")
	}

	_, err = HashOf(tx, who)
	if errs.Is(err, errs.NotFound) || err == nil && mustChange && !signedIn {
		return nil
	}
	if err == nil {
		err = errs.New(errs.Conflict,
			"%s has a password already; create a password reset link instead", who.nameOr(tx)).Coded("has_password")
	}

	return err
}

// signInState returns whether a user is enabled, must change the password, and has ever signed in.
func (a Account) signInState(tx *Tx) (enabled, mustChange, signedIn bool, err error) {
	u, err := a.Member(tx)
	if err != nil {
		return false, false, false, err
	}
	return bool(*u.Status), bool(*u.MustChangePassword), *u.LoginTime != 0, nil
}

// notPending returns an error for an app user who has not confirmed the address of the
// registration.
func (a Account) notPending(tx *Tx) error {
	if !a.App {
		return nil
	}
	u, err := AppUsers.Get(tx, a.ID)
	if err == nil && bool(u.Pending) {
		err = errs.New(errs.Conflict, "%s has not confirmed the registration yet", u.Username).Coded("user_pending")
	}
	return err
}

// Enabled reports whether a user exists and is enabled.
func (a Account) Enabled(tx *Tx) (bool, error) {
	enabled, _, _, err := a.signInState(tx)
	return enabled, ignoreMissing(err)
}

// nameOr returns the username for an error, or "the user".
func (a Account) nameOr(tx *Tx) string {
	name, err := a.Username(tx)
	if err != nil || name == "" {
		return "the user"
	}
	return name
}

// RequestLink creates the link of a person for a purpose other than Invitation, or renews it. It
// has no token yet. email is the address that it confirms.
func RequestLink(tx *Tx, purpose string, who Account, email string) (*Link, error) {
	if enabled, _, _, err := who.signInState(tx); err != nil {
		return nil, err
	} else if !enabled {
		return nil, errs.New(errs.Conflict, "%s is disabled", who.nameOr(tx)).Coded("user_disabled")
	}
	if err := who.notPending(tx); err != nil {
		return nil, err
	}
	return openLink(tx, purpose, who, email)
}

func newLink(purpose string, who Account, email string) *Link {
	l := &Link{Purpose: purpose, Email: email, Tokens: []LinkToken{}}
	l.UserID, l.AppUserID = who.IDs()
	return l
}

// openLink creates a link. The tokens of one for another address are dropped.
func openLink(tx *Tx, purpose string, who Account, email string) (*Link, error) {
	by := ID(0)
	if a := ActorOf(tx); !a.system && !a.App {
		by = a.ID
	}

	l, err := LinkOf(tx, purpose, who)
	if errs.Is(err, errs.NotFound) {
		l = newLink(purpose, who, email)
		l.CreatedBy = by
		return l, Links.Create(tx, l)
	}
	if err != nil {
		return nil, err
	}

	return Links.Update(tx, l.ID, func(l *Link) error {
		l.CreatedBy = cmp.Or(by, l.CreatedBy)
		if l.Email != email {
			l.Email, l.Tokens, l.ExpiresAt = email, []LinkToken{}, 0
		}
		return nil
	})
}

// AddLinkToken adds a token to a link. sentTo is the address that it is sent to; "" for a copy that
// the actor gets. It returns when the token expires. One that is sent replaces another only when
// the mail server has accepted it: see SentLinkToken.
func AddLinkToken(tx *Tx, id ID, hash, sentTo string) (_ Time, err error) {
	t := LinkToken{Hash: hash, Email: sentTo}
	if sentTo == "" {
		if ActorOf(tx).Key != nil { // its rights could not be checked when the link is used
			return 0, ErrKeyForbidden
		}
		if t.CreatedBy, err = OwnerFor(tx); err != nil {
			return 0, err
		}
	}

	_, err = Links.Update(tx, id, func(l *Link) (err error) {
		if t.ExpiresAt, err = l.linkEnd(tx); err != nil {
			return err
		}
		l.Tokens = append(slices.DeleteFunc(slices.Clone(l.Tokens), func(t LinkToken) bool {
			return tx.Now() >= t.ExpiresAt
		}), t)
		if sentTo == "" {
			l.trim()
		}
		l.ExpiresAt = t.ExpiresAt
		return nil
	})
	return t.ExpiresAt, err
}

// SentLinkToken records whether the mail server has accepted the mail with a token. If so, the
// link's oldest token beyond the limit ends; if not, this one does.
func SentLinkToken(tx *Tx, id ID, hash string, accepted bool) error {
	_, err := Links.Update(tx, id, func(l *Link) error {
		l.Tokens = slices.Clone(l.Tokens)
		if accepted {
			l.trim()
			return nil
		}
		l.Tokens = slices.DeleteFunc(l.Tokens, func(t LinkToken) bool { return t.Hash == hash })
		l.ExpiresAt = 0
		if n := len(l.Tokens); n > 0 {
			l.ExpiresAt = l.Tokens[n-1].ExpiresAt
		}
		return nil
	})
	return ignoreMissing(err) // it has been used or revoked
}

// trim drops tokens beyond the limit: the oldest that was mailed, if another one was mailed after
// it, so that people who ask for mails do not end the copies of administrators; else the oldest.
func (l *Link) trim() {
	for len(l.Tokens) > maxLinkTokens {
		last := len(l.Tokens) - 1
		oldest := slices.IndexFunc(l.Tokens, func(t LinkToken) bool { return t.Email != "" })
		if oldest < 0 || oldest == last {
			oldest = 0
		}
		l.Tokens = slices.Delete(l.Tokens, oldest, oldest+1)
	}
}

// deleteLinks deletes the links of a person for some purposes.
func deleteLinks(tx *Tx, who Account, purposes ...string) error {
	for _, purpose := range purposes {
		l, err := LinkOf(tx, purpose, who)
		if err == nil {
			err = Links.Delete(tx, l.ID)
		}
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

// end returns when the link is deleted.
func (l *Link) end() Time {
	if l.Purpose == Invitation {
		return l.UpdatedAt.Add(invitationKept)
	}
	return l.UpdatedAt.Add(linkKept)
}

// EndExpiredLinks deletes up to limit links that are no longer kept. It reports whether there may
// be more.
func EndExpiredLinks(tx *Tx, limit int) (more bool, err error) {
	ids, err := LinkByEnd.Below(tx, tx.Now(), limit)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		if err := Links.Delete(tx, id); err != nil {
			return false, err
		}
	}
	return len(ids) == limit, nil
}

// endAllLinks ends all tokens. Invitations remain and can be renewed.
func endAllLinks(tx *Tx) error {
	var all []ID
	for l, err := range Links.All(tx) {
		if err != nil {
			return err
		}
		if len(l.Tokens) > 0 {
			all = append(all, l.ID)
		}
	}

	for _, id := range all {
		_, err := Links.Update(tx, id, func(l *Link) error {
			l.Tokens, l.ExpiresAt = []LinkToken{}, 0
			return nil
		})
		if err != nil {
			return err
		}
	}

	return nil
}
