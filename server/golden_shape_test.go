package server_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// An example of an answer shows its form. Its IDs, counts of stored records and long lists of
// the same kind of element would make every golden file change when a permission is added.

// identifying are members whose numbers depend on what else is stored.
var identifying = regexp.MustCompile(`"(id|\w+_id|records|generation)":[1-9][0-9]*`)

// identifyingLists are members with lists of IDs.
var identifyingLists = regexp.MustCompile(`"(\w+_ids)":\[[0-9][0-9,]*\]`)

// manyElements is the length from which the elements of a list are left out if an element
// before them has the same form.
const manyElements = 4

// shapeOf returns a body with numbers of records replaced by 1 and long lists shortened.
func shapeOf(t *testing.T, body string) string {
	t.Helper()
	body = identifying.ReplaceAllString(body, `"$1":1`)
	body = identifyingLists.ReplaceAllString(body, `"$1":[1]`)
	text, _ := shortened(t, json.RawMessage(body))
	return text
}

// shortened returns a JSON value without the elements of long lists whose form an element before
// them has, and its form: the value with every number and text left out.
func shortened(t *testing.T, value json.RawMessage) (text, form string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(value))
	open, err := d.Token()
	servertest.Must(t, err)
	if open != json.Delim('{') && open != json.Delim('[') {
		return string(bytes.TrimSpace(value)), ""
	}

	var texts, forms []string
	known := map[string]bool{}
	for d.More() {
		name := ""
		if open == json.Delim('{') {
			token, err := d.Token()
			servertest.Must(t, err)
			quoted, err := json.Marshal(token)
			servertest.Must(t, err)
			name = string(quoted) + ":"
		}
		var inner json.RawMessage
		servertest.Must(t, d.Decode(&inner))
		text, form := shortened(t, inner)
		texts, forms = append(texts, name+text), append(forms, name+form)
	}

	if open == json.Delim('{') {
		return "{" + strings.Join(texts, ",") + "}", "{" + strings.Join(forms, ",") + "}"
	}

	var few, kinds []string
	for i, form := range forms {
		if !known[form] {
			known[form], kinds = true, append(kinds, form)
		} else if len(forms) >= manyElements {
			continue
		}
		few = append(few, texts[i])
	}

	return "[" + strings.Join(few, ",") + "]", "[" + strings.Join(kinds, ",") + "]"
}

func TestShapesOfAnswers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"id":12,"dept_id":0,"role_ids":[3,4],"count":5}`:             `{"id":1,"dept_id":0,"role_ids":[1],"count":5}`,
		`[{"a":1},{"a":2},{"a":3}]`:                                    `[{"a":1},{"a":2},{"a":3}]`,
		`[{"a":1},{"a":2},{"b":3},{"a":"x"}]`:                          `[{"a":1},{"b":3}]`,
		`{"d":[{"c":[{"c":[]},{"c":[]}]},{"c":[]},{"c":[]},{"c":[]}]}`: `{"d":[{"c":[{"c":[]},{"c":[]}]},{"c":[]}]}`,
		`["a","b","c","d"]`:                                            `["a"]`,
	} {
		if got := shapeOf(t, body); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
