package store

import (
	"cmp"
	"encoding/json"
	"slices"
)

// DictCache is every dictionary in memory: what dictionaries are read from.
type DictCache struct {
	Dicts []Row[Dict]            // by id
	items map[ID][]Row[DictItem] // by dictionary; by sort, then id
	Open  json.RawMessage        // map[string]OpenDict, by code: the enabled dictionaries
	ETag  string                 // of Open, in quotes
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
	c := &DictCache{items: map[ID][]Row[DictItem]{}}
	for d, err := range Dicts.All(tx) {
		if err != nil {
			return nil, err
		}
		row, err := newRow(d.ID, d, d.Code, d.Name, d.Describe)
		if err != nil {
			return nil, err
		}
		c.Dicts, c.items[d.ID] = append(c.Dicts, row), nil
	}
	for i, err := range DictItems.All(tx) {
		if err != nil {
			return nil, err
		}
		row, err := newRow(i.ID, i, i.Label, i.Value)
		if err != nil {
			return nil, err
		}
		rows, ok := c.items[i.DictID]
		if !ok {
			return nil, damaged("dict_item", i.ID.String(), notFound("dict", i.DictID))
		}
		c.items[i.DictID] = append(rows, row)
	}
	for _, rows := range c.items {
		slices.SortStableFunc(rows, func(a, b Row[DictItem]) int { return cmp.Compare(a.Value.Sort, b.Value.Sort) })
	}
	var err error
	c.Open, err = json.Marshal(c.open())
	c.ETag = etag(c.Open)
	return c, err
}, Dicts, DictItems)

// open picks what is enabled.
func (c *DictCache) open() map[string]OpenDict {
	open := map[string]OpenDict{}
	for _, d := range c.Dicts {
		if !d.Value.Status {
			continue
		}
		items := []OpenItem{}
		for _, i := range c.items[d.ID] {
			if i.Value.Switch {
				items = append(items, OpenItem{i.Value.Label, i.Value.Value, i.Value.Status})
			}
		}
		open[d.Value.Code] = OpenDict{d.Value.Name, d.Value.Type, items}
	}
	return open
}

// Items returns the items of a dictionary by sort, then id; NotFound when there
// is no such dictionary.
func (c *DictCache) Items(dict ID) ([]Row[DictItem], error) {
	rows, ok := c.items[dict]
	if !ok {
		return nil, notFound("dict", dict)
	}
	return rows, nil
}
