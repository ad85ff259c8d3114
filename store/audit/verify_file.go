package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sort"

	"reeve/store/disk"
)

// maxLine is the maximum length of a line of an export in bytes.
const maxLine = 64 << 20

// VerifyFiles checks segments and exports, which together must have all entries from the first to
// the last; heads are known heads (see Verifier.Expect). It tells the two kinds apart by their
// content, and takes the files in the order of their first numbers.
func VerifyFiles(paths []string, heads []Head) (Result, error) {
	var v Verifier
	for _, h := range heads {
		v.Expect(h)
	}

	type file struct {
		path    string
		segment bool
		first   uint64
	}
	files := make([]file, len(paths))
	for i, path := range paths {
		segment, first, err := kindOf(path)
		if err != nil {
			return Result{}, err
		}
		files[i] = file{path, segment, first}
	}

	sort.SliceStable(files, func(i, j int) bool { return files[i].first < files[j].first })
	for _, f := range files {
		verify := verifyExport
		if f.segment {
			verify = VerifySegment
		}
		before := v.entries
		if err := verify(f.path, &v); err != nil {
			return v.Result(), err
		}
		if v.entries == before {
			return v.Result(), fmt.Errorf("%s has no entries, which proves nothing", f.path)
		}
	}

	v.source = ""
	return v.Result(), v.Finish()
}

// kindOf reports whether a file is a segment, and its first number; the highest number if it
// cannot be read, which is reported when the file is checked.
func kindOf(path string) (segment bool, first uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, 0, err
	}

	defer f.Close()
	if disk.IsDatabase(f) {
		m, _, err := peekMeta(path)
		if err != nil {
			return true, math.MaxUint64, nil
		}
		return true, m.First, nil
	}

	lines := lineScanner(f)
	lines.Scan()
	var link Link
	if json.Unmarshal(lines.Bytes(), &link) != nil {
		return false, math.MaxUint64, nil
	}

	return false, link.Seq, nil
}

func verifyExport(path string, v *Verifier) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	v.source = path
	return VerifyJSONLines(f, v)
}

// VerifyJSONLines feeds an export to v: one entry per line, exactly as it is stored. A line may
// have 64 MiB. Errors name the line. The caller calls v.Finish.
func VerifyJSONLines(r io.Reader, v *Verifier) error {
	lines, n := lineScanner(r), 1
	for ; lines.Scan(); n++ {
		where := fmt.Sprintf("line %d", n)
		if v.source != "" {
			where = v.source + ": " + where
		}
		if _, err := v.add(lines.Bytes(), 0, where); err != nil {
			return err
		}
	}

	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return v.fail(v.source, "line %d is longer than %d MiB", n, maxLine>>20)
	case err != nil:
		return fmt.Errorf("line %d: %w", n, err)
	}

	return nil
}

// lineScanner reads lines without changing them: bufio.ScanLines drops a carriage return, which
// is no part of a stored text.
func lineScanner(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine+1)
	lines.Split(func(data []byte, end bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		if end && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	})
	return lines
}
