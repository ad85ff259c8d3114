package account

import (
	"net/url"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// ViewRoutes are the saved views of the console's lists: those of the caller, and those that are
// shared with everybody who may read the list.
func ViewRoutes() []web.Route {
	return []web.Route{
		web.List("/admin/view", web.SignedIn, "List saved views", &views, web.Options{
			Keys: web.ByNoKey,
			Note: "Your own views, and the shared views of the lists that you may read. A view has the " +
				"parameters of a list and no records: the list decides what you see.",
		}),
		web.Get("/admin/view/:id", web.SignedIn, "Get a saved view", &views,
			web.Options{Keys: web.ByNoKey}),
		web.Write("POST", "/admin/view", web.SignedIn, "Save a view", saveView, web.Options{
			Keys: web.ByNoKey,
			Note: "Only you see it until it is shared. 409 if you have 50 already.",
		}),
		web.Write("PUT", "/admin/view/:id", web.SignedIn, "Change a saved view", changeView,
			web.Options{
				Keys:   web.ByNoKey,
				Record: web.RecordOf(store.Views),
				Note:   "A shared view needs the permission " + store.ViewSharing + ".",
			}),
		web.Write("DELETE", "/admin/view/:id", web.SignedIn, "Delete a saved view", deleteView,
			web.Options{
				Keys:   web.ByNoKey,
				Record: web.RecordOf(store.Views),
				Note:   "A shared view that is not yours needs the permission " + store.ViewSharing + ".",
			}),
		web.DeleteSeveral("/admin/view", web.SignedIn, "Delete saved views", deleteView,
			web.Options{Keys: web.ByNoKey}),
		web.Write("PUT", "/admin/view/:id/share", store.ViewSharing, "Share a view", shareView,
			web.Options{
				Keys:   web.ByNoKey,
				Record: web.RecordOf(store.Views),
				Note: "Shows it to everybody who may read the list, or ends that. 409 if the list has 50 " +
					"shared views already. A shared view remains when its user is deleted.",
			}),
		web.Write("POST", "/admin/view/:id/default", web.SignedIn, "Make a view your default",
			setDefaultView, web.Options{
				Keys: web.ByNoKey,
				Note: "The list opens with it for you. Each list has one default at most, and another " +
					"one replaces it.",
			}),
	}
}

// View is a saved view in responses.
type View struct {
	store.Ident
	List     string     `json:"list" doc:"Path of the list"`
	Name     string     `json:"name"`
	UserID   store.ID   `json:"user_id" doc:"ID of the user who saved it"`
	Username string     `json:"username" doc:"Username of the user who saved it; empty if the user was deleted"`
	Shared   store.Flag `json:"shared" doc:"1 if everybody who may read the list sees it, else 0"`
	Default  store.Flag `json:"default" doc:"1 if the list opens with it for you, else 0"`
	Writable store.Flag `json:"writable" doc:"1 if you may change it, else 0"`
	Query    string     `json:"query" doc:"Parameters of the list, as in a URL"`
	Columns  []string   `json:"columns" doc:"Keys of the console's columns, in the chosen order; empty for the usual one"`
	Shown    []string   `json:"shown" doc:"Keys of the columns that it shows although they are usually hidden"`
	Hidden   []string   `json:"hidden" doc:"Keys of the columns that it hides"`
	Compact  store.Flag `json:"compact" doc:"1 for low rows, else 0"`
	PageSize int64      `json:"page_size" doc:"Records per page; 0 for the size that a person has chosen"`
	store.Versioned
}

// ViewOf returns a view as the caller sees it.
func ViewOf(tx *store.Tx, req *web.Request, v *store.View) (*View, error) {
	own := v.UserID == req.Actor.ID
	chosen, err := store.ViewDefaultOf(tx, req.Actor.ID, v.List)
	if err != nil {
		return nil, err
	}
	u, err := store.Users.Get(tx, v.UserID)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, err
	}

	out := &View{
		Ident:     v.Ident,
		List:      v.List,
		Name:      v.Name,
		UserID:    v.UserID,
		Shared:    v.Shared,
		Default:   store.Flag(chosen == v.ID),
		Writable:  store.Flag(own && !bool(v.Shared) || bool(v.Shared) && req.Actor.HasPermission(tx, store.ViewSharing)),
		Query:     v.Query,
		Columns:   web.OrEmpty(v.Columns),
		Shown:     web.OrEmpty(v.Shown),
		Hidden:    web.OrEmpty(v.Hidden),
		Compact:   v.Compact,
		PageSize:  v.PageSize,
		Versioned: v.Versioned,
	}
	if u != nil {
		out.Username = u.Username
	}
	return out, nil
}

var views = web.Resource[store.View, *View]{
	Collection: store.Views,
	Order:      "id, ascending",
	Output:     ViewOf,
	Columns: []web.Column[store.View]{
		{Name: "id", Uses: web.Sorted},
		{Name: "list", Uses: web.Param, Texts: web.AnyText(store.ViewByList)},
	},
	Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
		return store.ViewsFor(req.Actor.ID, readableLists(tx, req)), true
	},
}

// isViewed reports whether a route is a list of which views are saved.
func isViewed(rt *web.Route) bool {
	return rt.List != nil && rt.Method == "GET" && (!rt.Open() || rt.Access == web.SignedIn) &&
		!strings.Contains(rt.Path, ":")
}

// readableLists returns the paths of the lists that the caller may read.
func readableLists(tx *store.Tx, req *web.Request) (paths []string) {
	for i := range req.Server.Routes {
		rt := &req.Server.Routes[i]
		if isViewed(rt) && (rt.Access == web.SignedIn || req.Actor.HasPermission(tx, rt.Access)) {
			paths = append(paths, rt.Path)
		}
	}
	return paths
}

type viewIn struct {
	Name     *string     `json:"name" check:"create,min=1,max=64,text"`
	Query    *string     `json:"query" check:"max=4000" doc:"Parameters of the list, as in a URL; those for the page and its size are left out, see page_size"`
	Columns  *[]string   `json:"columns" check:"max=60" doc:"Keys of the console's columns, in the chosen order; empty for the usual one"`
	Shown    *[]string   `json:"shown" check:"max=60" doc:"Keys of the columns to show although they are usually hidden"`
	Hidden   *[]string   `json:"hidden" check:"max=60" doc:"Keys of the columns to hide"`
	Compact  *store.Flag `json:"compact" doc:"1 for low rows, else 0"`
	PageSize *int64      `json:"page_size" check:"min=0,max=100" doc:"Records per page; 0 for the size that a person has chosen"`
}

type newViewIn struct {
	List *string `json:"list" check:"create,max=100" doc:"Path of the list, such as /admin/list"`
	viewIn
}

type viewChange struct {
	web.ByID
	viewIn
}

// maxColumnKey is the maximum length of the key of a column.
const maxColumnKey = 100

// normalize adds the faults of an input, and removes the page from the query: it is no part of
// a view.
func (in *viewIn) normalize() error {
	faults := errs.Faults{}
	for name, keys := range map[string]*[]string{"columns": in.Columns, "shown": in.Shown, "hidden": in.Hidden} {
		if keys != nil && slices.ContainsFunc(*keys, func(key string) bool { return len(key) > maxColumnKey }) {
			faults.Add(name, "must have at most %d characters each", maxColumnKey)
		}
	}
	if in.Query != nil {
		values, err := url.ParseQuery(strings.TrimPrefix(*in.Query, "?"))
		if err != nil || strings.ContainsFunc(*in.Query, func(c rune) bool { return c <= ' ' || c > '~' }) {
			faults.Add("query", "must be parameters as in a URL")
		}
		values.Del("page")
		values.Del("pageSize")
		*in.Query = values.Encode()
	}
	return faults.Err(errs.Invalid)
}

var assignView = web.Assigning[viewIn, store.View]()

func saveView(tx *store.Tx, req *web.Request, in *newViewIn) (*View, error) {
	if !slices.Contains(readableLists(tx, req), *in.List) {
		return nil, errs.Field(errs.Invalid, "list", "must be the path of a list that you may read")
	}
	if err := in.normalize(); err != nil {
		return nil, err
	}
	v := &store.View{List: *in.List, UserID: req.Actor.ID, Columns: []string{}, Shown: []string{},
		Hidden: []string{}}
	assignView(&in.viewIn, v)
	if err := store.Views.Create(tx, v); err != nil {
		return nil, err
	}
	return ViewOf(tx, req, v)
}

func changeView(tx *store.Tx, req *web.Request, in *viewChange) (*View, error) {
	_, err := views.Get(tx, req, in.ID)
	if err == nil {
		err = in.normalize()
	}
	if err != nil {
		return nil, err
	}
	return web.Edit(tx, req, &views, in.ID, func(v *store.View) { assignView(&in.viewIn, v) })
}

func deleteView(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	if _, err := views.Get(tx, req, in.ID); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.Views.Delete(tx, in.ID)
}

type viewSharing struct {
	web.ByID
	Shared *store.Flag `json:"shared" check:"required" doc:"1 to share it with everybody who may read the list, 0 to end that"`
}

func shareView(tx *store.Tx, req *web.Request, in *viewSharing) (*View, error) {
	if _, err := views.Get(tx, req, in.ID); err != nil {
		return nil, err
	}
	shared, err := store.Views.Update(tx, in.ID, func(v *store.View) error {
		v.Shared = *in.Shared
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ViewOf(tx, req, shared)
}

type defaultView struct {
	web.ByID
	Default *store.Flag `json:"default" check:"required" doc:"1 to open the list with it, 0 to open the list without a view"`
}

func setDefaultView(tx *store.Tx, req *web.Request, in *defaultView) (*View, error) {
	v, err := views.Get(tx, req, in.ID)
	if err != nil {
		return nil, err
	}
	if chosen := bool(*in.Default); chosen || bool(v.Default) {
		view := v.ID
		if !chosen {
			view = 0
		}
		if err := store.SetViewDefault(tx, req.Actor.ID, v.List, view); err != nil {
			return nil, err
		}
	}
	v.Default = *in.Default
	return v, nil
}
