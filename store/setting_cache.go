package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
)

// Row is a record of a list that is kept in memory, with its JSON and the folded
// text that a search looks through.
type Row[T any] struct {
	ID    ID
	Value *T
	JSON  json.RawMessage
	Text  string
}

// SettingCache is every setting in memory: what settings are read from. A part that no
// commit has changed is the same one as before.
type SettingCache struct {
	Settings []Row[Setting]                 // by sort, then id
	Groups   []Row[SettingGroup]            // by id
	Values   func() (*SettingValues, error) // made when first asked for
	records  *recordMap[Setting]
	numbers  map[string]int // "group.key" → builtin number
	ids      map[string]ID  // "group.key" → setting
}

// SettingValues are the values of all settings as the interface answers them.
type SettingValues struct {
	Effective json.RawMessage // {"group":{"key":value}}, secrets masked
	ETag      string          // of Effective, in quotes
	Public    json.RawMessage // Effective of the public groups alone
}

// SettingSet keeps the SettingCache in memory.
var SettingSet = NewCache("settings", func(tx *Tx) (*SettingCache, error) {
	groups, err := readRecords(tx, SettingGroups)
	if err != nil {
		return nil, err
	}
	settings, err := readRecords(tx, Settings)
	if err != nil {
		return nil, err
	}
	none := &SettingCache{records: newRecordMap[Setting](nil)}
	return none.with(groups, settings)
}, Settings, SettingGroups).Amend(func(tx *Tx, old *SettingCache, changed map[table]map[ID]bool) (*SettingCache, error) {
	groups, err := readChanged(tx, SettingGroups, changed)
	if err != nil {
		return nil, err
	}
	settings, err := readChanged(tx, Settings, changed)
	if err != nil {
		return nil, err
	}
	return old.with(groups, settings)
})

// with is the cache with some records put in place; nil takes one out.
func (c *SettingCache) with(groups map[ID]*SettingGroup, settings map[ID]*Setting) (*SettingCache, error) {
	next := *c
	var err error
	next.Groups, err = rowsWith(c.Groups, groups, func(g *SettingGroup) []string { return []string{g.Key, g.Title, g.Remark} },
		func(a, b *SettingGroup) int { return cmp.Compare(a.ID, b.ID) })
	if err != nil {
		return nil, err
	}
	next.Settings, err = rowsWith(c.Settings, settings, func(s *Setting) []string { return []string{s.Key, s.Title, s.Describe} },
		func(a, b *Setting) int { return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.ID, b.ID)) })
	if err != nil {
		return nil, err
	}
	next.records = c.records.with(settings)
	if c.ids == nil || len(groups) > 0 || c.renamed(settings) {
		if next.ids, err = next.named(); err != nil {
			return nil, err
		}
	}
	next.numbers = builtinNumbers(next.builtin)
	next.Values = sync.OnceValues(next.values)
	return &next, nil
}

// renamed reports whether a "group.key" comes, goes or changes with some records.
func (c *SettingCache) renamed(settings map[ID]*Setting) bool {
	for id, is := range settings {
		was := c.records.get(id)
		if was == nil || is == nil || was.Key != is.Key || was.GroupID != is.GroupID {
			return true
		}
	}
	return false
}

// named finds the settings by their full names.
func (c *SettingCache) named() (map[string]ID, error) {
	ids, keys := make(map[string]ID, c.records.n), c.groupKeys()
	for id, s := range c.records.all() {
		group, known := keys[s.GroupID]
		if !known {
			return nil, damaged("setting", id.String(), notFound("setting group", s.GroupID))
		}
		ids[group+"."+s.Key] = id
	}
	return ids, nil
}

func (c *SettingCache) groupKeys() map[ID]string {
	keys := make(map[ID]string, len(c.Groups))
	for _, g := range c.Groups {
		keys[g.ID] = g.Value.Key
	}
	return keys
}

func (c *SettingCache) values() (*SettingValues, error) {
	effective, public, keys := map[string]map[string]any{}, map[string]map[string]any{}, c.groupKeys()
	for _, g := range c.Groups {
		effective[g.Value.Key] = map[string]any{}
		if g.Value.Public {
			public[g.Value.Key] = effective[g.Value.Key]
		}
	}
	for _, s := range c.Settings {
		effective[keys[s.Value.GroupID]][s.Value.Key] = settingValue(s.Value)
	}
	v := &SettingValues{}
	var err error
	if v.Public, err = json.Marshal(public); err != nil {
		return nil, err
	}
	v.Effective, err = json.Marshal(effective)
	v.ETag = etag(v.Effective)
	return v, err
}

// etag is an entity tag by content, in quotes.
func etag(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

func newRow[T any](id ID, v *T, texts ...string) (Row[T], error) {
	b, err := json.Marshal(v)
	row := Row[T]{ID: id, Value: v, JSON: b}
	for _, text := range texts {
		row.Text += Fold(text) + "\xff" // so that no search matches across two fields
	}
	return row, err
}

// rowsWith is a list, in an order without ties, with the rows of some records put in
// place; nil takes one out.
func rowsWith[T any](rows []Row[T], changed map[ID]*T, texts func(*T) []string, order func(a, b *T) int) ([]Row[T], error) {
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
	slices.SortFunc(fresh, func(a, b Row[T]) int { return order(a.Value, b.Value) })
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

// ID returns the setting with the key "group.key"; 0 when there is none.
func (c *SettingCache) ID(key string) ID { return c.ids[key] }

// builtin returns the stored text of a builtin setting, or its default until it is added.
func (c *SettingCache) builtin(b *Builtin) string {
	if s := c.records.get(c.ids[b.name]); s != nil {
		return s.Values
	}
	return b.Default
}

// Secret tells whether "group.key" is a setting of type secret.
func (c *SettingCache) Secret(key string) bool {
	s := c.records.get(c.ids[key])
	return s != nil && s.Type == "secret"
}

// Len is how many settings there are.
func (c *SettingCache) Len() int { return len(c.Settings) }
