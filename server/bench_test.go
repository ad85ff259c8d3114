package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// benchmark sends one request repeatedly through the handler, including authentication
// and the permission check of a user who is not an owner.
func benchmark(b *testing.B, url, permission string) {
	in := servertest.Start(b)
	in.Clerk("clerk", permission)
	handler, r := in.Server.Handler(), in.Request("GET", url, "", "clerk")
	w := &servertest.Discard{Head: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.Head)
		handler.ServeHTTP(w, r)
	}
	if w.Code != http.StatusOK || w.Bytes == 0 {
		b.Fatalf("%d with %d bytes", w.Code, w.Bytes)
	}
	b.SetBytes(int64(w.Bytes / b.N))
}

func BenchmarkParentTree(b *testing.B) { benchmark(b, "/admin/rule/parent", "admin.rule.query") }

func BenchmarkSettingList(b *testing.B) { benchmark(b, "/system/setting", "system.setting.query") }

// BenchmarkCreate creates departments and permissions, one request after another, among
// few and among many existing ones: both should cost about one commit.
func BenchmarkCreate(b *testing.B) {
	for _, there := range []int{100, 10_000} {
		for what, url := range map[string]string{"dept": "/admin/dept",
			"permission": "/admin/rule"} {
			for _, who := range []string{"owner", "clerk"} {
				b.Run(fmt.Sprintf("%s by %s beside %d", what, who, there), func(b *testing.B) {
					in := servertest.Start(b)
					in.Clerk("clerk", "admin.dept.create", "admin.rule.create")
					in.Update(func(tx *store.Tx) error { return crowd(tx, there) })
					handler, w, n := in.Server.Handler(), &servertest.Discard{Head: http.Header{}}, 0
					for b.Loop() {
						n++
						body := fmt.Sprintf(`{"name":"One more","parent_id":1%s}`,
							map[string]string{"permission": fmt.Sprintf(`,"type":1,"key":"more.p%d"`, n)}[what])
						clear(w.Head)
						handler.ServeHTTP(w, in.Request("POST", url, body, who))
					}
					if w.Code != http.StatusOK {
						b.Fatal(w.Code)
					}
				})
			}
		}
	}
}

// crowd creates that many departments, and as many permissions, a thousand below each
// parent.
func crowd(tx *store.Tx, n int) error {
	dept, rule := store.ID(0), store.ID(0)
	for i := range n {
		d := &store.Dept{Name: fmt.Sprint("Department ", i), ParentID: dept, Status: true}
		if err := store.Depts.Create(tx, d); err != nil {
			return err
		}

		p := &store.Permission{
			Key:      fmt.Sprint("many.p", i),
			Name:     fmt.Sprint("Permission ", i),
			Type:     store.PagePermission,
			ParentID: rule,
			Status:   true,
		}
		if err := store.Permissions.Create(tx, p); err != nil {
			return err
		}
		if i%1000 == 0 {
			dept, rule = d.ID, p.ID
		}
	}
	return nil
}

// BenchmarkSave saves a setting and a dictionary item, which should cost the same.
func BenchmarkSave(b *testing.B) {
	for what, c := range map[string]struct{ url, body string }{
		"setting":         {"/system/setting", `{"values":{"site.title":"%d"}}`},
		"dictionary item": {"/system/dict/1/item/1", `{"label":"%d"}`},
	} {
		b.Run(what, func(b *testing.B) {
			in := servertest.Start(b)
			in.Create("/system/dict", `{"code":"d","name":"D"}`)
			in.Create("/system/dict/1/item", `{"label":"L","value":"v"}`)
			handler, w, n := in.Server.Handler(), &servertest.Discard{Head: http.Header{}}, 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				clear(w.Head)
				handler.ServeHTTP(w, in.Request("PUT", c.url, fmt.Sprintf(c.body, n), "owner"))
			}
			if w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		})
	}
}

// BenchmarkFlag compares the evaluation of a flag by an API key with a small GET by the same key.
func BenchmarkFlag(b *testing.B) {
	in := servertest.Start(b)
	in.Flag(in.FlagGroup("open", true), "checkout",
		servertest.OnFor(`"attributes":{"country":["CH"]}`))
	role := in.Role("All", nil, "admin.dept.query")
	in.NewKey("key", "/admin/key",
		fmt.Sprintf(`{"name":"shop","role_ids":[%d],"rate_limit":100000000}`, role), "owner")
	handler, w := in.Server.Handler(), &servertest.Discard{Head: http.Header{}}
	for name, request := range map[string]func() *http.Request{
		"evaluate": func() *http.Request {
			return in.Request("POST", servertest.OneFlag+"open.checkout",
				`{"context":{"targetingKey":"user:1","country":"CH"}}`, "key")
		},
		"get": func() *http.Request { return in.Request("GET", "/admin/dept", "", "key") },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				clear(w.Head)
				handler.ServeHTTP(w, request())
			}
			if w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		})
	}
}

// BenchmarkCheck compares the check of a permission with a small read, both by an API key.
func BenchmarkCheck(b *testing.B) {
	in := servertest.Start(b)
	in.Clerk("clerk", "admin.dept.query")
	role := in.Role("All", nil, "admin.dept.query", "auth.check")
	in.NewKey("key", "/admin/key",
		fmt.Sprintf(`{"name":"shop","role_ids":[%d],"rate_limit":100000000}`, role), "owner")
	body := fmt.Sprintf(`{"token":%q,"permissions":["admin.dept.query"]}`, in.Tokens["clerk"])
	handler, w := in.Server.Handler(), &servertest.Discard{Head: http.Header{}}
	for name, request := range map[string]func() *http.Request{
		"check": func() *http.Request { return in.Request("POST", "/auth/check", body, "key") },
		"get":   func() *http.Request { return in.Request("GET", "/admin/dept", "", "key") },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				clear(w.Head)
				handler.ServeHTTP(w, request())
			}
			if w.Code != http.StatusOK {
				b.Fatal(w.Code)
			}
		})
	}
}
