package server_test

import (
	"fmt"
	"net/url"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

func TestMalformedQueries(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var cases []servertest.Case
	add := func(name, query, field string) {
		cases = append(cases,
			servertest.Case{name, "GET", "/system/setting?" + query, "", "owner", 400,
				[]string{`"errorCode":"malformed"`, `"showType":1`, `"` + field + `":`}, nil})
	}

	q := func(name, value string) string { return name + "=" + url.QueryEscape(value) }
	for _, n := range []string{"0", "-1", "abc", "1.5", "1e3", "0x10", " 1", "1 2", "٣", "--1",
		"-0"} {
		add("page "+n, q("page", n), "page")
		add("pageSize "+n, q("pageSize", n), "pageSize")
		add("current "+n, q("current", n), "current")
	}

	for _, id := range []string{"abc", "1.5", "1,2", "99999999999999999999", "null", "true"} {
		add("group_id "+id, q("group_id", id), "group_id")
	}

	add("page and current at odds", "page=1&current=2", "current")
	add("page twice", "page=1&page=1", "page")
	add("a filter twice", q("filter", `{}`)+"&"+q("filter", `{}`), "filter")
	add("a keyword twice", "keywordSearch=a&keywordSearch=b", "keywordSearch")
	add("an unknown sort", q("sorter", `{"values":"ascend"}`), "sorter")
	add("a sort in another case", q("sorter", `{"Sort":"ascend"}`), "sorter")
	add("an unknown direction", q("sorter", `{"sort":"asc"}`), "sorter")
	add("a null direction", q("sorter", `{"sort":null}`), "sorter")
	add("two sorts", q("sorter", `{"sort":"ascend","id":"ascend"}`), "sorter")
	add("a sort that is a text", q("sorter", `sort`), "sorter")
	add("a sort that is an array", q("sorter", `["sort"]`), "sorter")
	add("a sort cut short", q("sorter", `{"sort":"ascend"`), "sorter")
	add("a sort and more", q("sorter", `{"sort":"ascend"} x`), "sorter")
	add("the same sort twice", q("sorter", `{"sort":"ascend","sort":"descend"}`), "sorter")
	add("an unknown filter", q("filter", `{"values":["1"]}`), "filter")
	add("an unknown filter that is null", q("filter", `{"nonsense":null}`), "filter")
	add("a filter cut short", q("filter", `{"type":["input"]`), "filter")
	add("a filter that is an array", q("filter", `[]`), "filter")
	add("a filter that is null", q("filter", `null`), "filter")
	add("a filter of objects", q("filter", `{"type":[{"a":1}]}`), "filter")
	add("a filter of nulls", q("filter", `{"type":[null]}`), "filter")
	add("a filter that is not a number", q("filter", `{"group_id":["abc"]}`), "filter")
	add("a filter with a fraction", q("filter", `{"group_id":[1.5]}`), "filter")
	add("a filter with a key twice", q("filter", `{"type":[],"type":["input"]}`), "filter")
	add("a range with one end", "created_at[]=2025-05-08", "created_at[]")
	add("a range with three ends",
		"created_at[]=2025-05-08&created_at[]=2025-05-09&created_at[]=2025-05-10", "created_at[]")
	add("a range without brackets", "created_at=2025-05-08", "created_at")
	add("a range of nonsense", "created_at[]=yesterday&created_at[]=today", "created_at[]")
	add("a day that is none", "created_at[]=2025-02-30&created_at[]=2025-03-01", "created_at[]")
	add("a range of a field without one", "sort[]=1&sort[]=2", "sort[]")
	add("a parameter of another list", "public=1", "public")
	add("a field that only sorts", "title=Title", "title")
	servertest.RunCases(t, in, cases)
	in.Call("GET",
		"/system/setting?"+q("sorter", "x")+"&page=0&pageSize=x&a=1&"+q("filter", "y")+"&group_id=z", "", "owner").
		Names(400, "sorter", "page", "pageSize", "a", "filter", "group_id")
}

func TestQuery_NotUTF8(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Call("GET", "/system/setting?keywordSearch=%ff%fe", "", "owner").Brief(400,
		`"errorCode":"malformed"`)
	in.Call("GET", "/system/setting?filter=%7B%22type%22%3A%5B%22%ff%22%5D%7D", "", "owner").Brief(400, `"errorCode":"malformed"`)
	in.Call("GET", "/system/setting?%ff=1", "", "owner").Brief(400, `"errorCode":"malformed"`)
}

func TestPagination_Limits(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	total := fmt.Sprintf(`"total":%d,`, len(store.Builtins))
	for query, want := range map[string]string{
		"":                                total + `"pageSize":10,"current":1}`,
		"page=&pageSize=&keywordSearch=":  total + `"pageSize":10,"current":1}`,
		"sorter=&filter=&group_id=":       total + `"pageSize":10,"current":1}`,
		"created_at[]=&created_at[]=":     total + `"pageSize":10,"current":1}`,
		"pageSize=1000000000":             total + `"pageSize":1000,"current":1}`,
		"pageSize=1001":                   total + `"pageSize":1000,"current":1}`,
		"pageSize=1000":                   total + `"pageSize":1000,"current":1}`,
		"pageSize=99999999999999999999":   total + `"pageSize":1000,"current":1}`,
		"pageSize=1":                      total + `"pageSize":1,"current":1}`,
		"current=3&pageSize=2":            total + `"pageSize":2,"current":3}`,
		"current=3&page=3&pageSize=2":     total + `"pageSize":2,"current":3}`,
		"page=50":                         `{"data":[],` + total + `"pageSize":10,"current":50}`,
		"page=2147483647&pageSize=1000":   `{"data":[],` + total + `"pageSize":1000,"current":2147483647}`,
		"page=1000000000000&pageSize=100": `{"data":[],` + total + `"pageSize":100,`,
	} {
		in.OK("GET", "/system/setting?"+query, "", "owner").Brief(200, want)
	}
}

func TestPagination_PagesCoverList(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	group := in.Create("/system/setting-group", `{"key":"many","title":"Many"}`)
	for i := range 25 {
		in.Create("/system/setting",
			fmt.Sprintf(`{"key":"k%d","title":"T","type":"input","group_id":%d,"sort":%d}`, i,
				group, i%3))
	}

	all := len(store.Builtins) + 25
	for _, size := range []int{1, 7, 25, all, 1000} {
		seen := map[uint64]bool{}
		for number := 1; ; number++ {
			var p struct {
				Data  []struct{ ID uint64 }
				Total int
			}
			in.OK("GET", fmt.Sprintf("/system/setting?page=%d&pageSize=%d", number, size), "",
				"owner").Data(&p)
			if p.Total != all || len(p.Data) > size {
				t.Fatalf("page %d of %d: %d records, total %d", number, size, len(p.Data), p.Total)
			}
			if len(p.Data) == 0 {
				break
			}

			for _, s := range p.Data {
				if seen[s.ID] {
					t.Errorf("pages of %d: setting %d is on two", size, s.ID)
				}
				seen[s.ID] = true
			}
		}
		if len(seen) != all {
			t.Errorf("pages of %d: %d settings, want %d", size, len(seen), all)
		}
	}
}
