package people

import (
	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Realm declares the users of one realm. What can be done with users and with app users alike
// stands here once; the differences are the fields, and the further routes of user.go and
// app_user.go.
type Realm[T, Out any, P person[T]] struct {
	app       bool
	root      string // start of paths and permissions
	one, noun string // "a user" and "user", for titles and notes
	list      *web.Resource[T, Out]
	byName    *kv.Unique[T]

	// Kinds of the jobs that delete and import.
	DeleteJob, ImportJob string
	// restored runs after a user was restored because a deletion has failed; nil for nothing.
	restored func(tx *store.Tx, id store.ID) error
	csv      peopleCSV[T]
}

// person is a pointer to a user of either realm.
type person[T any] interface {
	store.MemberOf[T]
	web.Revised
}

func (r *Realm[T, Out, P]) at(path string) string       { return "/" + r.root + path }
func (r *Realm[T, Out, P]) may(operation string) string { return r.root + "." + operation }

func (r *Realm[T, Out, P]) account(id store.ID) store.Account {
	return store.Account{App: r.app, ID: id}
}

// only returns what differs in a text: one for users, and another one for app users.
func (r *Realm[T, Out, P]) only(ofUsers, ofAppUsers string) string {
	return store.ByRealm(r.app, ofUsers, ofAppUsers)
}

func (r *Realm[T, Out, P]) record() web.Record { return web.RecordOf[T, P](r.list.Collection) }

// routesOf returns the operations of a realm. create and change have inputs of their own.
func routesOf[T, Out any, P person[T], In, Made, Change any](r *Realm[T, Out, P], js *jobs.Runner,
	create func(*web.Request, *In) (Made, error),
	change func(*store.Tx, *web.Request, *Change) (Out, error)) []web.Route {
	lastOwner := r.only(" 409 for the last enabled owner.", "")
	return []web.Route{
		web.List(r.at("/list"), r.may("list.query"), "List "+r.noun+"s", r.list,
			web.Options{ExportAccess: r.may("list.export")}),
		web.Get(r.at("/list/:id"), r.may("list.query"), "Get "+r.one, r.list),
		web.Action("POST", r.at("/list"), r.may("list.create"), "Create "+r.one, create,
			web.Options{
				Reveals: true,
				Note:    "Without a password one is generated and returned once; the user must change it.",
			}),
		web.Write("PUT", r.at("/list/:id"), r.may("list.update"), "Change "+r.one, change,
			web.Options{Record: r.record()}),
		web.Remove[T, Out, P](r.at("/list/:id"), r.may("list.delete"), "Delete "+r.one, r.list,
			web.Options{Note: "The user's sessions end." + lastOwner}),
		r.deletions().Route(js, r.at("/list"), "Delete "+r.noun+"s",
			web.Options{Note: r.only("The users' sessions end."+lastOwner, "")}),
		web.Action("PUT", r.at("/list/:id/password"), r.may("list.password"),
			"Reset "+r.one+"'s password", r.resetPassword, web.Options{
				Confirmed: true,
				Reveals:   true,
				MaxBody:   web.SmallBody,
				Record:    r.record(),
				Note: "Ends the user's sessions. Without a password one is generated and returned once; " +
					"the user must change it.",
			}),
		web.Write("PUT", r.at("/list/:id/status"), r.may("list.status"),
			"Enable or disable "+r.one, r.enable, web.Options{
				Record: r.record(),
				Note:   "Disabling a user ends the user's sessions." + lastOwner,
			}),
	}
}

// FactorRoute returns the operation for people who have lost their second factor.
func (r *Realm[T, Out, P]) FactorRoute() web.Route {
	return web.Write("DELETE", r.at("/list/:id/factor"), r.may("list.factor"),
		"Remove "+r.one+"'s second factor", r.removeFactor, web.Options{
			Confirmed: true,
			Record:    r.record(),
			Note: "For somebody who has lost the authenticator app and the recovery codes: the " +
				"password is then enough to sign in." + r.only("", " A mail tells the app user."),
		})
}

// create creates a user with the fields that assign sets, and a password or an invitation.
func (r *Realm[T, Out, P]) create(req *web.Request, username *string, first *firstPassword,
	assign func(*store.Tx, *T) error) (out Out, access firstAccess, err error) {
	secret, err := firstSecret(req, web.ValueOf(username), first, r.may("invite.create"))
	if err != nil {
		return out, access, err
	}

	err = req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
		u := new(T)
		*P(u).Member().Status = true
		if err := assign(tx, u); err != nil {
			return err
		}
		if err := r.list.Collection.Create(tx, u); err != nil {
			return err
		}

		who := P(u).Member().Account
		if access, err = giveAccess(req, tx, who, secret, first); err != nil {
			return err
		}
		if u, err = r.list.Collection.Get(tx, who.ID); err != nil {
			return err
		}

		out, err = r.list.Output(tx, req, u)
		return err
	})
	return out, access, err
}

// Edit changes a user. Disabling a user ends the user's sessions.
func (r *Realm[T, Out, P]) Edit(tx *store.Tx, req *web.Request, id store.ID,
	apply func(*T) error) (out Out, err error) {
	u, err := r.list.Collection.Update(tx, id, apply)
	if err != nil {
		return out, err
	}
	if who := P(u).Member(); !bool(*who.Status) {
		if !r.app {
			req.Note("revoked", *who.Username, nil)
		}
		if err := store.EndSessions(tx, who.Account, 0); err != nil {
			return out, err
		}
	}
	return r.list.Output(tx, req, u)
}

func (r *Realm[T, Out, P]) enable(tx *store.Tx, req *web.Request, in *web.StatusIn) (Out, error) {
	return r.Edit(tx, req, in.ID, func(u *T) error {
		*P(u).Member().Status = in.Status
		return nil
	})
}

// deletions declares the deletion of several users.
func (r *Realm[T, Out, P]) deletions() *jobs.Deletions[T, Out] {
	return &jobs.Deletions[T, Out]{
		List:       r.list,
		Query:      r.may("list.query"),
		Job:        r.DeleteJob,
		Access:     r.may("list.delete"),
		Check:      r.list.Collection.ValidateDelete,
		One:        r.list.Collection.Delete,
		Weight:     jobs.WeightOf(r.app),
		CallerLast: !r.app,
		Restored:   r.restored,
	}
}

// DeleteKind returns the kind of the jobs that delete.
func (r *Realm[T, Out, P]) DeleteKind() jobs.Kind { return r.deletions().JobKind() }

type resetIn struct {
	web.ByID
	Password *string `json:"password" check:"raw,min=8,max=1024" doc:"New password. If absent, one is generated and returned once; the user must change it in either case"`
}

type resetOut struct {
	Password string `json:"password,omitempty" doc:"Generated password, which no other response contains; absent unless one was generated"`
}

// resetPassword sets a user's password, given or generated, which the user must then change, and
// ends the user's sessions.
func (r *Realm[T, Out, P]) resetPassword(req *web.Request, in *resetIn) (*resetOut, error) {
	var who store.Member
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		who, err = r.account(in.ID).Seen(tx)
		return err
	})
	if err != nil {
		return nil, err
	}

	secret, err := req.Server.Auth.NewSecret(*who.Username, "password", in.Password)
	if err != nil {
		return nil, err
	}

	err = req.DB.Update(req.Actor, func(tx *store.Tx) error {
		return req.IfFresh(tx, func() error {
			if err := store.CheckPasswordOn(tx, who.Account); err != nil {
				return err
			}
			return store.SetHash(tx, who.Account, secret.Hash, true, 0)
		})
	})
	if err == nil {
		err = req.Server.Auth.ForgetInitial(who.Account)
	}

	req.Note("password_changed", *who.Username, err)
	return &resetOut{secret.Generated}, err
}

// removeFactor lets a user who has lost the second factor sign in with the password alone.
func (r *Realm[T, Out, P]) removeFactor(tx *store.Tx, req *web.Request,
	in *web.ByID) (web.Nothing, error) {
	who, err := r.account(in.ID).Seen(tx)
	if err != nil {
		return web.Nothing{}, err
	}
	had, err := store.RemoveFactors(tx, who.Account)
	if err == nil && !had {
		err = errs.New(errs.NotFound, "%s has no second factor", *who.Username)
	}
	req.Note("factor_removed", *who.Username, err)
	return web.Nothing{}, err
}
