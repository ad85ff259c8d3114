package server

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// Invitations are the links with which people set their first password. Users and app users have the
// same operations, below different paths and permissions.
var inviteRoutes = []Route{
	diskList("/admin/invite", "admin.invite.query", "List invitations", &invitations),
	proving(reveals(onSelection(action("POST", "/admin/invite", "admin.invite.create", "Invite users", inviteUsers), users.info()))),
	onRecord(store.Links, write("DELETE", "/admin/invite/:id", "admin.invite.delete", "Revoke an invitation", revokeInvitation)),
	deleteSeveral("/admin/invite", "admin.invite.delete", "Revoke invitations", revokeInvitation),
	proving(reveals(write("POST", "/admin/list/:id/invite", "admin.invite.create", "Invite a user", inviteUser))),
	confirmed(reveals(write("POST", "/admin/list/:id/reset-link", "admin.list.password", "Create a password reset link", linkReset))),

	diskList("/user/invite", "user.invite.query", "List app user invitations", &appInvitations),
	reveals(onSelection(action("POST", "/user/invite", "user.invite.create", "Invite app users", inviteAppUsers), appUsers.info())),
	onRecord(store.Links, write("DELETE", "/user/invite/:id", "user.invite.delete", "Revoke an app user's invitation", revokeAppInvitation)),
	deleteSeveral("/user/invite", "user.invite.delete", "Revoke app user invitations", revokeAppInvitation),
	reveals(write("POST", "/user/list/:id/invite", "user.invite.create", "Invite an app user", inviteAppUser)),
	confirmed(reveals(write("POST", "/user/list/:id/reset-link", "user.list.password", "Create an app user's reset link", linkAppReset))),
}

// invitation is a pending invitation in responses.
type invitation struct {
	store.Ident
	UserID       store.ID   `json:"user_id" doc:"ID of the user, or of the app user"`
	Username     string     `json:"username"`
	Nickname     string     `json:"nickname"`
	Email        string     `json:"email" doc:"Address to which it is mailed; empty for none"`
	InvitedBy    string     `json:"invited_by" doc:"Username of the user who has invited; empty if the user was deleted"`
	Links        int        `json:"links" doc:"Number of links that can be used, at most 3: each copy and each mail has its own"`
	ExpiresAt    store.Time `json:"expires_at" null:"true" doc:"Time at which the last link expires, or has expired; null before the first"`
	MailState    string     `json:"mail_state" enum:"mail_state" doc:"State of the last mail: queued, sent, failed or cancelled; empty if none was sent"`
	MailResponse string     `json:"mail_response" doc:"What the mail server said about the last attempt"`
	store.Versioned
}

var invitations = newInvitations(false)
var appInvitations = newInvitations(true)

func newInvitations(app bool) Resource[store.Link, *invitation] {
	return Resource[store.Link, *invitation]{
		of: store.Links, order: "id, descending", descending: true, out: invitationOf,
		columns: []diskColumn[store.Link]{
			{name: "id", uses: sorted},
			{name: "user_id", uses: filtered | param, numbers: ids(invitedBy(app))},
			{name: "expires_at", uses: sorted | ranged, order: store.LinkByExpiry.Order(), between: store.LinkByExpiry.Between},
		},
		always:   func() store.Condition { return store.PendingInvitations(app) },
		keywords: []string{"username"},
		search: func(tx *store.Tx, part string) store.Condition {
			named := func(name string) bool { return strings.Contains(name, part) }
			if app {
				return store.LinkByAppUser.Matching(store.AppUserByName.That(tx, "CONTAINS ?", named))
			}
			return store.LinkByUser.Matching(store.UserByName.That(tx, "CONTAINS ?", named))
		},
		scope: func(tx *store.Tx, req *Request) (store.Condition, bool) {
			if app {
				return store.Condition{}, false
			}
			return scopedTo(tx, req, store.LinkByUser)
		},
	}
}

// invitedBy returns the reference of links to users of a realm.
func invitedBy(app bool) *store.Ref[store.Link] {
	if app {
		return store.LinkByAppUser
	}
	return store.LinkByUser
}

func invitationOf(tx *store.Tx, _ *Request, l *store.Link) (*invitation, error) {
	who := l.Account()
	p, err := recipientOf(tx, who)
	if err != nil {
		return nil, err
	}
	out := &invitation{
		Ident: l.Ident, UserID: who.ID, Username: p.username, Nickname: p.nickname, Email: p.email,
		Links: l.Valid(tx.Now()), ExpiresAt: l.ExpiresAt, Versioned: l.Versioned,
	}
	if out.InvitedBy, err = (store.Account{ID: l.CreatedBy}).Username(tx); err != nil {
		return nil, err
	}
	m, err := store.LastMail(tx, store.Invitation, who)
	if err == nil && m != nil {
		out.MailState, out.MailResponse = m.State, m.Response
	}
	return out, err
}

// linkFor is the input of an operation that makes a link for somebody else.
type linkFor struct {
	byID
	Send store.Flag `json:"send" doc:"1 to mail the link; 0 to return it"`
}

// oneTimeLink is a link that was made for somebody else. Without a URL, it is mailed.
type oneTimeLink struct {
	URL       string     `json:"url,omitempty" doc:"The link, which no other response contains; absent if it is mailed"`
	ExpiresAt store.Time `json:"expires_at" null:"true" doc:"Time at which it expires; null if it is mailed, since its time begins when it is sent"`
	Email     string     `json:"email,omitempty" doc:"Address to which it is mailed; absent if it is not"`
}

func inviteUser(tx *store.Tx, req *Request, in *linkFor) (*oneTimeLink, error) {
	return makeLink(tx, req, store.Invitation, store.Account{ID: in.ID}, bool(in.Send))
}

func inviteAppUser(tx *store.Tx, req *Request, in *linkFor) (*oneTimeLink, error) {
	return makeLink(tx, req, store.Invitation, store.Account{App: true, ID: in.ID}, bool(in.Send))
}

func linkReset(tx *store.Tx, req *Request, in *linkFor) (*oneTimeLink, error) {
	return makeLink(tx, req, store.PasswordReset, store.Account{ID: in.ID}, bool(in.Send))
}

func linkAppReset(tx *store.Tx, req *Request, in *linkFor) (*oneTimeLink, error) {
	return makeLink(tx, req, store.PasswordReset, store.Account{App: true, ID: in.ID}, bool(in.Send))
}

// makeLink makes a link for somebody else, who must be in the caller's data scope, and mails it or
// returns it.
func makeLink(tx *store.Tx, req *Request, purpose string, who store.Account, send bool) (*oneTimeLink, error) {
	if !who.App {
		if _, err := req.seenUser(tx, who.ID); err != nil {
			return nil, err
		}
	}
	l, err := openLink(tx, purpose, who)
	if err != nil {
		return nil, err
	}
	if send {
		email, err := req.mailLink(tx, l)
		return &oneTimeLink{Email: email}, err
	}
	return req.copyLink(tx, l)
}

func openLink(tx *store.Tx, purpose string, who store.Account) (*store.Link, error) {
	if purpose == store.Invitation {
		return store.Invite(tx, who)
	}
	return store.RequestLink(tx, purpose, who, "")
}

// copyLink returns a copy of a link for the caller.
func (req *Request) copyLink(tx *store.Tx, l *store.Link) (*oneTimeLink, error) {
	url, _, expires, err := req.s.newLink(tx, l.ID, "", req.publicURL())
	if err != nil {
		return nil, err
	}
	tx.LogAction("create_link", map[string]any{"purpose": l.Purpose, "kind": l.Account().Kind(), "id": l.Account().ID})
	return &oneTimeLink{URL: url, ExpiresAt: expires}, nil
}

// mailLink queues the mail with a link, and returns the address to which it is sent.
func (req *Request) mailLink(tx *store.Tx, l *store.Link) (email string, err error) {
	if err := req.s.mailReady(tx); err != nil {
		return "", err
	}
	p, err := recipientOf(tx, l.Account())
	if err != nil {
		return "", err
	}
	if p.email == "" {
		return "", errs.New(errs.Conflict, "%s has no email address", p.username).Coded("no_email")
	}
	return p.email, store.QueueMail(tx, l.Purpose, l.Account(), "", req.mailLanguage())
}

// inviteMany selects the people to invite.
type inviteMany struct {
	selection
	Send store.Flag `json:"send" doc:"1 to mail the invitations. People without an address are skipped"`
	Copy store.Flag `json:"copy" doc:"1 to return the links, for at most 200 people"`
}

// invitedMany tells who was invited.
type invitedMany struct {
	Count   int           `json:"count" doc:"Number of people who were invited"`
	Skipped []skipped     `json:"skipped" doc:"People who were not, at most 1000"`
	Links   []invitedLink `json:"links,omitempty" doc:"The links, which no other response contains; absent unless copy is 1"`
}

// skipped is somebody who was not invited.
type skipped struct {
	UserID   store.ID `json:"user_id"`
	Username string   `json:"username" doc:"Username; empty if you may not see the user"`
	Code     string   `json:"code" doc:"Code of the reason, such as has_password, no_email or user_disabled"`
	Reason   string   `json:"reason" doc:"Why, in the language of the request"`
}

type invitedLink struct {
	UserID    store.ID   `json:"user_id"`
	Username  string     `json:"username"`
	Nickname  string     `json:"nickname"`
	Email     string     `json:"email"`
	URL       string     `json:"url"`
	ExpiresAt store.Time `json:"expires_at"`
}

var inviteInput = describe(reflect.TypeFor[inviteMany](), "POST", reflect.TypeFor[*invitedMany]())

func inviteUsers(req *Request, in *inviteMany) (*invitedMany, error) {
	return inviteAll(req, in, false, func(tx *store.Tx) ([]store.ID, error) {
		return selectIDs(tx, req, &users, inviteInput, &in.selection, "admin.list.query")
	})
}

func inviteAppUsers(req *Request, in *inviteMany) (*invitedMany, error) {
	return inviteAll(req, in, true, func(tx *store.Tx) ([]store.ID, error) {
		return selectIDs(tx, req, &appUsers, inviteInput, &in.selection, "user.list.query")
	})
}

const (
	inviteStep     = 50 // people invited in one transaction, each with a link, a mail and the change of its tokens
	maxInviteLinks = 200
	maxSkipped     = 1000
)

// inviteAll invites the selected people, in steps. Whoever can't be invited is skipped, so it can be
// repeated if it is interrupted.
func inviteAll(req *Request, in *inviteMany, app bool, selected func(*store.Tx) ([]store.ID, error)) (*invitedMany, error) {
	var all []store.ID
	err := req.db.View(req.Actor, func(tx *store.Tx) (err error) {
		if in.Send {
			err = req.s.mailReady(tx)
		}
		if err == nil {
			all, err = selected(tx)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case bool(in.Copy) && len(all) > maxInviteLinks:
		return nil, errs.Field(errs.Invalid, "copy", "select at most %d users", maxInviteLinks)
	case bool(in.Copy) && req.Actor.Key != nil:
		return nil, store.ErrKeyForbidden
	}
	out := &invitedMany{Skipped: []skipped{}}
	if in.Copy {
		out.Links = []invitedLink{}
	}
	for few := range slices.Chunk(all, inviteStep) {
		if err := req.http.Context().Err(); err != nil {
			return nil, errs.New(errs.Malformed, "the client has disconnected").Because(err)
		}
		var step invitedMany
		err := req.db.Update(req.Actor, func(tx *store.Tx) (err error) {
			step = invitedMany{}
			for _, id := range few {
				if err := req.inviteOne(tx, in, store.Account{App: app, ID: id}, &step); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		out.Count += step.Count
		out.Skipped = append(out.Skipped, step.Skipped[:min(len(step.Skipped), maxSkipped-len(out.Skipped))]...)
		out.Links = append(out.Links, step.Links...)
	}
	return out, nil
}

// inviteOne invites one of several people, or skips them.
func (req *Request) inviteOne(tx *store.Tx, in *inviteMany, who store.Account, out *invitedMany) error {
	p, err := req.invitable(tx, who, bool(in.Send))
	if e := errs.Of(err); err != nil && e.Kind != errs.Internal && e.Code != store.ErrReauth.Code {
		out.Skipped = append(out.Skipped, skipped{who.ID, p.username, e.Code, e.Msg.In(req.language())})
		return nil
	}
	if err != nil {
		return err
	}
	l, err := store.Invite(tx, who)
	if err != nil {
		return err
	}
	out.Count++
	if in.Send {
		if err := store.QueueMail(tx, l.Purpose, who, "", req.mailLanguage()); err != nil {
			return err
		}
	}
	if !in.Copy {
		return nil
	}
	made, err := req.copyLink(tx, l)
	if err == nil {
		out.Links = append(out.Links, invitedLink{who.ID, p.username, p.nickname, p.email, made.URL, made.ExpiresAt})
	}
	return err
}

// invitable returns somebody who can be invited, or why not.
func (req *Request) invitable(tx *store.Tx, who store.Account, send bool) (recipient, error) {
	if !who.App {
		if _, err := req.seenUser(tx, who.ID); err != nil {
			return recipient{}, err
		}
	}
	p, err := recipientOf(tx, who)
	if err != nil {
		return p, err
	}
	if err := store.ValidateInvite(tx, who); err != nil {
		return p, err
	}
	if send && p.email == "" {
		return p, errs.New(errs.Conflict, "%s has no email address", p.username).Coded("no_email")
	}
	return p, nil
}

func revokeInvitation(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	return revoke(tx, req, &invitations, in.ID)
}

func revokeAppInvitation(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	return revoke(tx, req, &appInvitations, in.ID)
}

func revoke(tx *store.Tx, req *Request, list *Resource[store.Link, *invitation], id store.ID) (nothing, error) {
	if _, err := list.get(tx, req, id); err != nil {
		return nothing{}, err
	}
	return nothing{}, store.Links.Delete(tx, id)
}

// recipient is somebody to whom a link or a mail is addressed.
type recipient struct {
	username, nickname, email string
}

// name returns how to address the recipient.
func (p *recipient) name() string { return cmp.Or(p.nickname, p.username) }

func recipientOf(tx *store.Tx, who store.Account) (recipient, error) {
	if who.App {
		u, err := store.AppUsers.Get(tx, who.ID)
		if err != nil {
			return recipient{}, err
		}
		return recipient{u.Username, u.Nickname, u.Email}, nil
	}
	u, err := store.Users.Get(tx, who.ID)
	if err != nil {
		return recipient{}, err
	}
	return recipient{u.Username, u.Nickname, u.Email}, nil
}
