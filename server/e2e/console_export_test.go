package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// exportsList downloads the list of the page from its menu, and returns the rows with the header.
func (p *page) exportsList() [][]string {
	p.t.Helper()
	p.layoutMenu()
	p.appears(`[popover] [aria-label="Download as CSV"]:enabled`)
	name, content := p.download(func() { p.click("button", "Download as CSV") })
	text, marked := strings.CutPrefix(string(content), "\ufeff")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || !marked || !strings.HasSuffix(name, ".csv") || len(rows) < 2 {
		p.fatalf("%s has %q: %v", name, content, err)
	}
	p.press("Escape")
	return rows
}

// TestConsoleExport_EveryList downloads every list with the columns that its page shows.
func TestConsoleExport_EveryList(t *testing.T) {
	t.Parallel()
	server, c, _ := everyList(t)
	p := signedInAt(t, server, c, "/")
	p.width(1700)
	for path, header := range map[string]string{
		"/admin/list":          "username,nickname,dept_name,role_names,email,mobile,status,login_time,created_at",
		"/user/list":           "username,nickname,role_names,email,mobile,fields.employment,status,login_time,created_at",
		"/admin/invite":        "username,nickname,email,invited_by,expires_at,mail_state,mail_response",
		"/user/invite":         "username,nickname,email,invited_by,expires_at,mail_state,mail_response",
		"/admin/role":          "name,description,status,data_scope,rule_ids,user_count,updated_at",
		"/admin/key":           "name,hint,username,role_names,state,expires_at,last_used,last_ip,networks",
		"/file/list?view=list": "name,size,kind,group_id,public,uploader_name,created_at",
		"/file/group":          "name,file_count,sort,describe,updated_at",
		"/file/trash":          "name,size,uploader_name,trashed_at",
		"/system/session":      "username,browser,os,provider_name,ip,created_at,last_used,expires_at",
		"/system/loginlog":     "created_at,username,realm,result,count,provider_name,reason,ip,browser,os",
		"/system/job":          "kind,username,state,done,total,msg,created_at,ended_at",
		"/system/webhook":      "url,state,types,owner_name,last_at,last_status,behind,replaying",
		"/system/field":        "title,key,realm,type,self_access,backend_access,program_access,required,searchable,filterable,unique,listed,applied,deleted",
		"/account/keys":        "name,hint,role_names,state,expires_at,last_used,last_ip,networks",
		"/account/loginlog":    "created_at,username,realm,result,count,provider_name,reason,ip,browser,os",
	} {
		p.open(path)
		if rows := p.exportsList(); strings.Join(rows[0], ",") != header {
			t.Errorf("%s: %q", path, strings.Join(rows[0], ","))
		}
	}
	p.open("/system/audit")
	p.see("exported “Sessions”")
}

// TestConsoleExport_AsShown downloads a list as it is shown: chosen columns in their order, filters, search and order, all
// pages. The menu of users offers it only with the permission.
func TestConsoleExport_AsShown(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.importCSV("username,nickname", 1, 30, func(n int) string {
		return fmt.Sprintf("temp%02d,=1+1", n)
	})
	c.create("/admin/list", "username", "other", "password", password)
	p := signedInAt(t, server, c, "/admin/list?keywordSearch=temp&sorter=%7B%22username%22%3A%22descend%22%7D&page=2")
	p.width(1440)
	menu := p.layoutMenu()
	menu.find("button", "Download as CSV")
	menu.click("checkbox", "Contact")
	menu.click("checkbox", "Department and roles")
	menu.click("button", "Move up: Last sign-in")
	p.columns("User", "Last sign-in", "Enabled", "Actions")
	p.press("Escape")
	rows := p.exportsList()
	if got := strings.Join(rows[0], ","); len(rows) != 31 || got != "username,nickname,login_time,status" {
		t.Errorf("%d rows with %s", len(rows), got)
	}
	if got := strings.Join(rows[1], ","); got != "temp30,'=1+1,,1" {
		t.Errorf("the first one is %s", got)
	}
	p.layoutMenu()
	p.audit()
	name, content := p.download(func() { p.click("button", "Download as XLSX") })
	book, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil || !strings.HasSuffix(name, ".xlsx") {
		t.Fatalf("%s: %v", name, err)
	}
	sheet, err := fs.ReadFile(book, "xl/sheet.xml")
	if err != nil || strings.Count(string(sheet), "<row ") != 31 || !strings.Contains(string(sheet), ">=1+1<") {
		t.Errorf("%v: %.2000s", err, sheet)
	}
	p.press("Escape")
	p.width(390)
	p.layoutMenu().find("button", "Download as CSV")
	p.noSidewaysScroll()
	p.shoot("export-390")

	clerk := c.roleWith("Reader", "admin.list.query", "admin.role.query")
	c.create("/admin/list", "username", "reader", "role_ids", []int64{clerk}, "password", password)
	reader := signedInAt(t, server, signedInAs(t, server, "reader"), "/admin/list")
	reader.layoutMenu().find("button", "Reset")
	reader.missing("button", "Download as CSV")
	reader.open("/admin/role")
	reader.layoutMenu()
	reader.appears(`[popover] [aria-label="Download as CSV"]`)
}
