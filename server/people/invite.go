package people

import (
	"reflect"
	"slices"
	"strings"

	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// InviteRoutes are about invitations, the links with which people set their first password.
func InviteRoutes() []web.Route {
	return append(UserRealm.inviteRoutes(), AppUserRealm.inviteRoutes()...)
}

func (r *Realm[T, Out, P]) inviteRoutes() []web.Route {
	all := r.only("invitations", "app user invitations")
	return []web.Route{
		web.List(r.at("/invite"), r.may("invite.query"), "List "+all, r.invitations()),
		web.Action("POST", r.at("/invite"), r.may("invite.create"), "Invite "+r.noun+"s",
			r.inviteSeveral, web.Options{
				Proves:  !r.app,
				Reveals: true,
				Selects: r.list.Info(),
				Note: "Invites " + r.noun + "s who have not set a password yet, at most 10,000; those " +
					"who have are skipped, and so are those without an address if the invitations are " +
					"mailed. It can be repeated: an invitation that exists is renewed.",
			}),
		web.Write("DELETE", r.at("/invite/:id"), r.may("invite.delete"),
			"Revoke "+r.only("an invitation", "an app user's invitation"), r.revoke, web.Options{
				Record: web.RecordOf(store.Links),
				Note: "Its links stop working at once. The " + r.noun + " remains, without a " +
					"password.",
			}),
		web.DeleteSeveral(r.at("/invite"), r.may("invite.delete"), "Revoke "+all, r.revoke,
			web.Options{
				Note: "Their links stop working at once. The " + r.noun + "s remain, without passwords.",
			}),
		web.Write("POST", r.at("/list/:id/invite"), r.may("invite.create"), "Invite "+r.one,
			r.inviteOne, web.Options{
				Proves:  !r.app,
				Reveals: true,
				Note: "Invites " + r.one + " who has not set a password yet, by mail or with a link for " +
					"you to pass on. Of an invitation, the three newest links are valid, each for 7 days " +
					"and until one of them is used." + r.only(" A link that was passed on ends if you "+
					"lose the right to change the user.", ""),
			}),
		web.Write("POST", r.at("/list/:id/reset-link"), r.may("list.password"),
			"Create "+r.only("a password reset link", "an app user's reset link"), r.linkReset,
			web.Options{
				Confirmed: true,
				Reveals:   true,
				Note: "The " + r.noun + " sets a new password with the link, within an hour. Until then, " +
					"the present password and the sessions remain.",
			}),
	}
}

// Invitation is a pending invitation in responses.
type Invitation struct {
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

// invitations declares the list of the pending invitations of a realm.
func (r *Realm[T, Out, P]) invitations() *web.Resource[store.Link, *Invitation] {
	byUser := store.ByRealm(r.app, store.LinkByUser, store.LinkByAppUser)
	return &web.Resource[store.Link, *Invitation]{
		Collection: store.Links,
		Order:      "id, descending",
		Descending: true,
		Output:     InvitationOf,
		Columns: []web.Column[store.Link]{
			{Name: "id", Uses: web.Sorted},
			{Name: "user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(byUser),
				Named: web.ByName("user", store.ByRealm(r.app, "user", "app_user"))},
			web.TimeColumn("expires_at", store.LinkByExpiry),
		},
		Always:   func() kv.Condition { return store.PendingInvitations(r.app) },
		Keywords: []string{"username"},
		Search: func(tx *store.Tx, part string) kv.Condition {
			return byUser.Matching(r.byName.That(tx, "CONTAINS ?", func(name string) bool {
				return strings.Contains(name, part)
			}))
		},
		Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
			if r.app {
				return kv.Condition{}, false
			}
			return web.ScopedTo(tx, req, byUser)
		},
	}
}

func InvitationOf(tx *store.Tx, _ *web.Request, l *store.Link) (*Invitation, error) {
	who := l.Account()
	p, err := mails.RecipientOf(tx, who)
	if err != nil {
		return nil, err
	}

	out := &Invitation{
		Ident:     l.Ident,
		UserID:    who.ID,
		Username:  p.Username,
		Nickname:  p.Nickname,
		Email:     p.Email,
		Links:     l.Valid(tx.Now()),
		ExpiresAt: l.ExpiresAt,
		Versioned: l.Versioned,
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

// linkFor is the input of an operation that creates a link for another user.
type linkFor struct {
	web.ByID
	Send store.Flag `json:"send" doc:"1 to mail the link; 0 to return it"`
}

// OneTimeLink is a link created for another user. Without a URL, it is mailed.
type OneTimeLink struct {
	URL       string     `json:"url,omitempty" doc:"The link, which no other response contains; absent if it is mailed"`
	ExpiresAt store.Time `json:"expires_at" null:"true" doc:"Time at which it expires; null if it is mailed, since its time begins when it is sent"`
	Email     string     `json:"email,omitempty" doc:"Address to which it is mailed; absent if it is not"`
}

func (r *Realm[T, Out, P]) inviteOne(tx *store.Tx, req *web.Request,
	in *linkFor) (*OneTimeLink, error) {
	return makeLink(tx, req, store.Invitation, r.account(in.ID), bool(in.Send))
}

func (r *Realm[T, Out, P]) linkReset(tx *store.Tx, req *web.Request,
	in *linkFor) (*OneTimeLink, error) {
	if err := store.CheckPasswordOn(tx, r.account(in.ID)); err != nil {
		return nil, err
	}
	return makeLink(tx, req, store.PasswordReset, r.account(in.ID), bool(in.Send))
}

// makeLink creates a link for another user, who must be in the caller's data scope, and mails it or
// returns it.
func makeLink(tx *store.Tx, req *web.Request, purpose string, who store.Account,
	send bool) (*OneTimeLink, error) {
	if _, err := who.Seen(tx); err != nil {
		return nil, err
	}
	l, err := openLink(tx, purpose, who)
	if err != nil {
		return nil, err
	}
	if send {
		email, err := mailLink(req, tx, l)
		return &OneTimeLink{Email: email}, err
	}
	return copyLink(req, tx, l)
}

func openLink(tx *store.Tx, purpose string, who store.Account) (*store.Link, error) {
	if purpose == store.Invitation {
		return store.Invite(tx, who)
	}
	return store.RequestLink(tx, purpose, who, "")
}

// copyLink returns a copy of a link for the caller.
func copyLink(req *web.Request, tx *store.Tx, l *store.Link) (*OneTimeLink, error) {
	url, _, expires, err := mails.NewLink(req.Server, tx, l.ID, "", mails.PublicURL(req))
	if err != nil {
		return nil, err
	}
	tx.LogAction("create_link", map[string]any{
		"purpose": l.Purpose,
		"kind":    l.Account().Kind(),
		"id":      l.Account().ID,
	})
	return &OneTimeLink{URL: url, ExpiresAt: expires}, nil
}

// mailLink queues the mail with a link, and returns the address to which it is sent.
func mailLink(req *web.Request, tx *store.Tx, l *store.Link) (email string, err error) {
	if err := mails.MailReady(req.Server, tx); err != nil {
		return "", err
	}
	p, err := mails.RecipientOf(tx, l.Account())
	if err != nil {
		return "", err
	}
	if p.Email == "" {
		return "", errs.New(errs.Conflict, "%s has no email address", p.Username).Coded("no_email")
	}
	return p.Email, store.QueueMail(tx, l.Purpose, l.Account(), "", mails.MailLanguage(req))
}

// inviteMany selects the people to invite.
type inviteMany struct {
	web.Selection
	Send store.Flag `json:"send" doc:"1 to mail the invitations. People without an address are skipped"`
	Copy store.Flag `json:"copy" doc:"1 to return the links, for at most 200 people"`
}

// InvitedMany tells who was invited.
type InvitedMany struct {
	Count   int           `json:"count" doc:"Number of people who were invited"`
	Skipped []skipped     `json:"skipped" doc:"People who were not, at most 1000"`
	Links   []invitedLink `json:"links,omitempty" doc:"The links, which no other response contains; absent unless copy is 1"`
}

// skipped is a user who was not invited.
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

var inviteInput = web.Describe(reflect.TypeFor[inviteMany](), "POST",
	reflect.TypeFor[*InvitedMany]())

const (
	inviteStep     = 50 // people invited in one transaction, each with a link, a mail and the change of its tokens
	maxInviteLinks = 200
	maxSkipped     = 1000
)

// inviteSeveral invites the selected people, in steps. A person who can't be invited is skipped, so
// it can be repeated if it is interrupted.
func (r *Realm[T, Out, P]) inviteSeveral(req *web.Request, in *inviteMany) (*InvitedMany, error) {
	var all []store.ID
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		if in.Send {
			err = mails.MailReady(req.Server, tx)
		}
		if err == nil {
			all, err = web.SelectIDs(tx, req, r.list, inviteInput, &in.Selection,
				r.may("list.query"))
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

	out := &InvitedMany{Skipped: []skipped{}}
	if in.Copy {
		out.Links = []invitedLink{}
	}

	for few := range slices.Chunk(all, inviteStep) {
		if err := req.HTTP.Context().Err(); err != nil {
			return nil, errs.New(errs.Malformed, "the client has disconnected").Because(err)
		}

		var step InvitedMany
		err := req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
			step = InvitedMany{}
			for _, id := range few {
				if err := inviteSelected(req, tx, in, r.account(id), &step); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}

		out.Count += step.Count
		out.Skipped = append(out.Skipped,
			step.Skipped[:min(len(step.Skipped), maxSkipped-len(out.Skipped))]...)
		out.Links = append(out.Links, step.Links...)
	}

	return out, nil
}

// inviteSelected invites one of several people, or skips them.
func inviteSelected(req *web.Request, tx *store.Tx, in *inviteMany, who store.Account,
	out *InvitedMany) error {
	p, err := invitable(tx, who, bool(in.Send))
	if e := errs.Of(err); err != nil && e.Kind != errs.Internal && e.Code != store.ErrReauth.Code {
		out.Skipped = append(out.Skipped,
			skipped{who.ID, p.Username, e.Code, e.Msg.In(req.Language())})
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
		if err := store.QueueMail(tx, l.Purpose, who, "", mails.MailLanguage(req)); err != nil {
			return err
		}
	}
	if !in.Copy {
		return nil
	}

	made, err := copyLink(req, tx, l)
	if err == nil {
		out.Links = append(out.Links,
			invitedLink{who.ID, p.Username, p.Nickname, p.Email, made.URL, made.ExpiresAt})
	}

	return err
}

// invitable returns a person as a recipient, or the reason why an invitation is not possible.
func invitable(tx *store.Tx, who store.Account, send bool) (mails.Recipient, error) {
	if _, err := who.Seen(tx); err != nil {
		return mails.Recipient{}, err
	}
	p, err := mails.RecipientOf(tx, who)
	if err != nil {
		return p, err
	}
	if err := store.ValidateInvite(tx, who); err != nil {
		return p, err
	}
	if send && p.Email == "" {
		return p, errs.New(errs.Conflict, "%s has no email address", p.Username).Coded("no_email")
	}
	return p, nil
}

func (r *Realm[T, Out, P]) revoke(tx *store.Tx, req *web.Request,
	in *web.ByID) (web.Nothing, error) {
	if _, err := r.invitations().Get(tx, req, in.ID); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.Links.Delete(tx, in.ID)
}
