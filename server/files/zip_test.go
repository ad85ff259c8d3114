package files_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// unzip returns the names and contents of an archive, in their order.
func unzip(t *testing.T, archive string) (names, contents []string) {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range z.File {
		r, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r) // checks the sum
		if err != nil {
			t.Fatal(err)
		}
		names, contents = append(names, entry.Name), append(contents, string(content))
	}
	return names, contents
}

func TestZip(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	large := pattern(2*chunk + 1000)
	in.Keep("owner", "a.txt", "first")
	in.Keep("owner", "A.txt", "second")
	in.Keep("owner", "报告.txt", large)
	in.Keep("owner", "a.txt", "third")
	a := in.OK("GET", "/file/list-zip?ids=1,2,3,4", "", "owner")
	names, contents := unzip(t, a.Body)
	if got := strings.Join(names, "|"); got != "a.txt|A (2).txt|报告.txt|a (3).txt" {
		t.Error(got)
	}
	if got := strings.Join(contents, "|"); got != "first|second|"+large+"|third" {
		t.Errorf("%d bytes of contents", len(got))
	}
	if h := a.Header; h.Get("Content-Type") != "application/zip" || !strings.Contains(h.Get("Content-Disposition"), "attachment") {
		t.Error(h)
	}

	in.OK("DELETE", "/file/list/2", "", "owner")
	in.Call("GET", "/file/list-zip?ids=1,2", "", "owner").Brief(404, "file 2 not found")
	in.Call("GET", "/file/list-zip", "", "owner").Names(400, "ids")
	in.Call("GET", "/file/list-zip?ids="+strings.Repeat("1,", 200)+"1", "", "owner").Names(400, "ids")
	in.Member("reader", 0, in.Role("Reader", nil, "file.list.download")) // with the data scope self
	in.Call("GET", "/file/list-zip?ids=1", "", "reader").Brief(404, "file 1 not found")
	in.Person("lister", "file.list.query")
	in.Call("GET", "/file/list-zip?ids=1", "", "lister").Brief(403)
}

// TestZip_Revoked checks that an archive ends when its reader loses the permission.
func TestZip_Revoked(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Person("reader", "file.list.query", "file.list.create", "file.list.download")
	large := pattern(3 << 20)
	for i := range 3 {
		in.Keep("reader", fmt.Sprintf("%d.txt", i), large)
	}
	archive, _, err := in.Download("/file/list-zip?ids=1,2,3", "reader", func() {
		in.SwitchPermission("file.list.download", "status", 0)
	})
	if _, opened := zip.NewReader(bytes.NewReader(archive), int64(len(archive))); err == nil || opened == nil {
		t.Errorf("%d bytes are a whole archive: %v", len(archive), err)
	}
}
