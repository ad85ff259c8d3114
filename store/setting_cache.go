package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Row is a record of a list that is kept in memory, with its JSON and the folded
// text that a search looks through.
type Row[T any] struct {
	ID    ID
	Value *T
	JSON  json.RawMessage
	Text  string
}

// SettingCache is every setting in memory: what settings are read from.
type SettingCache struct {
	Settings  []Row[Setting]      // by sort, then id
	Groups    []Row[SettingGroup] // by id
	Effective json.RawMessage     // {"group":{"key":value}}, secrets masked
	ETag      string              // of Effective, in quotes
	Public    json.RawMessage     // Effective of the public groups alone
	texts     map[string]string   // "group.key" → stored text
	numbers   map[string]int      // "group.key" → builtin number
	ids       map[string]ID       // "group.key" → setting
	secrets   map[string]bool     // "group.key" of those of type secret
}

// SettingSet keeps the SettingCache in memory.
var SettingSet = NewCache("settings", func(tx *Tx) (*SettingCache, error) {
	c := &SettingCache{texts: map[string]string{}, ids: map[string]ID{}, secrets: map[string]bool{}}
	effective, keys := map[string]map[string]any{}, map[ID]string{}
	for g, err := range SettingGroups.All(tx) {
		if err != nil {
			return nil, err
		}
		row, err := newRow(g.ID, g, g.Key, g.Title, g.Remark)
		if err != nil {
			return nil, err
		}
		c.Groups = append(c.Groups, row)
		effective[g.Key], keys[g.ID] = map[string]any{}, g.Key
	}
	for s, err := range Settings.All(tx) {
		if err != nil {
			return nil, err
		}
		row, err := newRow(s.ID, s, s.Key, s.Title, s.Describe)
		if err != nil {
			return nil, err
		}
		c.Settings = append(c.Settings, row)
		group := keys[s.GroupID]
		if effective[group] == nil {
			return nil, damaged("setting", s.ID.String(), notFound("setting group", s.GroupID))
		}
		effective[group][s.Key] = settingValue(s)
		c.texts[group+"."+s.Key], c.ids[group+"."+s.Key] = s.Values, s.ID
		c.secrets[group+"."+s.Key] = s.Type == "secret"
	}
	slices.SortStableFunc(c.Settings, func(a, b Row[Setting]) int { return cmp.Compare(a.Value.Sort, b.Value.Sort) })
	public := map[string]map[string]any{}
	for _, g := range c.Groups {
		if g.Value.Public {
			public[g.Value.Key] = effective[g.Value.Key]
		}
	}
	c.numbers = builtinNumbers(c.texts)
	var err error
	if c.Public, err = json.Marshal(public); err != nil {
		return nil, err
	}
	c.Effective, err = json.Marshal(effective)
	c.ETag = etag(c.Effective)
	return c, err
}, Settings, SettingGroups)

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

// ID returns the setting with the key "group.key"; 0 when there is none.
func (c *SettingCache) ID(key string) ID { return c.ids[key] }

// Secret tells whether "group.key" is a setting of type secret.
func (c *SettingCache) Secret(key string) bool { return c.secrets[key] }

// Len is how many settings there are.
func (c *SettingCache) Len() int { return len(c.Settings) }
