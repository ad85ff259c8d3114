package server

import (
	"fmt"
	"strings"

	"reeve/store"
)

// simpleResource is a resource whose records are listed, created, read, changed and deleted
// at one path. Its entry is all that the tests of every route, field and record need.
type simpleResource struct {
	path string // path of the list; that of a record has its ID added
	body string // creates a record, and has every field; %d makes it unique
	edit string // one of the fields with another value
}

// simpleResources must have references to the first department alone.
var simpleResources = []simpleResource{
	{"/file/group", `{"name":"Good %d","sort":2,"describe":"one\ntwo"}`, `"sort":77`},
	{"/system/dict", `{"code":"good%d","name":"N","type":"tag","describe":"d","status":0}`, `"status":1`},
	{"/system/webhook", `{"url":"https://example.org/%d","description":"d","types":["role.*"],"status":0}`, `"status":1`},
}

// nth returns a body that differs from those of other numbers.
func (r *simpleResource) nth(n int) string {
	if !strings.Contains(r.body, "%d") {
		return r.body
	}
	return fmt.Sprintf(r.body, n)
}

// createSimple creates the first record of each simple resource.
func (in *instance) createSimple() {
	in.t.Helper()
	for _, r := range simpleResources {
		in.create(r.path, r.nth(1))
	}
}

type goodBody = struct{ url, body string }

// withSimpleBodies adds the operations of simple resources to a table of good bodies.
func withSimpleBodies(all map[string]goodBody) map[string]goodBody {
	for _, r := range simpleResources {
		if _, given := all["POST "+r.path]; !given {
			all["POST "+r.path] = goodBody{r.path, r.nth(2)}
		}
		all["PUT "+r.path+"/:id"] = goodBody{r.path + "/1", r.nth(2)}
	}
	return all
}

// withSimpleRecords adds a record of each simple resource.
func withSimpleRecords(all []wholeRecord) []wholeRecord {
	for _, r := range simpleResources {
		all = append(all, wholeRecord{r.path, r.path + "/1", r.path + "/1", r.edit})
	}
	return all
}

func withSimpleDeletions(all map[string]func(*instance) []store.ID) map[string]func(*instance) []store.ID {
	for _, r := range simpleResources {
		all[r.path] = func(in *instance) []store.ID {
			if strings.Contains(r.body, `"dept_id"`) {
				in.dept("Top", 0)
			}
			return []store.ID{in.made(r.path, r.nth(1)), in.made(r.path, r.nth(2))}
		}
	}
	return all
}
