package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listed is a page of a list.
type listed struct {
	IDs     []int64
	Damaged []int64
	Lacking int // 1 for a page of the change log that may lack entries
	Total   int
}

// readLists reads every list of the API with all its records: in its default order, in each order
// that it has, and with a search. The keys are paths with parameters.
func readLists(t *testing.T, c *client, damaged string) map[string]listed {
	t.Helper()
	all := map[string]listed{}
	for _, path := range listPaths(t, c) {
		if strings.HasPrefix(path, "/system/webhook/1/") && damaged == "webhook" ||
			strings.HasPrefix(path, "/file/list/1/") && damaged == "file" {
			continue // needs the record
		}

		a := c.call("GET", path, "")
		var page struct {
			Data    []struct{ ID int64 }
			Damaged []int64 `json:"damaged_ids"`
			Lacking int     `json:"damaged"`
			Total   int
		}
		if a.status != 200 || json.Unmarshal(a.Data, &page) != nil {
			t.Errorf("GET %s: %d %s", path, a.status, a.raw)
		}

		of := listed{Damaged: page.Damaged, Lacking: page.Lacking, Total: page.Total}
		for _, v := range page.Data {
			of.IDs = append(of.IDs, v.ID)
		}

		all[path] = of
	}

	return all
}

// sortsBy finds the fields in the description of a sorter.
var sortsBy = regexp.MustCompile(`^Order by one of (.*), as `)

// listPaths returns the paths of all lists, from the OpenAPI document.
func listPaths(t *testing.T, c *client) (paths []string) {
	t.Helper()
	for path, op := range operationsOf(t, c) {
		path = strings.NewReplacer("{id}", "1", "{collection}", "user").Replace(path)
		ways := []string{}
		for _, p := range op.Parameters {
			switch p.Name {
			case "pageSize":
				ways = append(ways, "")
			case "keywordSearch":
				ways = append(ways, "&keywordSearch=a", "&keywordSearch=red",
					"&keywordSearch=papers")
			case "sorter":
				fields := sortsBy.FindStringSubmatch(p.Description)
				if fields == nil { // of monitoring, which data.db does not have
					continue
				}
				for _, field := range strings.Split(fields[1], ", ") {
					for _, direction := range []string{"ascend", "descend"} {
						ways = append(ways,
							"&sorter="+url.QueryEscape(fmt.Sprintf(`{%q:%q}`, field, direction)))
					}
				}
			}
		}

		if !slices.Contains(ways, "") || strings.HasPrefix(path, "/api/") ||
			strings.HasSuffix(path, "-export") {
			continue
		}

		for _, way := range ways {
			paths = append(paths, path+"?pageSize=1000"+way)
		}
	}

	if len(paths) < 80 {
		t.Errorf("only %d ways to read lists: %q", len(paths), paths)
	}

	return paths
}

// documented is the part of an operation in the OpenAPI document that tests read.
type documented struct {
	Parameters []struct{ Name, Description string }
}

// operationsOf returns the GET operations of the OpenAPI document by path.
func operationsOf(t *testing.T, c *client) map[string]documented {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]documented
	}
	if err := json.Unmarshal(c.call("GET", "/openapi.json", "").raw, &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]documented{}
	for path, methods := range doc.Paths {
		if op, found := methods["get"]; found {
			all[path] = op
		}
	}
	return all
}

// sameLists compares the lists beside a damaged record with those before the damage: what is
// missing is named. It returns the number of lists that name a record.
func sameLists(t *testing.T, before, after map[string]listed, name string) (naming int) {
	t.Helper()
	for path, was := range before {
		is, found := after[path]
		if is.Lacking == 1 {
			naming++
			continue
		}

		for _, id := range was.IDs {
			if !disposable[name] && found && !slices.Contains(is.IDs, id) &&
				!slices.Contains(is.Damaged, id) {
				t.Errorf("GET %s lacks %d and does not name it: %+v", path, id, is)
			}
		}

		if len(is.Damaged) > 0 {
			naming++
		}
		if is.Total > 0 && is.Total < len(is.IDs)+len(is.Damaged) ||
			found && is.Total < was.Total && !disposable[name] {
			t.Errorf("GET %s: the total is %d, before the damage %d: %+v", path, is.Total,
				was.Total, is)
		}
	}
	return naming
}

// exportsComplete takes every export, and checks that it ends and names what it lacks.
func exportsComplete(t *testing.T, c *client, name string, id int64) {
	t.Helper()
	for path := range operationsOf(t, c) {
		if strings.Contains(path, "export") && !strings.Contains(path, "{") &&
			!strings.HasPrefix(path, "/api/") && path != "/system/setup-export" { // applying a file that lacks an object could delete it
			a := c.call("GET", path, "")
			if a.status != 200 {
				t.Errorf("GET %s: %d %s", path, a.status, a.raw)
			}
			of := map[string]string{"user": "/admin/list-export", "app_user": "/user/list-export"}[name]
			if want := fmt.Sprintf("(damaged: %s %d)", name, id); path == of != bytes.Contains(a.raw, []byte(want)) {
				t.Errorf("GET %s: %s, want %q only for %s", path, a.raw, want, name)
			}
		}
	}

	personComplete(t, c, "/admin/list/1/data", "")
	if name != "app_user" {
		personComplete(t, c, "/user/list/1/data", "")
	}
}

// personComplete downloads the data of a person and reads all of it. incomplete is what the list of
// files that lack something has.
func personComplete(t *testing.T, c *client, path, incomplete string) {
	t.Helper()
	a := c.call("GET", path, "")
	r, err := zip.NewReader(bytes.NewReader(a.raw), int64(len(a.raw)))
	if err != nil {
		t.Errorf("GET %s: %d %v", path, a.status, err)
		return
	}

	texts := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Errorf("GET %s: %s: %v", path, f.Name, err)
		}
		texts[f.Name] = string(text)
	}

	for _, name := range []string{"user.json", "sessions.json", "change-log.jsonl"} {
		if _, found := texts[name]; !found {
			t.Errorf("GET %s has %v", path, slices.Sorted(maps.Keys(texts)))
		}
	}

	if !strings.Contains(texts["incomplete.json"], incomplete) {
		t.Errorf("GET %s: what is incomplete is %q, want %q", path, texts["incomplete.json"],
			incomplete)
	}
}
