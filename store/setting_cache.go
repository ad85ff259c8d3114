package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"sync"

	"reeve/store/fold"
	"reeve/store/kv"
)

// Row is a record of a list in memory, with its JSON and its case-folded search text.
type Row[T any] struct {
	ID    ID
	Value *T
	JSON  json.RawMessage
	Text  string
}

// SettingSet is a snapshot of all settings in memory, from which they are read. Parts that a
// commit did not change are shared with the previous snapshot.
type SettingSet struct {
	Settings []Row[Setting]                 // sorted by sort, then ID
	Groups   []Row[SettingGroup]            // sorted by ID
	Values   func() (*SettingValues, error) // computed on first use
	Config   func() ([]*ConfigGroup, error) // computed on first use; sorted by ID
	Flags    func() []FlagSetting           // the settings of the type flag, sorted by Key; computed on first use
	records  *kv.RecordMap[Setting]
	numbers  map[string]int // values of builtin numbers, by "group.key"
	ids      map[string]ID  // IDs of settings, by "group.key"
}

// SettingValues are the values of all settings as the API returns them.
type SettingValues struct {
	Effective json.RawMessage // {"group":{"key":value}} with masked secrets
	ETag      string          // entity tag of Effective and of the times at which secrets were changed, quoted
	Public    json.RawMessage // the same for public groups, without flags: their rules are for administrators
}

// SettingCache is the cache of all settings.
var SettingCache = kv.NewUpdatedCache("settings",
	&SettingSet{records: kv.NewRecordMap[Setting](nil)}, updateSettings, Settings, SettingGroups)

func updateSettings(tx *Tx, old *SettingSet,
	changed map[kv.Table]map[ID]bool) (*SettingSet, error) {
	groups, err := kv.ReadChanged(tx, SettingGroups, changed)
	if err != nil {
		return nil, err
	}
	settings, err := kv.ReadChanged(tx, Settings, changed)
	if err != nil {
		return nil, err
	}
	return old.with(groups, settings)
}

// with returns a snapshot in which some records are replaced; a nil record is removed.
func (c *SettingSet) with(groups map[ID]*SettingGroup,
	settings map[ID]*Setting) (*SettingSet, error) {
	next := *c
	var err error
	next.Groups, err = rowsWith(c.Groups, groups, func(g *SettingGroup) []string {
		return []string{g.Key, g.Title, g.Remark}
	},
		func(a, b *SettingGroup) int { return cmp.Compare(a.ID, b.ID) })
	if err != nil {
		return nil, err
	}

	next.Settings, err = rowsWith(c.Settings, settings, func(s *Setting) []string {
		return []string{s.Key, s.Title, s.Describe}
	},
		func(a, b *Setting) int {
			return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.ID, b.ID))
		})
	if err != nil {
		return nil, err
	}

	next.records = c.records.With(settings)
	if c.ids == nil || len(groups) > 0 || c.renamed(settings) {
		if next.ids, err = next.named(); err != nil {
			return nil, err
		}
	}

	next.numbers = builtinNumbers(next.builtin)
	next.Values, next.Config = sync.OnceValues(next.values), sync.OnceValues(next.config)
	if c.Flags == nil || len(groups) > 0 || c.changesFlags(settings) {
		next.Flags = sync.OnceValue(next.flags)
	}

	return &next, nil
}

// renamed reports whether changed settings add, remove or change a "group.key".
func (c *SettingSet) renamed(settings map[ID]*Setting) bool {
	for id, is := range settings {
		was := c.records.Get(id)
		if was == nil || is == nil || was.Key != is.Key || was.GroupID != is.GroupID {
			return true
		}
	}
	return false
}

// named returns the IDs of the settings by "group.key".
func (c *SettingSet) named() (map[string]ID, error) {
	ids, keys := make(map[string]ID, c.records.Len()), c.groupKeys()
	for id, s := range c.records.All() {
		group, known := keys[s.GroupID]
		if !known {
			return nil, kv.Damaged("setting", id.String(), SettingGroups.NotFound(s.GroupID))
		}
		ids[group+"."+s.Key] = id
	}
	return ids, nil
}

func (c *SettingSet) groupKeys() map[ID]string {
	keys := make(map[ID]string, len(c.Groups))
	for _, g := range c.Groups {
		keys[g.ID] = g.Value.Key
	}
	return keys
}

// values computes Values.
func (c *SettingSet) values() (*SettingValues, error) {
	effective, public, keys := map[string]map[string]any{}, map[string]map[string]any{}, c.groupKeys()
	for _, g := range c.Groups {
		effective[g.Value.Key] = map[string]any{}
		if g.Value.Public {
			public[g.Value.Key] = map[string]any{}
		}
	}

	for _, s := range c.Settings {
		group := keys[s.Value.GroupID]
		effective[group][s.Value.Key] = settingValue(s.Value)
		if open := public[group]; open != nil && forPrograms(s.Value) {
			open[s.Value.Key] = effective[group][s.Value.Key]
		}
	}

	v := &SettingValues{}
	var err error
	if v.Public, err = json.Marshal(public); err != nil {
		return nil, err
	}
	if v.Effective, err = json.Marshal(effective); err != nil {
		return nil, err
	}

	state := slices.Clone(v.Effective)
	for _, s := range c.Settings {
		if s.Value.Type == "secret" { // masked, so that Effective does not change with it
			state = fmt.Appendf(state, "%d %d\n", s.ID, s.Value.UpdatedAt)
		}
	}

	v.ETag = etag(state)
	return v, nil
}

// etag returns a quoted entity tag computed from the content.
func etag(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

func newRow[T any](id ID, v *T, texts ...string) (Row[T], error) {
	b, err := json.Marshal(v)
	row := Row[T]{ID: id, Value: v, JSON: b}
	for _, t := range texts {
		row.Text += fold.Search(t) + "\xff" // so that no match spans two fields
	}
	return row, err
}

// rowsWith returns a list with some records replaced; a nil record is removed. order must not
// have ties.
func rowsWith[T any](rows []Row[T], changed map[ID]*T, texts func(*T) []string,
	order func(a, b *T) int) ([]Row[T], error) {
	if len(changed) == 0 {
		return rows, nil
	}

	fresh := make([]Row[T], 0, len(changed))
	for id, v := range changed {
		if v == nil {
			continue
		}
		row, err := newRow(id, v, texts(v)...)
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, row)
	}

	sort.Slice(fresh, func(i, j int) bool { return order(fresh[i].Value, fresh[j].Value) < 0 })
	next := make([]Row[T], 0, len(rows)+len(fresh))
	for _, row := range rows {
		if _, replaced := changed[row.ID]; replaced {
			continue
		}
		for len(fresh) > 0 && order(fresh[0].Value, row.Value) < 0 {
			next, fresh = append(next, fresh[0]), fresh[1:]
		}
		next = append(next, row)
	}

	return append(next, fresh...), nil
}

// ID returns the ID of the setting "group.key"; 0 if there is none.
func (c *SettingSet) ID(key string) ID { return c.ids[key] }

// builtin returns the stored text of a builtin setting, or its default before AddBuiltins has
// stored it.
func (c *SettingSet) builtin(b *Builtin) string {
	if s := c.records.Get(c.ids[b.name]); s != nil {
		return s.Values
	}
	return b.Default
}

// Secret reports whether monitoring must not have the value of the setting "group.key": that of a
// secret, and the rules of a flag.
func (c *SettingSet) Secret(key string) bool {
	s := c.records.Get(c.ids[key])
	return s != nil && (s.Type == "secret" || s.Type == "flag")
}

// Len returns the number of settings.
func (c *SettingSet) Len() int { return len(c.Settings) }
