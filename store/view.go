package store

import (
	"reeve/store/errs"
	"reeve/store/kv"
)

// View is a saved view of a list of the console: search, filters, order and columns. It has no
// rows and gives no permission: the list that it is applied to decides what its reader sees.
type View struct {
	Ident
	List     string   `json:"list"` // path of the list, such as /admin/list
	Name     string   `json:"name" log:"personal" visible:"name"`
	UserID   ID       `json:"user_id"` // user who has saved it; of a shared view, the user may have been deleted
	Shared   Flag     `json:"shared"`
	Query    string   `json:"query" log:"personal"` // parameters of the list, without page and size
	Columns  []string `json:"columns"`              // keys of columns in the chosen order; empty for the page's own
	Shown    []string `json:"shown"`                // columns that are shown against the page's own choice
	Hidden   []string `json:"hidden"`               // columns that are hidden
	Compact  Flag     `json:"compact"`
	PageSize int64    `json:"page_size"` // 0 for the one that a person has chosen
	Versioned
}

// ViewDefault is the view with which a list opens for a user. It is a record of its own because
// each user chooses it, even among shared views. It may name a view that was deleted, and then does
// nothing.
type ViewDefault struct {
	Ident
	UserID ID     `json:"user_id"`
	List   string `json:"list"`
	ViewID ID     `json:"view_id"`
	kv.Timestamps
}

// MaxViews is the maximum number of private views of a user, and of shared views of a list.
const MaxViews = 50

// ViewSharing is the permission to share views, and to change those that are shared.
const ViewSharing = "admin.view.share"

// Views and their indexes. A private view is deleted with its user; a shared one remains, and
// holders of ViewSharing change it. The change log has them, but they are not undone: those of others are private, and an
// undo of all changes by a user must not fail at them.
var (
	Views      = kv.NewCollection[View]("view")
	ViewByUser = refToUser(Views, func(v *View) ID { return v.UserID }, kv.Dangle)

	_ = kv.NewRef(Views, "shared", Users, func(v *View) ID {
		if v.Shared {
			return 0
		}
		return v.UserID
	}, kv.CascadeFreely, "user_id")
	ViewByReach = kv.NewEach(Views, "reach", (*View).reach, "shared", "user_id", "list")
	ViewByList  = kv.NewEach(Views, "list", func(v *View) string { return v.List })

	ViewDefaults      = kv.NewCollection[ViewDefault]("view_default").Unlogged()
	ViewDefaultByUser = refToUser(ViewDefaults, func(d *ViewDefault) ID {
		return d.UserID
	}, kv.CascadeFreely)
	ViewDefaultByView = kv.NewRef(ViewDefaults, "view_id", Views, func(d *ViewDefault) ID {
		return d.ViewID
	}, kv.Dangle)
	ViewDefaultByList = kv.NewUnique(ViewDefaults, "list", func(d *ViewDefault) string {
		return d.UserID.String() + " " + d.List
	}, "user_id")

	_ = Views.Authorize(authorizeView).Constraint(constrainView)
)

var _ = manage(Access{
	Table: Views, Query: ViewSharing, Create: ViewSharing, Update: ViewSharing, Delete: ViewSharing,
})

func (v *View) reach() string {
	if v.Shared {
		return "list " + v.List
	}
	return "user " + v.UserID.String()
}

// ViewsFor returns the condition of the private views of a user and the shared views of lists.
func ViewsFor(user ID, lists []string) kv.Condition {
	reach := []string{"user " + user.String()}
	for _, list := range lists {
		reach = append(reach, "list "+list)
	}
	return ViewByReach.AnyOf(reach...)
}

// authorizeView lets only its user change a private view. A shared one is changed with ViewSharing;
// its user can delete it and end the sharing without, see constrainView.
func authorizeView(tx *Tx, old *View) error {
	actor := ActorOf(tx)
	own := !actor.App && old.UserID == actor.ID
	switch {
	case actor.system || own || bool(old.Shared) && actor.HasPermission(tx, ViewSharing):
		return nil
	case bool(old.Shared):
		return errViewSharing()
	}
	return Views.NotFound(old.ID)
}

func errViewSharing() error {
	return errs.New(errs.Denied, "permission %s is required", ViewSharing)
}

func constrainView(tx *Tx, old, new *View) error {
	actor := ActorOf(tx)
	if new == nil {
		return nil
	}
	switch {
	case actor.system:
	case bool(new.Shared):
		if !actor.HasPermission(tx, ViewSharing) {
			return errViewSharing()
		}
	case old == nil && (actor.App || new.UserID != actor.ID):
		return errs.New(errs.Denied, "only its user can save a private view")
	case old != nil && bool(old.Shared) && !Users.Exists(tx, new.UserID):
		return errs.Field(errs.Invalid, "shared", "can't end: the user of the view was deleted")
	}
	if old != nil && old.reach() == new.reach() {
		return nil
	}

	all, err := ViewByReach.IDs(tx, new.reach())
	if err == nil && len(all) >= MaxViews {
		err = errs.New(errs.Conflict, "there are already %d views, which is the maximum",
			MaxViews).Coded("too_many_views")
	}
	return err
}

// SetViewDefault makes a view the one with which its list opens for a user; 0 makes it none.
func SetViewDefault(tx *Tx, user ID, list string, view ID) error {
	d, err := ViewDefaultByList.Get(tx, user.String()+" "+list)
	switch {
	case errs.Is(err, errs.NotFound) && view == 0:
		return nil
	case errs.Is(err, errs.NotFound):
		return ViewDefaults.Create(tx, &ViewDefault{UserID: user, List: list, ViewID: view})
	case err != nil:
		return err
	case view == 0:
		return ViewDefaults.Delete(tx, d.ID)
	}
	_, err = ViewDefaults.Update(tx, d.ID, func(d *ViewDefault) error { d.ViewID = view; return nil })
	return err
}

// ViewDefaultOf returns the view with which a list opens for a user; 0 for none.
func ViewDefaultOf(tx *Tx, user ID, list string) (ID, error) {
	d, err := ViewDefaultByList.Get(tx, user.String()+" "+list)
	if err != nil {
		return 0, ignoreMissing(err)
	}
	return d.ViewID, nil
}

// ListsWithView returns the paths of the lists that open with a view for a user.
func ListsWithView(tx *Tx, user ID) ([]string, error) {
	lists := []string{}
	for d, err := range ViewDefaultByUser.All(tx, user) {
		if err != nil {
			return nil, err
		}
		if Views.Exists(tx, d.ViewID) {
			lists = append(lists, d.List)
		}
	}
	return lists, nil
}
