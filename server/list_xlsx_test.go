package server_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// sheetCell is a cell of a workbook: its type and its value.
type sheetCell struct {
	Type   string `xml:"t,attr"`
	Style  string `xml:"s,attr"`
	Value  string `xml:"v"`
	Inline string `xml:"is>t"`
}

// workbookRows returns the rows of the sheet of a workbook.
func workbookRows(t *testing.T, file string) (rows [][]sheetCell) {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(file), int64(len(file)))
	servertest.Must(t, err)
	for _, part := range z.File {
		r, err := part.Open()
		servertest.Must(t, err)
		content, err := io.ReadAll(r)
		servertest.Must(t, err)
		if strings.Contains(part.Name, "sheet.xml") {
			var sheet struct {
				Rows []struct {
					Cells []sheetCell `xml:"c"`
				} `xml:"sheetData>row"`
			}
			servertest.Must(t, xml.Unmarshal(content, &sheet))
			for _, row := range sheet.Rows {
				rows = append(rows, row.Cells)
			}
			continue
		}
		for d := xml.NewDecoder(bytes.NewReader(content)); ; { // it is XML at least
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", part.Name, err)
			}
		}
	}
	return rows
}

// TestListExport_Workbook exports a list as XLSX: numbers as numbers, texts as texts whatever they begin with.
func TestListExport_Workbook(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Dept("One", 0)
	role := in.Role("=Cmd|' /C calc'!A0", nil)
	other := in.Role(" a <b> & \"c\" _x0041_x0042_", nil)
	manyUsers(in, role, other)

	a := in.OK("GET", `/admin/list?format=xlsx&columns=nickname,id,dept_name,role_names,email_verified&keywordSearch=user&sorter={"username":"descend"}`, "", "owner")
	if media, name := a.Header.Get("Content-Type"), a.Header.Get("Content-Disposition"); media != web.XLSXMedia || !strings.HasSuffix(name, `.xlsx"`) {
		t.Errorf("%s, %s", media, name)
	}
	rows := workbookRows(t, a.Body)
	if len(rows) != 1235 {
		t.Fatalf("%d rows", len(rows))
	}
	if got, want := fmt.Sprint(rows[0]), "[{inlineStr 1  nickname} {inlineStr 1  id} {inlineStr 1  dept_name} {inlineStr 1  role_names} {inlineStr 1  email_verified}]"; got != want {
		t.Errorf("header %s, want %s", got, want)
	}
	id := rows[1][1]
	want := []sheetCell{{"inlineStr", "", "", "=1233"}, {"", "", id.Value, ""}, {"inlineStr", "", "", "One"},
		{"inlineStr", "", "", "=Cmd|' /C calc'!A0;  a <b> & \"c\" _x005F_x0041_x005F_x0042_"}, {"", "", "0", ""}}
	if fmt.Sprint(rows[1]) != fmt.Sprint(want) || id.Value == "" {
		t.Errorf("%v\nwant %v", rows[1], want)
	}

	for url, want := range map[string]string{
		"/admin/role?format=xlsx&separator=tab": "can only be used with format=csv",

		"/admin/role?format=xlsx&columns=name,name":     "must be different ones of",
		"/admin/role?format=csv&format=xlsx":            "",
		"/system/audit?format=xlsx":                     "unknown parameter",
		"/admin/role?columns=name":                      "format=xlsx",
		"/admin/role?format=xlsx&keywordSearch=a&nme=1": "unknown parameter",
	} {
		if a := in.Call("GET", url, "", "owner"); a.Code != 400 || !strings.Contains(a.Body, want) {
			t.Errorf("%s: %d %s", url, a.Code, a.Body)
		}
	}
	if rows := workbookRows(t, in.OK("GET", "/admin/list?format=xlsx&columns=id&keywordSearch=none", "", "owner").Body); len(rows) != 1 {
		t.Errorf("an empty list has %d rows", len(rows))
	}
}

// TestListExport_WorkbookRevoked withdraws the permission while a workbook is being sent: it is not complete then.
func TestListExport_WorkbookRevoked(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Dept("One", 0)
	in.Update(func(tx *store.Tx) error {
		for i := range 1600 {
			hash := sha256.Sum256([]byte{byte(i), byte(i >> 8)}) // does not compress, so that much is sent before the end
			u := &store.User{Username: fmt.Sprintf("user%05d", i), Nickname: fmt.Sprintf("%x", hash), Status: true}
			if err := store.Users.Create(tx, u); err != nil {
				return err
			}
		}
		return nil
	})
	exporter := in.Role("Exporter", func(r *store.Role) { r.DataScope = "all" }, "admin.list.query", "admin.list.export")
	in.Member("exporter", 1, exporter)
	file, _, err := in.Download("/admin/list?format=xlsx", "exporter", func() {
		in.SwitchPermission("admin.list.export", "status", 0)
	})
	if _, opened := zip.NewReader(bytes.NewReader(file), int64(len(file))); err == nil || opened == nil {
		t.Errorf("%d bytes are a whole file: %v", len(file), err)
	}
}
