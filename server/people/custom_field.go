package people

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"field_type":   store.CustomFieldTypes(),
		"field_access": store.FieldAccesses,
		"field_realm":  {store.AdminRealm, store.AppRealm},
	})
}

func CustomFieldRoutes() []web.Route {
	return []web.Route{
		web.CachedList("/system/field", "system.field.query", "List custom fields", &customFields),
		web.Get("/system/field/:id", "system.field.query", "Get a custom field",
			&customFieldRecords),
		web.Create[customFieldCreation]("/system/field", "system.field.create",
			"Create a custom field", &customFieldRecords),
		web.Change[customFieldIn]("/system/field/:id", "system.field.update",
			"Change a custom field", &customFieldRecords),
		web.Write("DELETE", "/system/field/:id", "system.field.delete", "Delete a custom field",
			deleteCustomField, web.Options{
				Record: web.RecordOf(store.CustomFields),
				Note: "The field can no longer be used, and its values are removed from the records in the " +
					"background. A new field of the same key does not get them.",
			}),
		web.DeleteSeveral("/system/field", "system.field.delete", "Delete custom fields",
			deleteCustomField, web.Options{
				Note: "The fields can no longer be used, and their values are removed from the records in " +
					"the background.",
			}),
		web.Write("POST", "/system/field/:id/apply", "system.field.update",
			"Check the records of a custom field again", applyCustomField, web.Options{
				Record: web.RecordOf(store.CustomFields),
				Note: "Compares all records with the declaration once more, for example after duplicate " +
					"values of a unique field were changed.",
			}),
		web.Read("/system/field-form", web.SignedIn, "List the custom fields that you can use",
			readFieldForms, web.Options{
				AllowedForCommands: true,

				Note: "Returns the fields that you can read, for forms and lists: those of users, of app " +
					"users, and of your own account. What you can't read is left out.",
			}),
		web.Read("/api/field", web.Public, "List the custom fields of app users", appFieldForm,
			web.Options{
				Note: "Returns the fields that app users can read of their own record, for the form of a " +
					"registration.",
			}),
	}
}

var customFieldRecords = web.Resource[store.CustomField, *store.CustomField]{
	Collection: store.CustomFields, Output: web.AsItIs[store.CustomField],
	Always: func() kv.Condition {
		return store.CustomFieldDeleted.AnyOf("0")
	},
	Blank: store.CustomField{
		SelfAccess:    store.FieldHidden,
		BackendAccess: store.FieldWritable,
		ProgramAccess: store.FieldReadable,
	},
}

var customFields = web.MemoryList[store.CustomField]{
	Rows: func(tx *store.Tx) []store.Row[store.CustomField] {
		return store.CustomFieldCache.Get(tx).Rows
	},
	Keywords: []string{"key", "title", "describe"},
	Order:    "sort, then id, ascending",
	Columns: []web.MemoryColumn[store.CustomField]{
		{Name: "id", Number: func(f *store.CustomField) int64 {
			return int64(f.ID)
		}, Uses: web.Sorted},
		{Name: "realm", Text: func(f *store.CustomField) string {
			return f.Realm
		}, Uses: web.Param | web.Filtered | web.Sorted},
		{Name: "key", Text: func(f *store.CustomField) string { return f.Key }, Uses: web.Sorted},
		{Name: "title", Text: func(f *store.CustomField) string {
			return f.Title
		}, Uses: web.Sorted},
		{Name: "type", Text: func(f *store.CustomField) string {
			return f.Type
		}, Uses: web.Filtered | web.Sorted},
		{Name: "sort", Number: func(f *store.CustomField) int64 {
			return f.Sort
		}, Uses: web.Sorted},
	},
}

type customFieldIn struct {
	Title         *string         `json:"title" check:"create,min=1,max=100"`
	Describe      *string         `json:"describe" check:"max=1000,text" doc:"Help text of the input"`
	Options       *[]store.Option `json:"options" check:"max=200" doc:"Options; required for the types radio, select and checkbox. Values that are no option any more remain until they are changed"`
	Props         *[]store.Prop   `json:"props" check:"max=50" doc:"Properties: min, max, step and maxlength are enforced for values that change; others are hints for the console"`
	Required      *store.Flag     `json:"required" doc:"1: a new user needs a value, from everybody who can set it, and it can't be removed; 0 by default"`
	SelfAccess    *string         `json:"self_access" check:"enum=field_access" doc:"Access of users to their own value; none by default"`
	BackendAccess *string         `json:"backend_access" check:"enum=field_access" doc:"Access of users of the administration who may read or change the user; write by default"`
	ProgramAccess *string         `json:"program_access" check:"enum=field_access" doc:"Access of API keys that may read or change the user, and whether introspection, checks and flags have the value; read by default"`
	Searchable    *store.Flag     `json:"searchable" doc:"1 if keywordSearch finds the value; for the types input, textarea and number"`
	Filterable    *store.Flag     `json:"filterable" doc:"1 if lists can be filtered by the value, with fields.KEY; not for the types textarea, image and json"`
	Unique        *store.Flag     `json:"unique" doc:"1 if two users can't have the same value; texts that differ only in case, width, spaces or invisible characters are the same; for the types input and number"`
	Listed        *store.Flag     `json:"listed" doc:"1 if lists in the console have a column"`
	Sort          *int64          `json:"sort" check:"min=-1000000,max=1000000"`
}

type customFieldCreation struct {
	Realm *string `json:"realm" check:"create,enum=field_realm" doc:"Realm: admin for fields of users, app for fields of app users; it can't be changed"`
	Key   *string `json:"key" check:"create,max=32" doc:"Name of the field in fields, matching [a-z][a-z0-9_]*, unique in the realm; it can't be changed"`
	Type  *string `json:"type" check:"create,enum=field_type" doc:"Type of the values, as of settings; it can't be changed"`
	customFieldIn
}

func deleteCustomField(tx *store.Tx, _ *web.Request, in *web.ByID) (web.Nothing, error) {
	return web.Nothing{}, store.DeleteCustomField(tx, in.ID)
}

func applyCustomField(tx *store.Tx, _ *web.Request, in *web.ByID) (*store.CustomField, error) {
	return store.ApplyAgain(tx, in.ID)
}

// fieldForm is a custom field as a form needs it.
type fieldForm struct {
	Key        string         `json:"key"`
	Title      string         `json:"title"`
	Describe   string         `json:"describe"`
	Type       string         `json:"type" enum:"field_type"`
	Options    []store.Option `json:"options"`
	Props      []store.Prop   `json:"props"`
	Required   store.Flag     `json:"required"`
	Writable   store.Flag     `json:"writable" doc:"1 if you can change the value, 0 if you can only read it"`
	Filterable store.Flag     `json:"filterable" doc:"1 if the list can be filtered by the value now, else 0"`
	Listed     store.Flag     `json:"listed" doc:"1 if lists have a column, else 0"`
}

type customFieldForms struct {
	Users    []fieldForm `json:"users" doc:"Fields of users"`
	AppUsers []fieldForm `json:"app_users" doc:"Fields of app users"`
	Own      []fieldForm `json:"own" doc:"Fields of your own account"`
}

func formFields(tx *store.Tx, realm string, who store.FieldAudience) []fieldForm {
	form := []fieldForm{}
	for _, f := range store.CustomFieldsOf(tx, realm, who) {
		form = append(form, fieldForm{
			f.Key, f.Title, f.Describe, f.Type, f.Options, f.Props, f.Required,
			store.Flag(f.WritableBy(who)), f.Filterable && store.Flag(f.Ready()), f.Listed,
		})
	}
	return form
}

func readFieldForms(tx *store.Tx, req *web.Request, _ *web.None) (*customFieldForms, error) {
	who := web.AudienceOf(req.Actor)
	out := &customFieldForms{
		Users:    formFields(tx, store.AdminRealm, who),
		AppUsers: formFields(tx, store.AppRealm, who),
		Own:      []fieldForm{},
	}
	if req.Actor.Key == nil {
		out.Own = formFields(tx, store.AdminRealm, store.FieldSelf)
	}
	return out, nil
}

// appFieldForm returns the fields that app users can read or fill in, for the forms of registration
// and profile.
func appFieldForm(tx *store.Tx, _ *web.Request, _ *web.None) (*appFields, error) {
	return &appFields{formFields(tx, store.AppRealm, store.FieldSelf)}, nil
}

type appFields struct {
	Data []fieldForm `json:"data" doc:"Fields that app users can read, in the order of a form"`
}

// FieldKeeper makes records follow the declarations of custom fields after these have changed.
type FieldKeeper struct {
	s       *web.Server
	changed chan struct{} // contains a token if declarations have changed
}

func NewFieldKeeper(s *web.Server) *FieldKeeper {
	k := &FieldKeeper{s, make(chan struct{}, 1)}
	s.DB.OnCommit(func(c kv.Changes) {
		if c.Of(store.CustomFields) == nil {
			return
		}
		select {
		case k.changed <- struct{}{}:
		default:
		}
	})
	return k
}

// fieldRetry is how long the keeper waits after an error, such as a full disk.
const fieldRetry = time.Minute

// Run applies changes of declarations until ctx ends. An unfinished change begins again at the next
// start.
func (k *FieldKeeper) Run(ctx context.Context) {
	for ctx.Err() == nil {
		var retry <-chan time.Time
		more, err := k.Apply(ctx)
		if err != nil && ctx.Err() == nil {
			k.s.Failures.Report(k.s.Log, "custom fields", err, func(line *zerolog.Event) {
				line.Msg("records can't be changed to follow their custom fields")
			})
			retry = time.After(fieldRetry)
		}
		if more && err == nil {
			continue
		}

		select {
		case <-ctx.Done():
		case <-retry:
		case <-k.changed:
		}
	}
}

// Apply makes the records of one realm follow the declarations. It reports whether there was
// something to do.
func (k *FieldKeeper) Apply(ctx context.Context) (did bool, err error) {
	db := k.s.DB.WithRecorder(nil).For("custom fields", nil)
	var work *store.Applying
	err = db.View(store.System, func(tx *store.Tx) error {
		work, err = store.UnappliedFields(tx)
		return err
	})
	if err != nil || work == nil {
		return false, err
	}

	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if more, err = work.Step(db); err != nil {
			return false, err
		}
	}

	return true, work.Finish(db)
}
