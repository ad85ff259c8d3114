package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
)

// DictCache is every dictionary in memory: what dictionaries are read from. A part that
// no commit has changed is the same one as before.
type DictCache struct {
	Dicts   []Row[Dict]                // by id
	Open    func() (*OpenDicts, error) // made when first asked for
	records *recordMap[DictItem]
	items   *recordMap[[]Row[DictItem]] // by dictionary; by sort, then id
}

// OpenDicts are the enabled dictionaries as they are answered.
type OpenDicts struct {
	JSON json.RawMessage // map[string]OpenDict, by code
	ETag string          // of JSON, in quotes
}

// OpenDict is an enabled dictionary as whoever is signed in reads it.
type OpenDict struct {
	Name  string     `json:"name"`
	Type  string     `json:"type" enum:"dict_type" doc:"how an item is shown: default is its label alone, badge and tag have its status as colour"`
	Items []OpenItem `json:"items" doc:"those that are switched on, by sort, then id"`
}

// OpenItem is an item of an OpenDict.
type OpenItem struct {
	Label  string `json:"label" doc:"what is shown"`
	Value  string `json:"value" doc:"what is stored; unique in its dictionary"`
	Status string `json:"status" enum:"item_status" doc:"the colour: default, success, error, processing or warning"`
}

// DictSet keeps the DictCache in memory.
var DictSet = NewCache("dictionaries", func(tx *Tx) (*DictCache, error) {
	dicts, err := readRecords(tx, Dicts)
	if err != nil {
		return nil, err
	}
	items, err := readRecords(tx, DictItems)
	if err != nil {
		return nil, err
	}
	none := &DictCache{records: newRecordMap[DictItem](nil), items: newRecordMap[[]Row[DictItem]](nil)}
	return none.with(dicts, items)
}, Dicts, DictItems).Amend(func(tx *Tx, old *DictCache, changed map[table]map[ID]bool) (*DictCache, error) {
	dicts, err := readChanged(tx, Dicts, changed)
	if err != nil {
		return nil, err
	}
	items, err := readChanged(tx, DictItems, changed)
	if err != nil {
		return nil, err
	}
	return old.with(dicts, items)
})

// with is the cache with some records put in place; nil takes one out.
func (c *DictCache) with(dicts map[ID]*Dict, items map[ID]*DictItem) (*DictCache, error) {
	next := *c
	var err error
	next.Dicts, err = rowsWith(c.Dicts, dicts, func(d *Dict) []string { return []string{d.Code, d.Name, d.Describe} },
		func(a, b *Dict) int { return cmp.Compare(a.ID, b.ID) })
	if err != nil {
		return nil, err
	}
	lists := map[ID]map[ID]*DictItem{} // what changes, by dictionary
	put := func(dict, id ID, item *DictItem) {
		if lists[dict] == nil {
			lists[dict] = map[ID]*DictItem{}
		}
		lists[dict][id] = item
	}
	for id, is := range items {
		if was := c.records.get(id); was != nil {
			put(was.DictID, id, nil)
		}
		if is == nil {
			continue
		}
		if !next.has(is.DictID) {
			return nil, damaged("dict_item", id.String(), notFound("dict", is.DictID))
		}
		put(is.DictID, id, is)
	}
	next.records = c.records.with(items)
	fresh := map[ID]*[]Row[DictItem]{}
	for dict, changed := range lists {
		rows, err := rowsWith(c.rows(dict), changed, func(i *DictItem) []string { return []string{i.Label, i.Value} },
			func(a, b *DictItem) int { return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.ID, b.ID)) })
		if err != nil {
			return nil, err
		}
		if fresh[dict] = nil; len(rows) > 0 {
			fresh[dict] = &rows
		}
	}
	next.items = c.items.with(fresh)
	next.Open = sync.OnceValues(next.open)
	return &next, nil
}

// open picks what is enabled.
func (c *DictCache) open() (*OpenDicts, error) {
	open := map[string]OpenDict{}
	for _, d := range c.Dicts {
		if !d.Value.Status {
			continue
		}
		items := []OpenItem{}
		for _, i := range c.rows(d.ID) {
			if i.Value.Switch {
				items = append(items, OpenItem{i.Value.Label, i.Value.Value, i.Value.Status})
			}
		}
		open[d.Value.Code] = OpenDict{d.Value.Name, d.Value.Type, items}
	}
	b, err := json.Marshal(open)
	return &OpenDicts{b, etag(b)}, err
}

func (c *DictCache) has(dict ID) bool {
	_, found := slices.BinarySearchFunc(c.Dicts, dict, func(row Row[Dict], id ID) int { return cmp.Compare(row.ID, id) })
	return found
}

func (c *DictCache) rows(dict ID) []Row[DictItem] {
	if rows := c.items.get(dict); rows != nil {
		return *rows
	}
	return nil
}

// Items returns the items of a dictionary by sort, then id; NotFound when there
// is no such dictionary.
func (c *DictCache) Items(dict ID) ([]Row[DictItem], error) {
	if !c.has(dict) {
		return nil, notFound("dict", dict)
	}
	return c.rows(dict), nil
}
