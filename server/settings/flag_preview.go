package settings

import (
	"maps"
	"slices"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/feature"
	"reeve/store/kv"
	"reeve/store/names"
)

const (
	previewUsers = 10_000 // users that a preview evaluates the flag for
	PreviewNames = 20     // users that it names for each variant
)

type flagPreviewIn struct {
	Key    string      `json:"key" check:"required,key,max=129" doc:"Key of the flag, group.key, by which percentages are drawn"`
	Values string      `json:"values" check:"raw,max=65536" doc:"Value of the flag as JSON, which need not be saved; its rules have IDs or names"`
	UserID store.ID    `json:"user_id" names:"user,user" doc:"ID of a user to ask about; 0 for all in your data scope"`
	At     *store.Time `json:"at" doc:"Time to ask about; now by default"`
}

type FlagPreviewOut struct {
	Users    int              `json:"users" doc:"Number of users that the flag was evaluated for"`
	Total    int              `json:"total" doc:"Number of enabled users in your data scope; if it is larger than users, the counts are those of a sample"`
	Variants []previewVariant `json:"variants" doc:"What the users get, by variant"`
}

type previewVariant struct {
	Variant string        `json:"variant"`
	Count   int           `json:"count" doc:"Number of users that get it"`
	Users   []previewUser `json:"first" doc:"Up to 20 of these users, by ID"`
}

type previewUser struct {
	ID       store.ID `json:"id"`
	Username string   `json:"username"`
	Nickname string   `json:"nickname"`
	Reason   string   `json:"reason" doc:"Reason: STATIC, TARGETING_MATCH, SPLIT, DEFAULT or DISABLED"`
}

// previewFlag evaluates a flag for users as they would get it with a session. Without the
// permission to read users, this is the caller alone, since a response reveals a user's roles and
// department.
func previewFlag(req *web.Request, in *flagPreviewIn) (out *FlagPreviewOut, err error) {
	text := in.Values
	if text == "" {
		text = feature.Off
	}

	return out, req.DB.View(req.Actor, func(tx *store.Tx) error {
		text, err := names.FlagText(tx, text)
		if err != nil {
			return err
		}
		f, err := feature.Parse(text)
		if err != nil {
			return errs.Field(errs.Invalid, "values", "%s", err)
		}

		at := tx.Now()
		web.Set(&at, in.At)
		people, total, err := previewed(req, tx, in.UserID)
		if err != nil {
			return err
		}
		if out, err = preview(tx, f, in.Key, people, timeOf(at)); err == nil {
			out.Total = total
		}
		return err
	})
}

// previewed returns the enabled users whom a preview is about, and the number of all of them.
func previewed(req *web.Request, tx *store.Tx, id store.ID) ([]*store.User, int, error) {
	q := kv.Query[store.User]{
		Where: []kv.Condition{store.UserByStatus.AnyOf("1")},
		Limit: previewUsers,
	}
	if in, narrow := req.Actor.Scope(tx).Users(); narrow {
		q.Where = append(q.Where, in)
	}
	if !req.Actor.HasPermission(tx, "admin.list.query") {
		if key := req.Actor.Key; id != 0 && id != req.Actor.ID || key != nil && !key.Personal { // which is not its owner
			return nil, 0, errs.New(errs.Denied, "permission %s is required", "admin.list.query")
		}
		id = req.Actor.ID
	}
	if id == 0 {
		people, _, total, err := store.Users.FindIntact(tx, q)
		return people, total, err
	}

	u, err := store.Users.Get(tx, id)
	if errs.Is(err, errs.NotFound) ||
		err == nil && (!bool(u.Status) || !req.Actor.Scope(tx).HasUser(u)) {
		return nil, 0, errs.Field(errs.Invalid, "user_id", "%s %d not found",
			errs.Noun(store.Users.Noun()), id)
	}

	return []*store.User{u}, 1, err
}

func preview(tx *store.Tx, f *feature.Flag, key string, people []*store.User,
	at time.Time) (*FlagPreviewOut, error) {
	all := map[string]*previewVariant{}
	for name := range f.Variants {
		all[name] = &previewVariant{Variant: name, Users: []previewUser{}}
	}

	for _, u := range people {
		a := &store.Actor{ID: u.ID, Username: u.Username, RoleIDs: u.RoleIDs, DeptID: u.DeptID}
		subject, err := store.FlagSubject(tx, a)
		if err != nil {
			return nil, err
		}
		result, err := f.Evaluate(key, subject, at)
		if err != nil {
			return nil, err // never: every user has a targeting key
		}
		v := all[result.Variant]
		if v.Count++; v.Count <= PreviewNames {
			v.Users = append(v.Users, previewUser{u.ID, u.Username, u.Nickname, result.Reason})
		}
	}

	out := &FlagPreviewOut{Users: len(people), Variants: []previewVariant{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out.Variants = append(out.Variants, *all[name])
	}

	return out, nil
}
