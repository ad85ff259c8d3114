package settings_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/store"
)

// shelf returns an instance with settings of known order, which tests of the list name by
// key.
func shelf(t *testing.T) *servertest.Instance {
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	in.Create("/system/setting-group", `{"key":"h","title":"H"}`)
	for _, s := range []struct {
		key, title, describe, typ string
		group, sort               int
	}{
		{"apple", "Ä pple", "crisp % _ red", "input", 8, 3},
		{"banana", "Banana", "YELLOW fruit", "number", 8, 1},
		{"cherry", "apple pie", "with cherries", "input", 9, 2},
		{"damson", "Plum", "a b", "input", 8, 1},
		{"elder", "Elder", "line\ntwo", "switch", 9, 1},
	} {
		in.Create("/system/setting", string(servertest.EncodeJSON(t, openapi.Object{
			"key": s.key, "title": s.title, "describe": s.describe, "type": s.typ,
			"group_id": s.group, "sort": s.sort})))
	}

	return in
}

// keys returns the keys that a query finds among the settings of the groups g and h.
func keys(in *servertest.Instance, query url.Values) []string {
	in.T.Helper()
	query.Set("pageSize", "100")
	var p struct {
		Data []struct {
			Key     string
			GroupID int `json:"group_id"`
		}
		Total int
	}
	in.OK("GET", "/system/setting?"+query.Encode(), "", "owner").Data(&p)
	if p.Total != len(p.Data) {
		in.T.Errorf("%v: total %d of %d", query, p.Total, len(p.Data))
	}

	keys := []string{}
	for _, s := range p.Data {
		if s.GroupID > 7 {
			keys = append(keys, s.Key)
		}
	}

	return keys
}

func TestSettingList_SearchFilterSort(t *testing.T) {
	t.Parallel()
	in := shelf(t)
	q := func(pairs ...string) url.Values {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return v
	}
	for _, c := range []struct {
		name  string
		query url.Values
		want  string
	}{
		{"by sort, then id", q(), "banana damson elder cherry apple"},
		{"a part of the key", q("keywordSearch", "amso"), "damson"},
		{"a part of the title, in another case", q("keywordSearch", "APPLE"), "cherry apple"},
		{"a part of the description, in another case", q("keywordSearch", "yellow F"), "banana"},
		{"letters beyond ASCII, in another case", q("keywordSearch", "ä P"), "apple"},
		{"a per cent is no wildcard", q("keywordSearch", "%"), "apple"},
		{"an underline is no wildcard", q("keywordSearch", "% _"), "apple"},
		{"a star is no wildcard", q("keywordSearch", "*l"), ""},
		{"white space around it does not count", q("keywordSearch", "  plum  "), "damson"},
		{"nothing matches", q("keywordSearch", "zzz"), ""},
		{"not across two fields", q("keywordSearch", "banana banana"), ""},
		{"the values are not searched", q("keywordSearch", "Reeve"), ""},
		{"a NUL is in nothing", q("keywordSearch", "\x00"), ""},
		{"one group", q("group_id", "8"), "banana damson apple"},
		{"a group that is not there", q("group_id", "77"), ""},
		{"a group of none", q("group_id", "0"), ""},
		{"a type", q("filter", `{"type":["switch"]}`), "elder"},
		{"any of two types", q("filter", `{"type":["switch","number"]}`), "banana elder"},
		{"one type without an array", q("filter", `{"type":"number"}`), "banana"},
		{"a null filter counts as absent", q("filter", `{"type":null,"group_id":[]}`),
			"banana damson elder cherry apple"},
		{"a type that is none", q("filter", `{"type":["none"]}`), ""},
		{"groups by filter, text and number", q("filter", `{"group_id":["9",77]}`), "elder cherry"},
		{"two filters are ANDed", q("filter", `{"type":["input"],"group_id":[8]}`), "damson apple"},
		{"keyword, group and filter are ANDed",
			q("keywordSearch", "p", "group_id", "8", "filter", `{"type":["input"]}`),
			"damson apple"},
		{"by id", q("sorter", `{"id":"ascend"}`), "apple banana cherry damson elder"},
		{"by id, downwards", q("sorter", `{"id":"descend"}`), "elder damson cherry banana apple"},
		{"by title, without regard to case and marks", q("sorter", `{"title":"ascend"}`),
			"apple cherry banana elder damson"},
		{"by sort, downwards, ties by id", q("sorter", `{"sort":"descend"}`),
			"apple cherry banana damson elder"},
		{"by type, ties by id", q("sorter", `{"type":"ascend"}`),
			"apple cherry damson banana elder"},
		{"by type downwards, ties by id", q("sorter", `{"type":"descend"}`),
			"elder banana apple cherry damson"},
		{"by group, ties by id", q("sorter", `{"group_id":"ascend"}`),
			"apple banana damson cherry elder"},
		{"an empty sorter", q("sorter", `{}`), "banana damson elder cherry apple"},
		{"by created_at", q("sorter", `{"created_at":"descend"}`),
			"elder damson cherry banana apple"},
		{"sorted and searched", q("keywordSearch", "p", "sorter", `{"key":"descend"}`),
			"damson cherry apple"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(keys(in.In(t), c.query), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestSettingList_TimeRange(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	in.Create("/system/setting", `{"key":"only","title":"T","type":"input","group_id":8}`)
	var at store.Time
	in.View(func(tx *store.Tx) error {
		s, err := store.Settings.Get(tx, store.SettingCache.Get(tx).ID("g.only"))
		if err == nil {
			at = s.CreatedAt
		}
		return err
	})
	day := func(d int) string { return at.Std().AddDate(0, 0, d).Format("2006-01-02") }
	for _, c := range []struct {
		name, from, to string
		found          bool
	}{
		{"this very moment", at.String(), at.String(), true},
		{"ends a microsecond before", at.Add(-1e12).String(), (at - 1).String(), false},
		{"begins a microsecond after", (at + 1).String(), at.Add(1e12).String(), false},
		{"that day alone, to its end", day(0), day(0), true},
		{"the day before", day(-1), day(-1), false},
		{"the day after", day(1), day(1), false},
		{"the day before to that day", day(-1), day(0), true},
		{"without an end", day(0), "", true},
		{"without an end, from tomorrow", day(1), "", false},
		{"without a beginning", "", day(0), true},
		{"without a beginning, to yesterday", "", day(-1), false},
		{"the wrong way round", day(1), day(-1), false},
		{"in another zone", at.Std().Add(-1e9).Format("2006-01-02T15:04:05Z07:00"),
			at.Std().Add(3600e9).Format("2006-01-02T15:04:05") + "+00:00", true},
		{"a date and a moment", day(0), at.String(), true},
	} {
		for _, field := range []string{"created_at[]", "updated_at[]"} {
			query := url.Values{field: {c.from, c.to}, "pageSize": {"100"}}
			if got := keys(in, query); slices.Contains(got, "only") != c.found {
				t.Errorf("%s, %s: %q", c.name, field, got)
			}
		}
	}
}

func TestSettingGroupList_SearchFilterSort(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"zoo","title":"Apes","remark":"and other ANIMALS"}`)
	for query, want := range map[string]string{
		"":                      "site security app file monitor mail backup zoo",
		"keywordSearch=animals": "zoo",
		"keywordSearch=APP":     "app",
		"keywordSearch=zzz":     "",
		url.Values{"filter": {`{"public":["1"]}`}}.Encode():    "site",
		url.Values{"filter": {`{"public":[true,0]}`}}.Encode(): "site security app file monitor mail backup zoo",
		url.Values{"filter": {`{"public":[false]}`}}.Encode():  "security app file monitor mail backup zoo",
		url.Values{"sorter": {`{"key":"ascend"}`}}.Encode():    "app backup file mail monitor security site zoo",
		url.Values{"sorter": {`{"title":"ascend"}`}}.Encode():  "zoo app backup file mail monitor security site",
		url.Values{"sorter": {`{"id":"descend"}`}}.Encode():    "zoo backup mail monitor file app security site",
		"page=2&pageSize=5": "mail backup zoo",
	} {
		var p struct{ Data []struct{ Key string } }
		in.OK("GET", "/system/setting-group?"+query, "", "owner").Data(&p)
		keys := []string{}
		for _, g := range p.Data {
			keys = append(keys, g.Key)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestSettingList_FollowsWritesAtOnce reads after each acknowledged write.
func TestSettingList_FollowsWritesAtOnce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	for i := range servertest.Size(20, 200, 2000) {
		id := in.Create("/system/setting",
			fmt.Sprintf(`{"key":"k%d","title":"T","type":"input","group_id":8}`, i))
		in.OK("GET", "/system/setting?group_id=8", "", "owner").Brief(200,
			fmt.Sprintf(`"data":[{"id":%d,`, id))
		in.OK("PUT", fmt.Sprintf("/system/setting/%d", id), fmt.Sprintf(`{"values":"v%d"}`, i),
			"owner")
		in.OK("GET", "/system/setting-value", "", "owner").Brief(200,
			fmt.Sprintf(`"g":{"k%d":"v%[1]d"}`, i))
		in.OK("DELETE", fmt.Sprintf("/system/setting/%d", id), "", "owner")
		in.OK("GET", "/system/setting?group_id=8", "", "owner").Brief(200, `"data":[],"total":0`)
	}
}
