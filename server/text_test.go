package server_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// Texts are compared as people read them, through the interface.
func TestTexts_ComparedAsRead(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/admin/list",
		`{"username":"kai","nickname":"Ju\u0308rgen Mu\u0308ller \u200b","email":"kai@exämple.org","password":"long enough it is"}`)
	in.Create("/admin/list",
		`{"username":"lea","nickname":"Straße","email":"lea@example.org","password":"Gr\u00fc\u00dfe aus K\u00f6ln 7"}`)
	in.Create("/admin/role", `{"name":"Caf\u00e9","data_scope":"all"}`)
	in.Create("/admin/role", `{"name":"Cafe b","data_scope":"all"}`)
	servertest.RunCases(t, in, []servertest.Case{
		{"the stored form", "GET", "/admin/list?username=KAI", "", "owner", 200,
			[]string{`"nickname":"Jürgen Müller"`}, nil},
		{"a role decomposed", "POST", "/admin/role", `{"name":"CAFE\u0301","data_scope":"all"}`,
			"owner", 409, []string{`"name":"is already used`}, nil},
		{"an address in Punycode", "PUT", "/admin/list/3", `{"email":"kai@xn--exmple-cua.org"}`,
			"owner", 409, []string{`"email":"is already used`}, nil},
		{"a name without a visible character", "POST", "/admin/role",
			`{"name":"\u200b\u3164\u2800","data_scope":"all"}`, "owner", 422, []string{`"name":`},
			nil},
		{"an invisible character", "PUT", "/admin/info", `{"nickname":"a\u00adb"}`, "owner", 422,
			[]string{`"nickname":"must not contain invisible characters"`}, nil},
		{"an invisible character in an address", "PUT", "/admin/list/3",
			`{"email":"lea\u200d@example.org"}`, "owner", 422, []string{`"email":`}, nil},
		{"characters that a script and emoji need", "PUT", "/admin/info",
			`{"nickname":"می\u200cخواهم 👩\u200d⚕\ufe0f"}`, "owner", 200, nil, nil},
		{"the decomposed password", "POST", "/admin/login",
			`{"username":"ｌｅａ","password":"Gru\u0308\u00dfe aus Ko\u0308ln 7"}`, "nobody", 200,
			nil, nil},
		{"roles in order", "GET",
			"/admin/role?keywordSearch=CAFE&sorter=" + url.QueryEscape(`{"name":"ascend"}`), "",
			"owner", 200, []string{`"total":2`, `Café","description":""`}, nil},
	})
	for search, want := range map[string]string{
		"muller":      `"username":"kai"`,
		"M\u00dcLLER": `"username":"kai"`,
		"strasse":     `"username":"lea"`,
		"ＬＥＡ":         `"username":"lea"`,
	} {
		a := in.OK("GET", "/admin/list?keywordSearch="+url.QueryEscape(search), "", "owner")
		if body := string(a.Body); !strings.Contains(body, want) ||
			!strings.Contains(body, `"total":1`) {
			t.Errorf("%q finds %s", search, body)
		}
	}
}

// Health lists records that read the same since an update.
func TestTextHealth_AfterUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.Open("../store/testdata/schema-19.tar.gz")
	servertest.Must(t, err)
	defer f.Close()
	packed, err := gzip.NewReader(f)
	servertest.Must(t, err)
	for files := tar.NewReader(packed); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		servertest.Must(t, err)
		if h.Typeflag == tar.TypeDir {
			continue
		}
		content, err := io.ReadAll(files)
		servertest.Must(t, err)
		servertest.Must(t, os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), content, 0o600))
	}

	db, err := store.Open(dir, store.Options{Version: "test"})
	servertest.Must(t, err)
	defer db.Close()
	s := &web.Server{DB: db}
	p := ops.TextHealth(s)
	if text := p.Message.String(); p.State != web.Degraded || p.Figures["clashes"] != 11 ||
		!strings.Contains(text, "user 1, 2 (email)") || strings.Contains(text, "@") {
		t.Errorf("%s: %s", p.State, text)
	}
}
