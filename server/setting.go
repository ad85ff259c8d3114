package server

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
)

var settingRoutes = []Route{
	memoryList("/system/setting", "system.setting.query", "List settings", &settings),
	read("/system/setting/:id", "system.setting.query", "Get a setting", getSetting),
	hiding(redact.Fields{Value: true}, write("POST", "/system/setting", "system.setting.create", "Create a setting", createSetting)),
	hiding(redact.Fields{Value: true}, onRecord(store.Settings, write("PUT", "/system/setting/:id", "system.setting.update", "Change a setting", changeSetting))),
	onRecord(store.Settings, write("DELETE", "/system/setting/:id", "system.setting.delete", "Delete a setting", deleteSetting)),
	deleteSeveral("/system/setting", "system.setting.delete", "Delete settings", deleteSetting),
	hiding(redact.Fields{Values: true}, conditional(write("PUT", "/system/setting", "system.setting.save", "Save setting values", saveSettings), "updated_at")),
	write("POST", "/system/setting/refresh", "system.setting.refresh", "Rebuild the settings cache", refreshSettings),
	reading(hiding(redact.Fields{Value: true}, action("POST", "/system/setting/flag-preview", "system.setting.query", "Preview a flag", previewFlag))),
	withETag(read("/system/setting-value", "system.setting.query", "Get setting values", settingValues)),
	read("/system/setting-builtin", "system.setting.query", "List built-in settings", builtinSettings),
}

var settings = MemoryList[store.Setting]{
	rows:     func(tx *store.Tx) []store.Row[store.Setting] { return store.SettingCache.Get(tx).Settings },
	keywords: []string{"key", "title", "describe"},
	order:    "sort, then id, ascending",
	columns: []memoryColumn[store.Setting]{
		{name: "id", number: func(s *store.Setting) int64 { return int64(s.ID) }, uses: sorted},
		{name: "group_id", number: func(s *store.Setting) int64 { return int64(s.GroupID) }, uses: param | filtered | sorted},
		{name: "key", text: func(s *store.Setting) string { return s.Key }, uses: sorted},
		{name: "title", text: func(s *store.Setting) string { return s.Title }, uses: sorted},
		{name: "type", text: func(s *store.Setting) string { return s.Type }, uses: filtered | sorted},
		{name: "sort", number: func(s *store.Setting) int64 { return s.Sort }, uses: sorted},
		{name: "created_at", number: func(s *store.Setting) int64 { return int64(s.CreatedAt) }, uses: sorted | ranged},
		{name: "updated_at", number: func(s *store.Setting) int64 { return int64(s.UpdatedAt) }, uses: sorted | ranged},
	},
}

func getSetting(tx *store.Tx, _ *Request, in *byID) (*store.Setting, error) {
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
	GroupID  *store.ID       `json:"group_id" check:"create"`
	Sort     *int64          `json:"sort" check:"min=-1000000,max=1000000"`
}

type settingIn struct {
	settingFields
	Values *any `json:"values" doc:"Value: the text that is stored, or a JSON value of the type; it must be valid for type, options and props. Responses have the text, and mask that of a secret as ******; sending ****** leaves it unchanged"`
}

var assignSettingFields = assigning[settingFields, store.Setting]()

// assign copies what was sent to a setting, whose type says which values are possible.
func (in *settingIn) assign(s *store.Setting) error {
	assignSettingFields(&in.settingFields, s)
	if in.Values == nil {
		return nil
	}
	text, err := settingText(s, *in.Values)
	if err != nil {
		return errs.Field(errs.Invalid, "values", "%s", err)
	}
	s.Values = text
	return nil
}

func createSetting(tx *store.Tx, _ *Request, in *settingIn) (*store.Setting, error) {
	s := &store.Setting{}
	if err := in.assign(s); err != nil {
		return nil, err
	}
	return s, store.CreateSetting(tx, s)
}

type settingChange struct {
	byID
	settingIn
}

func changeSetting(tx *store.Tx, req *Request, in *settingChange) (*store.Setting, error) {
	return req.saveSetting(tx, in.ID, func(s *store.Setting) error {
		return in.assign(s)
	})
}

// saveSetting changes a setting. A change of a security setting is logged once it is
// stored.
func (req *Request) saveSetting(tx *store.Tx, id store.ID, edit func(*store.Setting) error) (*store.Setting, error) {
	old := ""
	saved, err := store.SaveSetting(tx, id, func(s *store.Setting) error {
		old = s.Values
		return edit(s)
	})
	if err != nil || saved.Values == old {
		return saved, err
	}
	name, err := store.SecuritySetting(tx, saved)
	if name != "" {
		now := saved.Values
		req.committed = append(req.committed, func() {
			req.s.log.Warn().Str("setting", name).Str("old", old).Str("new", now).Str("user", req.Actor.Label()).Str("request", req.ID).Msg("a security setting was changed")
		})
	}
	return saved, err
}

func deleteSetting(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	return nothing{}, store.Settings.Delete(tx, in.ID)
}

type valuesIn struct {
	Values map[string]any `json:"values" check:"required" doc:"Values by group.key: a text, or a JSON value of the setting's type. A security setting also requires the permission system.security.save"`
}

// saveSettings changes many values, all or none. It checks every value, so that the error
// names all that are invalid.
func saveSettings(tx *store.Tx, req *Request, in *valuesIn) (nothing, error) {
	ids := store.SettingCache.Get(tx)
	if err := req.freshSettings(tx, ids, in); err != nil {
		return nothing{}, err
	}
	faults := errs.Faults{}
	for _, name := range slices.Sorted(maps.Keys(in.Values)) {
		id := ids.ID(name)
		if id == 0 {
			faults.Add("values."+name, "unknown setting")
			continue
		}
		_, err := req.saveSetting(tx, id, func(s *store.Setting) error {
			text, err := settingText(s, in.Values[name])
			if err != nil {
				return errs.Field(errs.Invalid, "values", "%s", err)
			}
			s.Values = text
			return nil
		})
		if err != nil {
			e := errs.Of(err)
			if e.Kind != errs.Invalid {
				return nothing{}, err
			}
			faults.Add("values."+name, "%s", e)
		}
	}
	return nothing{}, faults.Err(errs.Invalid)
}

// freshSettings checks the condition of saveSettings: If-Match has the ETag of GET
// /system/setting-value or, like updated_at, is about the only setting that is saved.
func (req *Request) freshSettings(tx *store.Tx, set *store.SettingSet, in *valuesIn) error {
	if !req.read.stated() {
		return nil
	}
	values, err := set.Values()
	if err != nil {
		return err
	}
	if req.read.updatedAt == nil && matches(req.read.tags, values.ETag) {
		return nil
	}
	if len(in.Values) == 1 {
		for name := range in.Values {
			if id := set.ID(name); id != 0 {
				return req.freshSetting(tx, id)
			}
			return nil // an unknown setting
		}
	}
	if req.read.updatedAt != nil {
		return errs.Field(errs.Malformed, "updated_at", "can be checked only if one setting is saved; send If-Match with the ETag of GET /system/setting-value")
	}
	return errs.Field(errs.Conflict, "If-Match", "settings were changed; reload them and try again").Coded("stale")
}

func (req *Request) freshSetting(tx *store.Tx, id store.ID) error {
	s, err := store.Settings.Get(tx, id)
	if err != nil {
		return err
	}
	return req.fresh(s)
}

// settingText converts a JSON value to the stored text.
func settingText(s *store.Setting, value any) (string, error) {
	switch v := value.(type) {
	case nil:
		if s.Type == "json" {
			return "null", nil
		}
	case string:
		return v, nil
	case bool:
		if s.Type == "switch" || s.Type == "json" {
			return map[bool]string{true: "true", false: "false"}[v], nil
		}
	case json.Number:
		if s.Type == "number" || s.Type == "switch" || s.Type == "json" {
			return v.String(), nil
		}
	case []any, map[string]any:
		if _, array := v.([]any); s.Type == "json" || s.Type == "checkbox" && array || s.Type == "flag" && !array {
			b, err := json.Marshal(v)
			return string(b), err
		}
	}
	switch s.Type {
	case "number":
		return "", errs.Say("must be a number or a string")
	case "switch":
		return "", errs.Say("must be true, false or a string")
	case "checkbox":
		return "", errs.Say("must be an array of strings, or a string")
	case "flag":
		return "", errs.Say("must be an object or a string")
	}
	return "", errs.Say("must be a string")
}

type refreshOut struct {
	Count      int     `json:"count" doc:"Number of settings in the cache"`
	Generation uint64  `json:"generation" doc:"Number of rebuilds of the cache since start"`
	TookMS     float64 `json:"took_ms"`
}

// refreshSettings rebuilds the cache inside a write transaction, so that the rebuild cannot
// overwrite a concurrent change.
func refreshSettings(tx *store.Tx, _ *Request, _ *none) (*refreshOut, error) {
	start := time.Now()
	cache, err := store.SettingCache.Rebuild(tx)
	if err != nil {
		return nil, err
	}
	took := float64(time.Since(start).Microseconds()) / 1000
	return &refreshOut{len(cache.Settings), store.SettingCache.Generation(tx), took}, nil
}

func settingValues(tx *store.Tx, _ *Request, _ *none) (Encoded[map[string]map[string]any], error) {
	values, err := store.SettingCache.Get(tx).Values()
	if err != nil {
		return Encoded[map[string]map[string]any]{}, err
	}
	return Encoded[map[string]map[string]any]{JSON: values.Effective, ETag: values.ETag}, nil
}

// builtinSettings returns the keys, by group, of settings that cannot be deleted, renamed,
// moved or retyped, so that a client knows without trying.
func builtinSettings(_ *store.Tx, _ *Request, _ *none) (map[string][]string, error) {
	keys := map[string][]string{}
	for _, b := range store.Builtins {
		keys[b.Group] = append(keys[b.Group], b.Key)
	}
	return keys, nil
}
