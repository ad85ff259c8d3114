package store

// Dict is a dictionary: a named set of values that forms choose from and lists
// show by their labels.
type Dict struct {
	Ident
	Code     string `json:"code"`
	Name     string `json:"name"`
	Type     string `json:"type" enum:"dict_type" doc:"how an item is shown: default, badge or tag"`
	Describe string `json:"describe"`
	Status   Flag   `json:"status"`
	Versioned
}

// Dictionaries.
var (
	Dicts      = NewCollection[Dict]("dict")
	DictByCode = NewUnique(Dicts, "code", func(d *Dict) string { return d.Code })
)
