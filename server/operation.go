package server

import "strings"

// idWords are the words of a title that an operation's id has otherwise: the verbs that
// clients expect, and what schemas call things. Those without a word are left out.
var idWords = map[string]string{
	"change": "update", "dictionary": "dict", "dictionaries": "dicts", "department": "dept", "departments": "depts",
	"a": "", "an": "", "the": "", "your": "", "its": "",
}

// operationID is the title up to its first comma in camel case, verb first: Change a
// dictionary item is updateDictItem. Clients are generated with these names, so a title
// changes only if the operation does.
func operationID(rt *Route) string {
	title, _, _ := strings.Cut(rt.Title, ",")
	var id string
	for _, word := range strings.FieldsFunc(title, func(r rune) bool { return r == ' ' || r == '-' }) {
		word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'")
		if other, ok := idWords[strings.ToLower(word)]; ok {
			word = other
		}
		switch {
		case word == "":
		case id == "":
			id = strings.ToLower(word)
		default:
			id += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return id
}
