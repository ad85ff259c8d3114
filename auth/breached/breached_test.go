package breached

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hashOf returns the hash of a password in the form of the list.
func hashOf(password string) string { return fmt.Sprintf("%X", sha1.Sum([]byte(password))) }

// passwords returns n passwords, sorted by their hashes.
func passwords(n int) []string {
	byHash := map[string]string{}
	for i := range n {
		password := fmt.Sprintf("password %d", i)
		byHash[hashOf(password)] = password
	}
	all := make([]string, 0, n)
	for _, hash := range slices.Sorted(maps.Keys(byHash)) {
		all = append(all, byHash[hash])
	}
	return all
}

// write writes a file into a new directory.
func write(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pwnedpasswords.txt")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestLookup_EveryPosition finds the first hash of a file of every form, the last, and each one
// between them.
func TestLookup_EveryPosition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n          int
		count, end string
		cut        bool // the last line has no end
	}{
		"one line":                    {1, ":3", "\n", false},
		"one line without an end":     {1, ":3", "\n", true},
		"one line without a count":    {1, "", "\n", true},
		"two lines":                   {2, ":1", "\r\n", false},
		"a few lines":                 {50, ":123456789", "\r\n", false},
		"a few without a count":       {50, "", "\n", true},
		"about two blocks":            {190, ":1", "\n", false},
		"more than two blocks":        {200, ":1", "\n", true},
		"many":                        {5000, ":7", "\n", false},
		"many with CRLF":              {5000, ":52371", "\r\n", false},
		"many with CRLF, the end cut": {5000, ":52371", "\r\n", true},
		"many without a count":        {5000, "", "\n", false},
		"many without a count, CRLF":  {5000, "", "\r\n", true},
		"large counts":                {1000, ":9999999999999999999", "\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := passwords(2*c.n + 1) // every second one is in the file
			var text strings.Builder
			for i := 1; i < len(all); i += 2 {
				text.WriteString(hashOf(all[i]) + c.count + c.end)
			}

			content := text.String()
			if c.cut {
				content = strings.TrimSuffix(content, c.end)
			}

			list, err := Open(write(t, content))
			must(t, err)
			for i, password := range all {
				if leaked, err := list.Has(password); err != nil || leaked != (i%2 == 1) {
					t.Fatalf("%d of %d: %t, %v", i, len(all), leaked, err)
				}
			}
		})
	}
}

// TestLookup_BlockBorders: the first line is longer by each number of bytes of a line, so that
// blocks begin at each byte of a line.
func TestLookup_BlockBorders(t *testing.T) {
	t.Parallel()
	all := passwords(481)
	hashes := make([]string, len(all))
	for i, password := range all {
		hashes[i] = hashOf(password)
	}

	for shift := range 45 {
		var text strings.Builder
		for i := 1; i < len(all); i += 2 {
			count := ":1"
			if i == 1 || i == 3 || i == 5 {
				count = ":" + strings.Repeat("1", 1+min(max(0, shift-18*(i/2)), 18))
			}
			text.WriteString(hashes[i] + count + "\n")
		}
		for i, hash := range hashes {
			if leaked, err := look(t, text.String(), hash); err != nil || leaked != (i%2 == 1) {
				t.Fatalf("shifted by %d, %d: %t, %v", shift, i, leaked, err)
			}
		}
	}
}

// TestLookup_CountZero: lines with it only hide how many there are in a range.
func TestLookup_CountZero(t *testing.T) {
	t.Parallel()
	for count, want := range map[string]bool{
		":0":  false,
		":00": false,
		":1":  true,
		":10": true,
		":01": true,
		"":    true,
	} {
		list, err := Open(write(t, hashOf("password")+count+"\r\n"))
		must(t, err)
		if leaked, err := list.Has("password"); err != nil || leaked != want {
			t.Errorf("%q: %t, %v", count, leaked, err)
		}
	}
}

// TestLookup_KnownHash looks up a hash from the published list.
func TestLookup_KnownHash(t *testing.T) {
	t.Parallel()
	list, err := Open(write(t, "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:9545824\r\n"))
	must(t, err)
	for password, want := range map[string]bool{
		"password":  true,
		"Password":  false,
		"password ": false,
		"":          false,
	} {
		if leaked, err := list.Has(password); err != nil || leaked != want {
			t.Errorf("%q: %t, %v", password, leaked, err)
		}
	}
}

// TestDirectory_Ranges has files as the downloader writes them, with some lines of padding.
func TestDirectory_Ranges(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"", ".txt"} {
		t.Run("files "+ending, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("not a range"), 0o600))
			all := passwords(201)
			for i, password := range all {
				hash := hashOf(password)
				lines := []string{strings.Repeat("0", 35) + ":0", strings.Repeat("F", 35) + ":0"}
				for n := range 1000 {
					lines = append(lines, hashOf(fmt.Sprint("padding ", n))[5:]+":2")
				}
				if i%2 == 1 {
					lines = append(lines, hash[5:]+":4")
				}
				slices.Sort(lines)
				must(t,
					os.WriteFile(filepath.Join(dir, hash[:5]+ending),
						[]byte(strings.Join(lines, "\r\n")), 0o600))
			}

			list, err := Open(dir)
			must(t, err)
			for i, password := range all {
				if leaked, err := list.Has(password); err != nil || leaked != (i%2 == 1) {
					t.Errorf("%d: %t, %v", i, leaked, err)
				}
			}

			if _, err := list.Has("of a range that is missing"); err == nil ||
				!strings.Contains(err.Error(), dir+": the file of a range is missing") {
				t.Errorf("a missing range: %v", err)
			}
		})
	}
}

func TestOpen_Refusals(t *testing.T) {
	t.Parallel()
	all := passwords(5_000)
	var sortedByCount, joined strings.Builder
	for _, i := range []int{7, 3, 1, 9, 5} {
		sortedByCount.WriteString(hashOf(all[i]) + fmt.Sprintf(":%d\n", 10-i))
	}

	for _, odd := range []int{0, 1} { // two sorted lists, one after the other
		for i := odd; i < len(all); i += 2 {
			joined.WriteString(hashOf(all[i]) + ":1\n")
		}
	}

	hash := hashOf("password")
	for name, c := range map[string]struct{ text, want string }{
		"an empty file": {"", "it is empty"},
		"an empty line": {"\n", "form of a SHA-1 hash"},
		"a text":        {"hello", "form of a SHA-1 hash"},
		"NTLM": {"00000011059407D743D40689940F858C:6\r\n",
			"form of a SHA-1 hash"},
		"lower case":                {strings.ToLower(hash) + ":1\n", "form of a SHA-1 hash"},
		"a hash that is longer":     {hash + "0:1\n", "form of a SHA-1 hash"},
		"no number":                 {hash + ":x\n", "form of a SHA-1 hash"},
		"an empty count":            {hash + ":\n", "form of a SHA-1 hash"},
		"a negative count":          {hash + ":-1\n", "form of a SHA-1 hash"},
		"a count that is too long":  {hash + ":12345678901234567890\n", "form of a SHA-1 hash"},
		"a byte order mark":         {"\ufeff" + hash + ":1\n", "form of a SHA-1 hash"},
		"UTF-16":                    {"\xff\xfe5\x00B\x00A\x00A\x00", "form of a SHA-1 hash"},
		"a huge line":               {strings.Repeat("A", 1<<20), "form of a SHA-1 hash"},
		"zeros":                     {strings.Repeat("\x00", 1<<20), "form of a SHA-1 hash"},
		"line ends":                 {strings.Repeat("\n", 1<<20), "form of a SHA-1 hash"},
		"sorted by count":           {sortedByCount.String(), "not sorted"},
		"two lists, one by another": {joined.String(), "not sorted"},
	} {
		path := write(t, c.text)
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}

	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "0000G.txt"), []byte(hash), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "0000"), []byte(hash), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "00000.gz"), []byte(hash), 0o600))
	ranges := t.TempDir()
	must(t, os.WriteFile(filepath.Join(ranges, "5BAA6.txt"), []byte(hash+":1\n"), 0o600)) // with the whole hash
	folder := t.TempDir()
	must(t, os.Mkdir(filepath.Join(folder, "5BAA6.txt"), 0o700))
	for path, want := range map[string]string{
		filepath.Join(dir, "missing"): "no such file or directory", dir: "no file of a range",
		t.TempDir(): "no file of a range",
		ranges:      "form of a SHA-1 hash", folder: "not a file", os.DevNull: "not a file",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestFault_UnreadableList checks that each lookup fails, and that Fault reports the list until it
// is replaced. Errors reveal nothing about the hash.
func TestFault_UnreadableList(t *testing.T) {
	t.Parallel()
	all := passwords(1000)
	good := func() string {
		var text strings.Builder
		for _, password := range all {
			text.WriteString(hashOf(password) + ":1\n")
		}
		return text.String()
	}()
	path := write(t, good)
	list, err := Open(path)
	must(t, err)
	if since, err := list.Fault(); err != nil || !since.IsZero() {
		t.Errorf("a good one: %v %v", since, err)
	}

	middle := all[len(all)/2]
	damaged := strings.Replace(good, hashOf(middle), "x"+hashOf(middle)[1:], 1)
	for name, c := range map[string]struct {
		damage func()
		seen   bool // without a lookup, too
	}{
		"removed": {func() { must(t, os.Remove(path)) }, true},
		"emptied": {func() { must(t, os.WriteFile(path, nil, 0o600)) }, true},
		"of another form": {func() {
			must(t, os.WriteFile(path, []byte("hello"), 0o600))
		}, true},
		"damaged in its middle": {func() {
			must(t, os.WriteFile(path, []byte(damaged), 0o600))
		}, false},
		"replaced by directory": {func() {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o700))
		}, true},
		"unsorted in its middle": {func() {
			must(t, os.WriteFile(path, []byte(swapped(good, 500, 501)), 0o600))
		}, false},
	} {
		c.damage()
		if _, err := list.Fault(); (err != nil) != c.seen {
			t.Errorf("%s, before a lookup: %v", name, err)
		}

		_, err := list.Has(middle)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil &&
			(strings.Contains(err.Error(), hashOf(middle)[:5]) ||
				strings.ContainsAny(strings.ReplaceAll(strings.ReplaceAll(err.Error(), path, ""),
					"SHA-1", ""), "0123456789")) {
			t.Errorf("%s: the error tells where: %v", name, err)
		}
		if since, fault := list.Fault(); fault == nil ||
			!c.seen && (since.IsZero() || fault.Error() != err.Error()) {
			t.Errorf("%s, after a lookup: %v %v", name, since, fault)
		}

		must(t, os.RemoveAll(path))
		must(t, os.WriteFile(path+".new", []byte(good), 0o600))
		must(t, os.Rename(path+".new", path))
		must(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Second))) // whatever the resolution of the file system
		if _, err := list.Fault(); err != nil {
			t.Errorf("%s, replaced by a good one: %v", name, err)
		}
		if leaked, err := list.Has(middle); err != nil || !leaked {
			t.Errorf("%s, replaced by a good one: %t, %v", name, leaked, err)
		}
	}
}

// swapped returns a text with two of its lines in each other's place.
func swapped(text string, i, j int) string {
	lines := strings.SplitAfter(text, "\n")
	lines[i], lines[j] = lines[j], lines[i]
	return strings.Join(lines, "")
}

// TestFault_MissingRange checks that Fault reports a missing range until the directory changes.
func TestFault_MissingRange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t,
		os.WriteFile(filepath.Join(dir, "5BAA6"),
			[]byte("1E4C9B93F3F0682250B6CF8331B7EE68FD8:9545824"), 0o600))
	must(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)))
	list, err := Open(dir)
	must(t, err)
	if leaked, err := list.Has("password"); !leaked || err != nil {
		t.Errorf("%t, %v", leaked, err)
	}
	if _, err := list.Has("another"); err == nil ||
		strings.Contains(err.Error(), hashOf("another")[:5]) {
		t.Errorf("%v", err)
	}
	if since, err := list.Fault(); err == nil || since.IsZero() {
		t.Errorf("%v %v", since, err)
	}

	must(t,
		os.WriteFile(filepath.Join(dir, hashOf("another")[:5]+".txt"),
			[]byte(hashOf("other")[5:]+":1"), 0o600))
	if since, err := list.Fault(); err != nil {
		t.Errorf("after it was added: %v %v", since, err)
	}
	if leaked, err := list.Has("another"); leaked || err != nil {
		t.Errorf("%t, %v", leaked, err)
	}
}

// BenchmarkHas looks passwords up in a file of 100 MB. A list of 40 GB needs 9 more reads than the
// 15 here.
func BenchmarkHas(b *testing.B) {
	path := filepath.Join(b.TempDir(), "list")
	f, err := os.Create(path)
	must(b, err)
	var text bytes.Buffer
	const lines = 2_300_000
	for i := range uint64(lines) {
		fmt.Fprintf(&text, "%016X%024X:%d\r\n", i*(^uint64(0)/lines), i, 1+i%10)
		if text.Len() > 1<<20 {
			_, err := text.WriteTo(f)
			must(b, err)
		}
	}

	_, err = text.WriteTo(f)
	must(b, err)
	must(b, f.Close())
	list, err := Open(path)
	must(b, err)
	for i := 0; b.Loop(); i++ {
		if _, err := list.Has(fmt.Sprint(i)); err != nil {
			b.Fatal(err)
		}
	}
}
