// Package settings has settings and dictionaries, the configuration that programs read of them,
// and feature flags.
package settings

import (
	"maps"
	"slices"
	"time"

	"reeve/server/redact"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/names"
)

func init() {
	web.Enums(map[string][]string{
		"setting_type": {"checkbox", "color", "date", "flag", "image", "input", "json", "number",
			"radio", "secret", "select", "switch", "textarea", "time"},
	})
}

func Routes() []web.Route {
	return []web.Route{
		web.CachedList("/system/setting", "system.setting.query", "List settings", &settings),
		web.Read("/system/setting/:id", "system.setting.query", "Get a setting", getSetting),
		web.Write("POST", "/system/setting", "system.setting.create", "Create a setting",
			createSetting, web.Options{Hidden: redact.Fields{Value: true}}),
		web.Write("PUT", "/system/setting/:id", "system.setting.update", "Change a setting",
			changeSetting, web.Options{
				Hidden: redact.Fields{Value: true},
				Record: web.RecordOf(store.Settings),
			}),
		web.Write("DELETE", "/system/setting/:id", "system.setting.delete", "Delete a setting",
			deleteSetting, web.Options{
				Record: web.RecordOf(store.Settings),
				Note:   "Built-in settings can't be deleted.",
			}),
		web.DeleteSeveral("/system/setting", "system.setting.delete", "Delete settings",
			deleteSetting),
		web.Write("PUT", "/system/setting", "system.setting.save", "Save setting values",
			saveSettings, web.Options{
				Hidden: redact.Fields{Values: true},
				Record: web.Stated("updated_at"),
				Note: "All or nothing: if one value is invalid, none is saved, and errors lists every " +
					"invalid one.",
			}),
		web.Write("POST", "/system/setting/refresh", "system.setting.refresh",
			"Rebuild the settings cache", refreshSettings, web.Options{
				Note: "Reads all settings from the database again, and returns their number and the time " +
					"it took. Other nodes do the same before the response.",
			}),
		web.Action("POST", "/system/setting/flag-preview", "system.setting.query",
			"Preview a flag", previewFlag, web.Options{
				ReadOnly: true,
				Hidden:   redact.Fields{Value: true},
				Note: "Evaluates a value that need not be saved, for at most 10,000 users in your data " +
					"scope as they would get it in a session. Without the permission admin.list.query, " +
					"for yourself alone.",
			}),
		web.Read("/system/setting-value", "system.setting.query", "Get setting values",
			settingValues, web.Options{
				ETag: true,
				Note: "Returns values by group and key, decoded by type; secrets are masked.",
			}),
		web.Read("/system/setting-builtin", "system.setting.query", "List built-in settings",
			builtinSettings, web.Options{
				Note: "Returns the keys, by group, of settings that can't be deleted, renamed, moved or " +
					"retyped.",
			}),
	}
}

var settings = web.MemoryList[store.Setting]{
	Rows: func(tx *store.Tx) []store.Row[store.Setting] {
		return store.SettingCache.Get(tx).Settings
	},
	Keywords: []string{"key", "title", "describe"},
	Order:    "sort, then id, ascending",
	Columns: []web.MemoryColumn[store.Setting]{
		{Name: "id", Number: func(s *store.Setting) int64 { return int64(s.ID) }, Uses: web.Sorted},
		{Name: "group_id", Number: func(s *store.Setting) int64 {
			return int64(s.GroupID)
		}, Uses: web.Param | web.Filtered | web.Sorted,
			Named: web.ByName("group", "setting_group")},
		{Name: "key", Text: func(s *store.Setting) string { return s.Key }, Uses: web.Sorted},
		{Name: "title", Text: func(s *store.Setting) string { return s.Title }, Uses: web.Sorted},
		{Name: "type", Text: func(s *store.Setting) string {
			return s.Type
		}, Uses: web.Filtered | web.Sorted},
		{Name: "sort", Number: func(s *store.Setting) int64 { return s.Sort }, Uses: web.Sorted},
		{Name: "created_at", Number: func(s *store.Setting) int64 {
			return int64(s.CreatedAt)
		}, Uses: web.Sorted | web.Ranged},
		{Name: "updated_at", Number: func(s *store.Setting) int64 {
			return int64(s.UpdatedAt)
		}, Uses: web.Sorted | web.Ranged},
	},
}

func getSetting(tx *store.Tx, _ *web.Request, in *web.ByID) (*store.Setting, error) {
	return store.Settings.Get(tx, in.ID)
}

// settingFields are the fields of a setting besides its value.
type settingFields struct {
	Key      *string         `json:"key" check:"create,max=64" doc:"Key matching [a-z][a-z0-9_]*, unique in its group"`
	Title    *string         `json:"title" check:"create,min=1,max=100"`
	Describe *string         `json:"describe" check:"max=1000,text"`
	Type     *string         `json:"type" check:"create,enum=setting_type"`
	Options  *[]store.Option `json:"options" check:"max=200" doc:"Options; required for the types radio, select and checkbox"`
	Props    *[]store.Prop   `json:"props" check:"max=50" doc:"Properties: min, max, step and maxlength are enforced; others are hints for the console"`
	GroupID  *store.ID       `json:"group_id" names:"group,setting_group" check:"create" doc:"ID of the setting group"`
	Sort     *int64          `json:"sort" check:"min=-1000000,max=1000000"`
}

type settingIn struct {
	settingFields
	Values *any `json:"values" doc:"Value: the text that is stored, or a JSON value of the type; it must be valid for type, options and props. Responses have the text, and mask that of a secret as ******; sending ****** leaves it unchanged. Rules of a flag have IDs or names of roles, departments and users, and responses the IDs"`
}

var assignSettingFields = web.Assigning[settingFields, store.Setting]()

// assign copies what was sent to a setting, whose type says which values are possible.
func (in *settingIn) assign(tx *store.Tx, s *store.Setting) error {
	assignSettingFields(&in.settingFields, s)
	if in.Values == nil {
		return nil
	}
	return setValue(tx, s, *in.Values)
}

// setValue sets the value of a setting. The rules of a flag can name records, which are stored as IDs.
func setValue(tx *store.Tx, s *store.Setting, value any) error {
	text, err := store.SettingText(s, value)
	if err != nil {
		return errs.Field(errs.Invalid, "values", "%s", err)
	}
	if s.Type == "flag" {
		if text, err = names.FlagText(tx, text); err != nil {
			return err
		}
	}
	s.Values = text
	return nil
}

func createSetting(tx *store.Tx, _ *web.Request, in *settingIn) (*store.Setting, error) {
	s := &store.Setting{}
	if err := in.assign(tx, s); err != nil {
		return nil, err
	}
	return s, store.CreateSetting(tx, s)
}

type settingChange struct {
	web.ByID
	settingIn
}

func changeSetting(tx *store.Tx, req *web.Request, in *settingChange) (*store.Setting, error) {
	return saveSetting(req, tx, in.ID, func(s *store.Setting) error {
		return in.assign(tx, s)
	})
}

// saveSetting changes a setting. A change of a security setting is logged once it is
// stored.
func saveSetting(req *web.Request, tx *store.Tx, id store.ID,
	edit func(*store.Setting) error) (*store.Setting, error) {
	old := ""
	saved, err := store.SaveSetting(tx, id, func(s *store.Setting) error {
		old = s.Values
		return edit(s)
	})
	if err != nil || saved.Values == old {
		return saved, err
	}

	req.Committed = append(req.Committed, req.Server.FollowSettings)
	name, err := store.SecuritySetting(tx, saved)
	if name != "" {
		now := saved.Values
		req.Committed = append(req.Committed, func() {
			req.Server.Log.Warn().Str("setting", name).Str("old", old).Str("new", now).Str("user",
				req.Actor.Label()).Str("request", req.ID).Msg("a security setting was changed")
		})
	}

	return saved, err
}

func deleteSetting(tx *store.Tx, _ *web.Request, in *web.ByID) (web.Nothing, error) {
	return web.Nothing{}, store.Settings.Delete(tx, in.ID)
}

type valuesIn struct {
	Values map[string]any `json:"values" check:"required" doc:"Values by group.key: a text, or a JSON value of the setting's type. Rules of a flag have IDs or names of roles, departments and users. A security setting also requires the permission system.security.save"`
}

// saveSettings changes many values, all or none. It checks every value, so that the error
// names all that are invalid.
func saveSettings(tx *store.Tx, req *web.Request, in *valuesIn) (web.Nothing, error) {
	ids := store.SettingCache.Get(tx)
	if err := freshSettings(req, tx, ids, in); err != nil {
		return web.Nothing{}, err
	}

	faults := errs.Faults{}
	for _, name := range slices.Sorted(maps.Keys(in.Values)) {
		id := ids.ID(name)
		if id == 0 {
			faults.Add("values."+name, "unknown setting")
			continue
		}

		_, err := saveSetting(req, tx, id, func(s *store.Setting) error {
			return setValue(tx, s, in.Values[name])
		})
		if err != nil {
			e := errs.Of(err)
			if e.Kind != errs.Invalid {
				return web.Nothing{}, err
			}
			faults.Add("values."+name, "%s", e)
		}
	}

	return web.Nothing{}, faults.Err(errs.Invalid)
}

// freshSettings checks the condition of saveSettings: If-Match has the ETag of GET
// /system/setting-value or, like updated_at, is about the only setting that is saved.
func freshSettings(req *web.Request, tx *store.Tx, set *store.SettingSet, in *valuesIn) error {
	if !req.Read.Stated() {
		return nil
	}

	values, err := set.Values()
	if err != nil {
		return err
	}
	if req.Read.UpdatedAt == nil && web.Matches(req.Read.Tags, values.ETag) {
		return nil
	}
	if len(in.Values) == 1 {
		for name := range in.Values {
			if id := set.ID(name); id != 0 {
				return freshSetting(req, tx, id)
			}
			return nil // an unknown setting
		}
	}
	if req.Read.UpdatedAt != nil {
		return errs.Field(errs.Malformed, "updated_at",
			"can be checked only if one setting is saved; send If-Match with the ETag of GET /system/setting-value")
	}

	return errs.Field(errs.Conflict, "If-Match",
		"settings were changed; reload them and try again").Coded("stale")
}

func freshSetting(req *web.Request, tx *store.Tx, id store.ID) error {
	s, err := store.Settings.Get(tx, id)
	if err != nil {
		return err
	}
	return req.Fresh(s)
}

type refreshOut struct {
	Count      int     `json:"count" doc:"Number of settings in the cache"`
	Generation uint64  `json:"generation" doc:"Number of rebuilds of the cache since start"`
	TookMS     float64 `json:"took_ms"`

	Nodes   []string `json:"nodes" doc:"Names of the nodes that have rebuilt it; empty with one server"`
	Waiting []string `json:"waiting" doc:"Names of the nodes that have not, also those that have lost contact in the last hour: they do when they apply this commit, or start"`
}

// refreshSettings rebuilds the cache inside a write transaction, so that the rebuild cannot
// overwrite a concurrent change.
func refreshSettings(tx *store.Tx, req *web.Request, _ *web.None) (*refreshOut, error) {
	start := time.Now()
	cache, err := store.SettingCache.Rebuild(tx)
	if err != nil {
		return nil, err
	}
	took := float64(time.Since(start).Microseconds()) / 1000
	out := &refreshOut{len(cache.Settings), store.SettingCache.Generation(tx), took, []string{}, []string{}}
	req.Committed = append(req.Committed, func() { out.Nodes, out.Waiting = req.Applied() })
	return out, nil
}

func settingValues(tx *store.Tx, _ *web.Request,
	_ *web.None) (web.Encoded[map[string]map[string]any], error) {
	values, err := store.SettingCache.Get(tx).Values()
	if err != nil {
		return web.Encoded[map[string]map[string]any]{}, err
	}
	return web.Encoded[map[string]map[string]any]{JSON: values.Effective, ETag: values.ETag}, nil
}

// builtinSettings returns the keys, by group, of settings that cannot be deleted, renamed,
// moved or retyped, so that a client knows without trying.
func builtinSettings(_ *store.Tx, _ *web.Request, _ *web.None) (map[string][]string, error) {
	keys := map[string][]string{}
	for _, b := range store.Builtins {
		keys[b.Group] = append(keys[b.Group], b.Key)
	}
	return keys, nil
}
