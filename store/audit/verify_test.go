package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// export returns rows as lines.
func export(rows []Row) []byte {
	var b bytes.Buffer
	for _, row := range rows {
		b.Write(append(bytes.Clone(row.Text), '\n'))
	}
	return b.Bytes()
}

// verifyLines checks an export with known heads.
func verifyLines(b []byte, heads ...Head) error {
	var v Verifier
	for _, h := range heads {
		v.Expect(h)
	}
	if err := VerifyJSONLines(bytes.NewReader(b), &v); err != nil {
		return err
	}
	return v.Finish()
}

// headOf returns the head of a log that ends with a row.
func headOf(t testing.TB, row Row) Head {
	t.Helper()
	h, err := HeadOf(row.Text)
	must(t, err)
	return h
}

// altered returns rows with another text in one of them; its number is unchanged.
func altered(t testing.TB, rows []Row, i int) []Row {
	t.Helper()
	rows = slices.Clone(rows)
	text := bytes.Replace(rows[i].Text, []byte(`"title":"`), []byte(`"title":"altered `), 1)
	if bytes.Equal(text, rows[i].Text) {
		t.Fatalf("entry %d has no title", rows[i].Seq)
	}
	rows[i].Text = text
	return rows
}

// rechained computes all hashes from an index on again, as an attacker does.
func rechained(t testing.TB, rows []Row, from int) []Row {
	t.Helper()
	rows = slices.Clone(rows)
	for i := from; i < len(rows); i++ {
		e, err := rows[i].Decode()
		must(t, err)
		prev := fmt.Sprintf(`"prev":"%s"`, headOf(t, rows[i-1]).Hash)
		rows[i].Text = bytes.Replace(rows[i].Text, fmt.Appendf(nil, `"prev":"%s"`, e.Prev),
			[]byte(prev), 1)
	}
	return rows
}

func TestVerifier_NamesEntry(t *testing.T) {
	c := newChain().random(t, disktest.Random(t), 20, true)
	rows := c.rows
	with := func(i int, row Row) []Row { l := slices.Clone(rows); l[i] = row; return l }
	text := func(i int, old, new string) []Row {
		return with(i, Row{
			Seq:  rows[i].Seq,
			Text: bytes.Replace(rows[i].Text, []byte(old), []byte(new), 1),
		})
	}

	later := headOf(t, rows[14])
	later.Seq = 25
	for name, test := range map[string]struct {
		rows  []Row
		heads []Head
		want  string // "" for no error
	}{
		"intact": {rows, nil, ""},
		"intact, with heads": {rows,
			[]Head{c.head, headOf(t, rows[0]), headOf(t, rows[9])}, ""},
		"the head of an empty log":      {rows, []Head{{Generation: "g"}}, ""},
		"from 8 on":                     {rows[7:], []Head{c.head, headOf(t, rows[2])}, ""},
		"from 8 on, the head before it": {rows[7:], []Head{headOf(t, rows[6])}, ""},
		"from 8 on, another head before it": {rows[7:], []Head{{"g1", 7, Hash{1}}},
			"line 1: entry 8 expects the hash"},
		"no entries": {nil, nil, ""},
		"no entries, a known head": {nil, []Head{c.head},
			"entries 1 to 20 are missing: the log ends with entry 0, a known head is entry 20"},
		"the end is missing": {rows[:19], []Head{c.head},
			"entry 20 is missing: the log ends with entry 19"},
		"one is missing": {slices.Delete(slices.Clone(rows), 16, 17), nil,
			"line 17: entry 17 is missing"},
		"several are missing": {slices.Delete(slices.Clone(rows), 16, 19), nil,
			"line 17: entries 17 to 19 are missing"},
		"one twice": {slices.Insert(slices.Clone(rows), 17, rows[16]), nil,
			"line 18: entry 17 occurs twice"},
		"an earlier one again": {slices.Insert(slices.Clone(rows), 17, rows[4]), nil,
			"line 18: entry 5 is out of order: it follows entry 17"},
		"altered": {altered(t, rows, 16), nil,
			"line 17: entry 17 was altered (entry 18 expects the hash " + headOf(t, rows[16]).Hash.String()},
		"the first altered": {altered(t, rows, 0), nil,
			"line 1: entry 1 was altered (entry 2 expects"},
		"the last but one altered": {altered(t, rows, 18), nil,
			"line 19: entry 19 or entry 20 was altered"},
		"the last but one altered, a head": {altered(t, rows, 18), []Head{c.head},
			"line 19: entry 19 was altered (entry 20 expects"},
		"the last altered, no head": {altered(t, rows, 19), nil, ""},
		"the last altered, a head": {altered(t, rows, 19), []Head{c.head},
			"line 20: entry 20 or one before it was altered"},
		"prev altered": {text(16, `"prev":"`+rowPrev(t, rows[16])[:4],
			`"prev":"`+flipped(rowPrev(t, rows[16])[:4])), nil,
			"line 17: entry 17 was altered (entry 17 expects"},
		"prev of the last, the head before": {text(19, `"prev":"`+rowPrev(t, rows[19])[:4],
			`"prev":"`+flipped(rowPrev(t, rows[19])[:4])), []Head{headOf(t, rows[18])},
			"line 20: entry 20 was altered (entry 20 expects"},
		"prev of the first": {text(0, `"prev":"0`, `"prev":"1`), nil,
			"line 1: entry 1 was altered: it expects an entry before it"},
		"no number": {text(16, `"seq":17`, `"seq":0`), nil,
			"line 17: this is no entry: it has no number"},
		"another number": {text(16, `"seq":17`, `"seq":71`), nil,
			"line 17: entries 17 to 70 are missing"},
		"not JSON": {with(16, Row{Seq: 17, Text: []byte(`{"seq":17`)}),
			nil, "line 17: this is no entry: unexpected end"},
		"an empty line": {with(16, Row{Seq: 17, Text: nil}), nil,
			"line 17: this is no entry"},
		"lines of another system": {with(16, Row{
			Seq:  17,
			Text: append(bytes.Clone(rows[16].Text), '\r'),
		}), nil, "line 17: entry 17 was altered"},
		"all hashes computed again": {rechained(t, altered(t, rows, 9), 10), nil, ""},
		"all computed again, a head": {rechained(t, altered(t, rows, 9), 10),
			[]Head{headOf(t, rows[14])}, "line 15: entry 15 or one before it was altered"},
		"a head of another generation": {rows, []Head{{"other", 15, Hash{}}},
			"line 15: entry 15 is of the generation "},
		"a head without its generation": {rows, []Head{{"", 15, headOf(t, rows[14]).Hash}}, ""},
		"a head after the end":          {rows, []Head{later}, "entries 21 to 25 are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			err := verifyLines(export(test.rows), test.heads...)
			if test.want == "" && err != nil ||
				test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func rowPrev(t testing.TB, row Row) string {
	t.Helper()
	e, err := row.Decode()
	must(t, err)
	return e.Prev.String()
}

// flipped returns other hexadecimal digits.
func flipped(digits string) string {
	return strings.Map(func(r rune) rune {
		return rune("1032547698badcfe"[strings.IndexRune("0123456789abcdef", r)])
	}, digits)
}

func TestVerifier_KeepsError(t *testing.T) {
	rows := newChain().random(t, disktest.Random(t), 5, false).rows
	var v Verifier
	must(t, v.Add(rows[0]))
	first := v.Add(rows[2])
	disktest.Equal(t, "errors", []error{v.Add(rows[1]), v.Finish()}, []error{first, first})
	if first == nil {
		t.Error("a missing entry is no error")
	}
}

func TestVerify_LineLimit(t *testing.T) {
	r := disktest.Random(t)
	lines := export(newChain().random(t, r, 3, false).rows)
	long := append(bytes.Repeat([]byte(" "), maxLine+1), '\n')
	if err := verifyLines(slices.Concat(lines, long)); err == nil ||
		err.Error() != "line 4 is longer than 64 MiB" {
		t.Error(err)
	}
	c := newChain()
	c.add(t, Entry{Reason: strings.Repeat("x", 10<<20)})
	must(t, verifyLines(bytes.TrimSuffix(export(c.rows), []byte("\n")), c.head)) // a last line without its end
}

// tamper changes an export in a random way. lines are the lines that an error may name; nil if
// it may be any.
func tamper(r *rand.Rand, rows []Row) (what string, b []byte, lines []int) {
	n := len(rows)
	i, j := r.IntN(n), r.IntN(n)
	switch rows = slices.Clone(rows); r.IntN(5) {
	case 0:
		for i == j {
			j = r.IntN(n)
		}
		rows[i], rows[j] = rows[j], rows[i]
		return fmt.Sprintf("lines %d and %d swapped", i+1, j+1), export(rows), nil
	case 1:
		i = 1 + r.IntN(n-1) // without the first, it is a log that begins later
		return fmt.Sprintf("line %d deleted", i+1), export(slices.Delete(rows, i, i+1)), nil
	case 2:
		return fmt.Sprintf("line %d inserted before line %d", i+1, j+1), export(slices.Insert(rows,
			j, rows[i])), nil
	case 3:
		text := bytes.Replace(rows[i].Text, []byte(`"title":"`), []byte(`"title":"more `), 1)
		return fmt.Sprintf("line %d altered and inserted before line %d", i+1, j+1),
			export(slices.Insert(rows, j, Row{Text: text})), nil
	}

	b = export(rows)
	at := r.IntN(len(b) - 1) // the end of the last line means nothing
	old := b[at]
	for b[at] == old {
		b[at] = byte(r.IntN(256))
	}

	line := 1 + bytes.Count(export(rows)[:at], []byte("\n"))
	return fmt.Sprintf("byte %d in line %d: %q instead of %q", at, line, b[at], old), b,
		[]int{line, line + 1}
}

func TestVerify_TamperedExports(t *testing.T) {
	r := disktest.Random(t)
	c := newChain().random(t, r, 25, true)
	must(t, verifyLines(export(c.rows), c.head))
	for range disktest.Size(200, 1000, 5000) {
		what, b, lines := tamper(r, c.rows)
		err := verifyLines(b, c.head)
		if err == nil {
			t.Errorf("%s: not detected", what)
			continue
		}
		named := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(err.Error())
		if lines != nil &&
			(named == nil ||
				!slices.Contains([]string{fmt.Sprint(lines[0]), fmt.Sprint(lines[1])}, named[1])) {
			t.Errorf("%s: the error does not name the line: %v", what, err)
		}
	}
}

// TestVerify_TamperedSegments rewrites one of several segments as an attacker does, with
// checksums, indexes and description that fit.
func TestVerify_TamperedSegments(t *testing.T) {
	r, dir := disktest.Random(t), t.TempDir()
	c := newChain().random(t, r, 30, true)
	write(t, openLog(t, dir), c.rows, 10)
	intact := func() {
		_, err := VerifyFiles(segmentPaths(t, dir), []Head{c.head})
		must(t, err)
	}

	for range disktest.Size(60, 300, 1500) {
		part, i := r.IntN(3), r.IntN(10)
		rows := slices.Clone(c.rows[10*part : 10*part+10])
		what := ""
		switch r.IntN(5) {
		case 0:
			what, rows = "altered", altered(t, rows, i)
		case 1:
			what, rows = "altered, and hashes computed again", rechained(t, altered(t, rows, i),
				i+1)
		case 2:
			i = 1 + r.IntN(9)
			what, rows = "deleted", slices.Delete(rows, i, i+1)
		case 3:
			j := (i + 1 + r.IntN(9)) % 10
			what = fmt.Sprintf("texts swapped with %d", j)
			rows[i].Text, rows[j].Text = rows[j].Text, rows[i].Text
		case 4:
			what, rows = "end removed", rows[:9]
		}

		path := filepath.Join(dir, segmentName(c.rows[10*part].Seq))
		old := disktest.ReadFile(t, path)
		forge(t, path, rows)
		_, err := VerifyFiles(segmentPaths(t, dir), []Head{c.head})
		if err == nil {
			t.Errorf("segment %d, row %d %s: not detected", part, i, what)
		}

		disktest.WriteFile(t, path, old)
	}

	intact()
	path := filepath.Join(dir, segmentName(21))
	forge(t, path, c.rows[20:])
	intact() // so that the errors above are not those of forge itself
	t.Run("all segments computed again", func(t *testing.T) {
		rows := rechained(t, altered(t, c.rows, 4), 5)
		for part := range 3 {
			forge(t, filepath.Join(dir, segmentName(uint64(10*part+1))), rows[10*part:10*part+10])
		}

		if _, err := VerifyFiles(segmentPaths(t, dir), nil); err != nil {
			t.Errorf("without a known head: %v", err)
		}

		for _, known := range []int{4, 15, 29} {
			if _, err := VerifyFiles(segmentPaths(t, dir), []Head{headOf(t, c.rows[known])}); err == nil || !strings.Contains(err.Error(), "was altered") {
				t.Errorf("with the head %d: %v", known+1, err)
			}
		}

		if _, err := VerifyFiles(segmentPaths(t, dir), []Head{headOf(t, c.rows[3])}); err != nil {
			t.Errorf("with a head before: %v", err)
		}
	})
}

func TestVerify_FilesOfBothKinds(t *testing.T) {
	dir, c := t.TempDir(), newChain().random(t, disktest.Random(t), 30, true)
	first, err := WriteSegment(dir, values(c.rows[:10]), nil)
	must(t, err)
	last, err := WriteSegment(dir, values(c.rows[20:]), nil)
	must(t, err)
	lines := filepath.Join(dir, "a.db") // its name means nothing
	disktest.WriteFile(t, lines, export(c.rows[10:20]))
	result, err := VerifyFiles([]string{lines, last, first}, []Head{c.head})
	must(t, err)
	disktest.Equal(t, "result", result, Result{1, 30, c.head})
	for name, test := range map[string]struct {
		paths []string
		want  string
	}{
		"a file is missing": {[]string{first, last}, last + ": entries 11 to 20 are missing"},
		"a file twice": {[]string{first, lines, lines, last},
			lines + ": line 1: entry 11 is out of order"},
		"the last is missing":     {[]string{first, lines}, "entries 21 to 30 are missing"},
		"a file that is not here": {[]string{first, filepath.Join(dir, "none")}, "open "},
	} {
		if _, err := VerifyFiles(test.paths, []Head{c.head}); err == nil ||
			!strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}

	disktest.WriteFile(t, lines, export(altered(t, c.rows[10:20], 9)))
	if _, err := VerifyFiles([]string{first, lines, last}, nil); err == nil ||
		!strings.HasPrefix(err.Error(), lines+": line 10: entry 20 was altered") {
		t.Errorf("the last entry of a file altered: %v", err)
	}

	disktest.WriteFile(t, lines, []byte("hello\n"))
	if _, err := VerifyFiles([]string{lines, first}, nil); err == nil ||
		!strings.HasPrefix(err.Error(), lines+": line 1: this is no entry") {
		t.Errorf("a file of something else: %v", err)
	}
}

// TestVerify_SegmentMetadata changes what is not an entry, with checksums that fit.
func TestVerify_SegmentMetadata(t *testing.T) {
	c := newChain()
	for i := range 5 {
		c.at = c.at.Add(time.Duration(i%2) * time.Microsecond)
		c.add(t, Entry{
			Actor:   Actor{Kind: "user", ID: uint64(i)},
			Changes: []Change{{Collection: "dict", ID: 1}},
		})
	}

	user, dict := []byte(ByActor("user", 3)), []byte(ByRecord("dict", 1))
	times := func(first int64, differences ...int64) []byte {
		b := binary.AppendUvarint(nil, uint64(c.times[0]+first))
		for _, d := range differences {
			b = binary.AppendVarint(b, d)
		}
		return b
	}
	for name, test := range map[string]struct {
		change func(b *testSegment)
		want   string
	}{
		"a term is missing": {func(b *testSegment) {
			b.delete(termBucket, user)
		}, "there are 7 terms instead of 8"},
		"another term": {func(b *testSegment) {
			b.delete(termBucket, user)
			b.put(termBucket, []byte("z"), []byte{3})
		}, `term "actor user:3" is missing`},
		"another term before": {func(b *testSegment) {
			b.delete(termBucket, dict)
			b.put(termBucket, []byte("a"), []byte{3})
		}, `no entry has the term "a"`},
		"a term too many": {func(b *testSegment) {
			b.put(termBucket, []byte("z"), []byte{3})
		}, "there are 9 terms instead of 8"},
		"an entry of a term is missing": {func(b *testSegment) {
			b.put(termBucket, dict, []byte{0, 1, 1, 1})
		}, `term "record dict:1" has other entries`},
		"an entry of a term too many": {func(b *testSegment) {
			b.put(termBucket, user, []byte{3, 1})
		}, `term "actor user:3" has other entries`},
		"an entry of a term is not there": {func(b *testSegment) {
			b.put(termBucket, user, []byte{5})
		}, `term "actor user:3": its positions are not valid`},
		"an entry of a term twice": {func(b *testSegment) {
			b.put(termBucket, user, []byte{3, 0})
		}, `term "actor user:3": its positions are not valid`},
		"an entry of a term, cut off": {func(b *testSegment) {
			b.put(termBucket, user, []byte{0x83})
		}, `term "actor user:3": its positions are not valid`},
		"a term without entries": {func(b *testSegment) {
			b.put(termBucket, user, nil)
		}, `term "actor user:3": its positions are not valid`},
		"a checksum of a term": {func(b *testSegment) {
			b.raw(termBucket, user, []byte("wrong"))
		}, `term "actor user:3": `},
		"other times": {func(b *testSegment) {
			b.put(timeBucket, dataKey, times(0, 2, -1, 0, -1))
		}, "its times are not those"},
		"a time below and a time above": {func(b *testSegment) {
			b.put(timeBucket, dataKey, times(-1, 2, -1, 0, 0))
		}, "the times are "},
		"a time is missing": {func(b *testSegment) {
			b.put(timeBucket, dataKey, times(0, 0, 0, 0))
		}, "time 5 is missing"},
		"a time too many": {func(b *testSegment) {
			b.put(timeBucket, dataKey, times(0, 0, 0, 0, 0, 0))
		}, "there are more than 5 times"},
		"a bucket too many": {func(b *testSegment) {
			b.bucket("other")
		}, `bucket "other" does not belong there`},
		"a bucket is missing": {func(b *testSegment) {
			b.drop(timeBucket)
		}, "bucket time is missing"},
		"the terms are missing": {func(b *testSegment) {
			b.drop(termBucket)
		}, "bucket term is missing"},
		"a checkpoint of other length": {func(b *testSegment) {
			b.put(checkpointBucket, dataKey, []byte("x"))
		}, "the checkpoint: it has 1 bytes"},
		"a checkpoint is missing": {func(b *testSegment) {
			b.drop(checkpointBucket)
		}, "the checkpoint is missing"},
		"another number of denied ones": {func(b *testSegment) {
			b.meta(func(m *meta) { m.Denials++ })
		}, "its description does not match"},
		"another time": {func(b *testSegment) {
			b.meta(func(m *meta) { m.To++ })
		}, "its description does not match"},
		"another head": {func(b *testSegment) {
			b.meta(func(m *meta) { m.Head.Hash[0]++ })
		}, "its description does not match"},
		"a newer program": {func(b *testSegment) {
			b.meta(func(m *meta) { m.Format++ })
		}, "it was written by a newer program"},
		"other numbers": {func(b *testSegment) {
			b.meta(func(m *meta) { m.Entries++ })
		}, "its description is inconsistent"},
		"nothing": {func(*testSegment) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := WriteSegment(t.TempDir(), values(c.rows), []byte("checkpoint"))
			must(t, err)
			changeSegment(t, path, test.change)
			var v Verifier
			err = VerifySegment(path, &v)
			if test.want == "" {
				must(t, errors.Join(err, v.Finish()))
			} else if err == nil ||
				!strings.HasPrefix(err.Error(), path+" is damaged: "+test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
