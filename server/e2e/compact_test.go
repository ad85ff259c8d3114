package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompact_FreesSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	group := c.group("bulk")
	var ids []string
	for i := range 20 {
		ids = append(ids,
			fmt.Sprint(c.define(group, fmt.Sprint("bulk", i), "textarea",
				strings.Repeat("text ", 10_000))))
	}

	c.want(200, "PUT", "/system/setting", values("site.title", "kept"))
	for _, id := range ids {
		c.want(200, "DELETE", "/system/setting/"+id, "")
	}

	p.stop()
	size := func() int64 {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, "data.db"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before, there := size(), names(t, dir)
	r := run(t, "compact", "--data", dir)
	if r.code != 0 || !strings.Contains(r.out, "data.db: ") ||
		!strings.Contains(r.out, "files.db: ") || !strings.Contains(r.out, " MiB after\n") {
		t.Fatalf("%+v", r)
	}
	if after := size(); after > before*2/3 { // the deleted values are still in the change log
		t.Errorf("data.db had %d bytes and has %d", before, after)
	}
	if got := names(t, dir); fmt.Sprint(got) != fmt.Sprint(there) {
		t.Errorf("there is %v, there was %v", got, there)
	}

	sound(t, dir)
	p = start(t, dir)
	c.base = p.url
	if got := c.title(); got != "kept" { // the session has been kept, too
		t.Errorf("the title is %q", got)
	}

	p.stop()
}

func TestCompact_EmptyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sane(t, run(t, "compact", "--data", dir))
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("it has left %v", got)
	}
}
