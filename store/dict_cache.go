package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"sync"

	"reeve/store/kv"
)

// DictSet is a snapshot of all dictionaries in memory, from which they are read. Parts that a
// commit did not change are shared with the previous snapshot.
type DictSet struct {
	Dicts   []Row[Dict]                // sorted by ID
	Open    func() (*OpenDicts, error) // computed on first use
	records *kv.RecordMap[DictItem]
	items   *kv.RecordMap[[]Row[DictItem]] // items by ID of the dictionary; sorted by sort, then ID
}

// OpenDicts are the enabled dictionaries.
type OpenDicts struct {
	JSON   json.RawMessage // map[string]OpenDict by code
	ETag   string          // entity tag of JSON, quoted
	Public *OpenDicts      // the public ones; nil in itself
	Each   []ConfigDict    // sorted by code
}

// OpenDict is an enabled dictionary, which every signed-in user may read.
type OpenDict struct {
	Name  string     `json:"name"`
	Type  string     `json:"type" enum:"dict_type" doc:"How an item is shown: default is the label alone; badge and tag use the status as colour"`
	Items []OpenItem `json:"items" doc:"Enabled items, ordered by sort, then ID"`
}

// OpenItem is an item of an OpenDict.
type OpenItem struct {
	Label  string `json:"label" doc:"Text to show"`
	Value  string `json:"value" doc:"Stored value, unique within the dictionary"`
	Status string `json:"status" enum:"item_status" doc:"Colour: default, success, error, processing or warning"`
}

// DictCache is the cache of all dictionaries.
var DictCache = kv.NewUpdatedCache("dictionaries", &DictSet{
	records: kv.NewRecordMap[DictItem](nil),
	items:   kv.NewRecordMap[[]Row[DictItem]](nil),
}, updateDicts, Dicts, DictItems)

func updateDicts(tx *Tx, old *DictSet, changed map[kv.Table]map[ID]bool) (*DictSet, error) {
	dicts, err := kv.ReadChanged(tx, Dicts, changed)
	if err != nil {
		return nil, err
	}
	items, err := kv.ReadChanged(tx, DictItems, changed)
	if err != nil {
		return nil, err
	}
	return old.with(dicts, items)
}

// with returns a snapshot in which some records are replaced; a nil record is removed.
func (c *DictSet) with(dicts map[ID]*Dict, items map[ID]*DictItem) (*DictSet, error) {
	next := *c
	var err error
	next.Dicts, err = rowsWith(c.Dicts, dicts, func(d *Dict) []string {
		return []string{d.Code, d.Name, d.Describe}
	},
		func(a, b *Dict) int { return cmp.Compare(a.ID, b.ID) })
	if err != nil {
		return nil, err
	}

	lists := map[ID]map[ID]*DictItem{} // changed items, by ID of the dictionary
	put := func(dict, id ID, item *DictItem) {
		if lists[dict] == nil {
			lists[dict] = map[ID]*DictItem{}
		}
		lists[dict][id] = item
	}
	for id, is := range items {
		if was := c.records.Get(id); was != nil {
			put(was.DictID, id, nil)
		}
		if is == nil {
			continue
		}
		if !next.has(is.DictID) {
			return nil, kv.Damaged("dict_item", id.String(), Dicts.NotFound(is.DictID))
		}
		put(is.DictID, id, is)
	}

	next.records = c.records.With(items)
	fresh := map[ID]*[]Row[DictItem]{}
	for dict, changed := range lists {
		rows, err := rowsWith(c.rows(dict), changed, func(i *DictItem) []string {
			return []string{i.Label, i.Value}
		},
			func(a, b *DictItem) int {
				return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.ID, b.ID))
			})
		if err != nil {
			return nil, err
		}
		if fresh[dict] = nil; len(rows) > 0 {
			fresh[dict] = &rows
		}
	}

	next.items = c.items.With(fresh)
	next.Open = sync.OnceValues(next.enabled)
	return &next, nil
}

// enabled returns the enabled dictionaries with their enabled items.
func (c *DictSet) enabled() (*OpenDicts, error) {
	all, public := &OpenDicts{}, &OpenDicts{}
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

		b, err := json.Marshal(OpenDict{d.Value.Name, d.Value.Type, items})
		if err != nil {
			return nil, err
		}

		one := ConfigDict{
			Code:   d.Value.Code,
			Public: bool(d.Value.Public),
			JSON:   b,
			tag:    contentTag([]byte(d.Value.Code), b),
		}
		all.Each = append(all.Each, one)
		if one.Public {
			public.Each = append(public.Each, one)
		}
	}

	all.Public = public
	return all, errors.Join(all.encode(), public.encode())
}

// encode sets the rest from Each.
func (o *OpenDicts) encode() (err error) {
	sort.Slice(o.Each, func(i, j int) bool { return o.Each[i].Code < o.Each[j].Code })
	open := make(map[string]json.RawMessage, len(o.Each))
	for _, d := range o.Each {
		open[d.Code] = d.JSON
	}
	o.JSON, err = json.Marshal(open)
	o.ETag = etag(o.JSON)
	return err
}

func (c *DictSet) has(dict ID) bool {
	_, found := slices.BinarySearchFunc(c.Dicts, dict, func(row Row[Dict], id ID) int {
		return cmp.Compare(row.ID, id)
	})
	return found
}

func (c *DictSet) rows(dict ID) []Row[DictItem] {
	if rows := c.items.Get(dict); rows != nil {
		return *rows
	}
	return nil
}

// Items returns the items of a dictionary, ordered by sort, then ID. The error is NotFound if
// there is no such dictionary.
func (c *DictSet) Items(dict ID) ([]Row[DictItem], error) {
	if !c.has(dict) {
		return nil, Dicts.NotFound(dict)
	}
	return c.rows(dict), nil
}
