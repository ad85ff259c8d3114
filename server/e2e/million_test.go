package e2e

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"
)

// importUsers imports users first to last as one CSV file.
func (c *client) importUsers(first, last int) {
	c.t.Helper()
	c.importCSV("username,nickname,email,mobile,department", first, last, func(n int) string {
		return fmt.Sprintf("user%d,Person %d,person%d@example.org,+49 30 %07d,Department %d", n, n,
			n, n, n%100)
	})
}

// importCSV imports the rows first to last below a header.
func (c *client) importCSV(header string, first, last int, row func(n int) string) {
	c.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "users.csv")
	if err != nil {
		c.t.Fatal(err)
	}

	fmt.Fprintln(file, header)
	for n := first; n <= last; n++ {
		fmt.Fprintln(file, row(n))
	}

	form.Close()
	req, err := http.NewRequest("POST", c.base+"/admin/list-import", &body)
	if err != nil {
		c.t.Fatal(err)
	}

	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}

	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		c.t.Fatalf("import: %d %.300s, %v", resp.StatusCode, answer, err)
	}
}

// medianOf returns the median duration of several runs.
func medianOf(times int, do func()) time.Duration {
	all := make([]time.Duration, times)
	for i := range all {
		start := time.Now()
		do()
		all[i] = time.Since(start)
	}
	slices.Sort(all)
	return all[times/2]
}

// TestMillionUsers creates them through the interface, and logs how long operations take
// with them, compared with the empty database.
func TestMillionUsers(t *testing.T) {
	if os.Getenv("REEVE_TEST_LONG") != "1" {
		t.Skip("it takes minutes: REEVE_TEST_LONG=1")
	}

	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	for n := range 100 {
		c.want(200, "POST", "/admin/dept", object("name", fmt.Sprintf("Department %d", n)))
	}

	serial := 0
	measure := func(when string) {
		for name, do := range map[string]func(){
			"sign in": func() { c.signIn(password) }, // repeated sign-ins: the eleventh session ends the first
			"create": func() {
				serial++
				c.want(200, "POST", "/admin/list",
					object("username", fmt.Sprintf("made%d", serial), "password",
						"long enough for it"))
			},
			"list":                 func() { c.want(200, "GET", "/admin/list", "") },
			"list, page 100":       func() { c.want(200, "GET", "/admin/list?page=100", "") },
			"list of a department": func() { c.want(200, "GET", "/admin/list?dept_id=7", "") },
			"search for a rare name": func() {
				c.want(200, "GET", "/admin/list?keywordSearch=person+99999", "")
			},
			"search for a common name": func() {
				c.want(200, "GET", "/admin/list?keywordSearch=example", "")
			},
		} {
			t.Logf("%s: %-26s %s", when, name, medianOf(7, do))
		}
	}
	measure("empty")
	begun := time.Now()
	const all, chunk = 1_000_000, 10_000
	for first := 1; first <= all; first += chunk {
		c.importUsers(first, first+chunk-1)
	}

	t.Logf("import of %d users in files of %d: %s", all, chunk, time.Since(begun))
	p.stop()
	begun = time.Now()
	p = start(t, dir)
	t.Logf("start over a million users: %s", time.Since(begun))
	c = signedIn(t, p)
	time.Sleep(10 * time.Second) // the records are verified, and the search index catches up
	measure("a million")
	list := into[struct{ Total int }](t,
		c.want(200, "GET", "/admin/list?keywordSearch=example", ""))
	if list.Total != all {
		t.Errorf("%d users are found, want %d", list.Total, all)
	}
}
