package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// salvageTruth is the content of a sound data directory and its locations.
type salvageTruth struct {
	dir     string
	records map[string][]byte       // stored values, by noun and ID
	pages   map[string][]int64      // pages of data.db with the record
	blobs   map[blob.Digest][]int64 // pages of files.db with the content
	files   map[string]blob.Digest  // digests in records, by noun and ID
}

// pagesOf returns the numbers of a page and its overflow pages.
func (p *loosePages) pagesOf(t testing.TB, id int64) (ids []int64) {
	t.Helper()
	page, err := p.page(id)
	noErr(t, err)
	for i := range int64(binary.LittleEndian.Uint32(page[12:])) + 1 {
		ids = append(ids, id+i)
	}
	return ids
}

// salvageFrom creates a data directory with a history of changes.
func salvageFrom(t *testing.T) *salvageTruth {
	t.Helper()
	truth := &salvageTruth{
		dir:     t.TempDir(),
		records: map[string][]byte{},
		pages:   map[string][]int64{},
		blobs:   map[blob.Digest][]int64{},
		files:   map[string]blob.Digest{},
	}
	realistic(t, truth.dir)
	db := open(t, truth.dir, Options{Schema: &office})
	for i, n := range []int{1, 100, 5000, 30_000, blob.ChunkSize - 1, blob.ChunkSize,
		2*blob.ChunkSize + 10, 0, 700} {
		f := mustPut(t, db, fmt.Sprint("file ", i), randomData(t, n))
		if i%4 == 3 {
			update(t, db, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
			swept(t, db, f.Digest) // a remaining blob would be counted but not copied
		}
	}

	update(t, db, func(tx *Tx) error {
		_, err := Users.Update(tx, 3, func(u *User) error { u.Nickname = "last"; return nil })
		return err
	})
	for _, f := range allOf(t, db, Files) {
		truth.files[fmt.Sprint("file ", f.ID)] = f.Digest
	}

	shut(t, db)
	truth.read(t)
	return truth
}

func (truth *salvageTruth) read(t *testing.T) {
	t.Helper()
	pages, buckets := looseTree(t, filepath.Join(truth.dir, dataName))
	defer pages.f.Close()
	sound := func(keyRange, error) { t.Error("the original has a hole") }
	for _, table := range office.Tables {
		item := buckets[table.Name()]
		pages.bucket(item, func(e leafItem) {
			name := fmt.Sprint(table.Noun(), " ", binary.BigEndian.Uint64(e.key))
			truth.records[name] = slices.Clone(e.value)
			at := e.page
			if binary.LittleEndian.Uint64(item.value) == 0 {
				at = item.page
			}
			truth.pages[name] = pages.pagesOf(t, at)
		}, sound)
	}

	files, buckets := looseTree(t, filepath.Join(truth.dir, blob.FileName))
	defer files.f.Close()
	places := map[uint64][]int64{}
	files.bucket(buckets[blob.ChunkBucket], func(e leafItem) {
		place, at := binary.BigEndian.Uint64(e.key), e.page
		if root := binary.LittleEndian.Uint64(e.value); root != 0 {
			at = int64(root)
		}
		places[place] = append(places[place], files.pagesOf(t, at)...)
	}, sound)
	files.bucket(buckets[blob.Bucket], func(e leafItem) {
		entry, err := blob.DecodeEntry(e.key, e.value)
		noErr(t, err)
		truth.blobs[blob.Digest(e.key)] = places[entry.Place]
		if entry.Size == 0 { // an empty file has no chunks, only an entry
			truth.blobs[blob.Digest(e.key)] = []int64{max(e.page, buckets[blob.Bucket].page)}
		}
	}, sound)
}

func looseTree(t *testing.T, path string) (*loosePages, map[string]leafItem) {
	t.Helper()
	pages, roots, err := openLoose(path, 0)
	noErr(t, err)
	buckets := map[string]leafItem{}
	pages.tree(int64(roots[0].Root), keyRange{}, 0, func(e leafItem) {
		buckets[string(e.key)] = e
	}, func(keyRange, error) { t.Error("the root has a hole") })
	return pages, buckets
}

// salvaged damages pages of one file in a copy of the directory, salvages the copy and compares
// the result.
func (truth *salvageTruth) salvaged(t *testing.T, what, file string, pageSize int, damaged []int64,
	harm func(b []byte)) *Salvaged {
	t.Helper()
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
	defer os.RemoveAll(dir)
	defer os.RemoveAll(to)
	for _, name := range []string{dataName, blob.FileName, keyName, markerName, markName} {
		b := disktest.ReadFile(t, filepath.Join(truth.dir, name))
		if name == file {
			harm(b)
		}
		disktest.WriteFile(t, filepath.Join(dir, name), b)
	}

	before := disktest.Snapshot(t, dir)
	report, err := Salvage(dir, to, Options{Schema: &office})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}

	after := disktest.Snapshot(t, dir)
	delete(after, lockName)
	sameFiles(t, after, before)
	verified, err := VerifyDir(to, Options{Schema: &office})
	if err != nil || len(verified.Faults) > 0 || verified.Records != report.Records {
		t.Fatalf("%s: verify: %+v, %v", what, verified, err)
	}

	truth.compare(t, what, file, to, report, damaged)
	return report
}

func (truth *salvageTruth) compare(t *testing.T, what, file, to string, report *Salvaged,
	damaged []int64) {
	t.Helper()
	hit := func(pages []int64) bool {
		return slices.ContainsFunc(pages, func(p int64) bool { return slices.Contains(damaged, p) })
	}

	listed := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(line string) bool {
			return line == name || strings.HasPrefix(line, name+":") ||
				strings.HasPrefix(line, name+" ")
		})
	}

	pages, buckets := looseTree(t, filepath.Join(to, dataName))
	defer pages.f.Close()
	got := map[string][]byte{}
	for _, table := range office.Tables {
		pages.bucket(buckets[table.Name()], func(e leafItem) {
			got[fmt.Sprint(table.Noun(), " ", binary.BigEndian.Uint64(e.key))] = slices.Clone(e.value)
		}, func(keyRange, error) { t.Errorf("%s: the copy has a hole", what) })
	}

	for name, value := range truth.records {
		copied, there := got[name]
		lostBytes := file == blob.FileName && hit(truth.blobs[truth.files[name]])
		owned := slices.ContainsFunc(report.Lost, func(line string) bool {
			return strings.HasPrefix(line, name+": its ") && strings.HasSuffix(line, "is lost")
		})
		switch {
		case there &&
			(bytes.Equal(copied, value) || listed(report.Outside, name) ||
				listed(report.Changed, name)):
		case there && name == "install 1" && hit(truth.pages[name]) && listed(report.Lost, "every password"): // created again
		case there:
			t.Errorf("%s: %s is another: %s, was %s", what, name, copied, value)
		case file == dataName && hit(truth.pages[name]), lostBytes, owned:
			if !listed(report.Lost, name) && !slices.ContainsFunc(report.Lost, func(l string) bool {
				return strings.Contains(l, "more")
			}) {
				t.Errorf("%s: %s is lost and not listed: %q", what, name, report.Lost)
			}
		default:
			t.Errorf("%s: %s, on the pages %v, is lost: %q", what, name, truth.pages[name],
				report.Lost)
		}
	}

	for name := range got {
		if _, was := truth.records[name]; !was && !listed(report.Outside, name) &&
			!slices.ContainsFunc(report.Changed, func(line string) bool {
				return strings.Contains(line, "is made")
			}) {
			t.Errorf("%s: %s is back", what, name)
		}
	}
}

func TestSalvage_SoundData(t *testing.T) {
	truth := salvageFrom(t)
	report := truth.salvaged(t, "nothing", "", 0, nil, nil)
	if len(report.Lost)+len(report.Outside)+len(report.Changed) > 0 ||
		report.Records != len(truth.records) || report.Blobs != len(truth.blobs) {
		t.Errorf("%+v, want %d records, %d files", report, len(truth.records), len(truth.blobs))
	}
}

// Whatever pages are damaged, everything on other pages is copied.
func TestSalvage_DamagedPages(t *testing.T) {
	truth, r := salvageFrom(t), disktest.Random(t)
	outcomes := map[string]int{}
	for i := range disktest.Size(40, 80, 3000) {
		file, pageSize := dataName, os.Getpagesize()
		if i%4 == 3 {
			file, pageSize = blob.FileName, blob.PageSize
		}

		n := len(disktest.ReadFile(t, filepath.Join(truth.dir, file)))
		page := r.IntN(n / pageSize)
		what, harm := randomHarm(r)
		report := truth.salvaged(t, fmt.Sprintf("%s, page %d, %s", file, page, what), file,
			pageSize, []int64{int64(page)}, func(b []byte) {
				harm(b[page*pageSize:][:pageSize])
			})
		switch {
		case len(report.Lost) > 0:
			outcomes["lost"]++
		case len(report.Outside) > 0:
			outcomes["found"]++
		default:
			outcomes["whole"]++
		}
	}

	t.Logf("%v", outcomes)
	if outcomes["lost"] == 0 || outcomes["whole"] == 0 {
		t.Errorf("the damage hits nothing, or everything: %v", outcomes)
	}
}

// A branch page with a flipped bit in its header or a child pointer may look sound, and lead to
// an older version of a page or leave out pages.
func TestSalvage_DamagedBranch(t *testing.T) {
	truth, r := salvageFrom(t), disktest.Random(t)
	pageSize := os.Getpagesize()
	data := disktest.ReadFile(t, filepath.Join(truth.dir, dataName))
	type place struct{ page, bytes int }
	var branches []place
	for page := 2; page < len(data)/pageSize; page++ {
		if id, flags, count := head(data[page*pageSize:]); id == int64(page) &&
			flags == disk.BranchPage {
			branches = append(branches, place{page, disk.PageHead + count*disk.BranchElem})
		}
	}

	for i := range disktest.Size(20, 40, 2000) {
		at := branches[r.IntN(len(branches))]
		bit := r.IntN(8 * at.bytes)
		if i%2 == 0 { // a low bit of a child pointer, the second half of an element
			element := r.IntN((at.bytes - disk.PageHead) / disk.BranchElem)
			bit = 8*(disk.PageHead+element*disk.BranchElem+8) + r.IntN(8)
		}
		truth.salvaged(t, fmt.Sprintf("page %d, bit %d", at.page, bit), dataName, pageSize,
			[]int64{int64(at.page)}, func(b []byte) {
				b[at.page*pageSize+bit/8] ^= 1 << (bit % 8)
			})
	}
}

// A page whose element count is too low by one looks sound. The missing record is reported as
// lost, even if a deleted record found elsewhere makes the number of records match.
func TestSalvage_PageLacksElement(t *testing.T) {
	pageSize := os.Getpagesize()
	for range disktest.Size(1, 3, 50) {
		truth := salvageFrom(t)
		pages := map[int64]bool{}
		for _, table := range []Table{Users, Sessions} {
			for name := range truth.records {
				if strings.HasPrefix(name, table.Noun()+" ") {
					pages[truth.pages[name][0]] = true
				}
			}
		}

		for page := range pages {
			truth.salvaged(t, fmt.Sprintf("page %d", page), dataName, pageSize, []int64{page},
				func(b []byte) {
					count := b[int(page)*pageSize+10:]
					binary.LittleEndian.PutUint16(count, binary.LittleEndian.Uint16(count)-1)
				})
		}
	}
}

// The checksum of a record covers its key, so a record whose key has one wrong byte is found again.
func TestSalvage_RepairsKey(t *testing.T) {
	truth, r := salvageFrom(t), disktest.Random(t)
	pageSize := os.Getpagesize()
	data := disktest.ReadFile(t, filepath.Join(truth.dir, dataName))
	names := slices.Sorted(maps.Keys(truth.records))
	for range disktest.Size(5, 20, 1000) {
		name := names[r.IntN(len(names))]
		_, number, _ := strings.Cut(name, " ")
		id, err := strconv.ParseUint(number, 10, 64)
		noErr(t, err)
		page := truth.pages[name][0]
		stored := append(binary.BigEndian.AppendUint64(nil, id), truth.records[name]...)
		at := bytes.Index(data[page*int64(pageSize):], stored)
		if at < 0 {
			t.Fatalf("%s is not on page %d", name, page)
		}

		at += int(page)*pageSize + r.IntN(8)
		report := truth.salvaged(t, name+" has a damaged key", dataName, pageSize, []int64{page},
			func(b []byte) {
				b[at] ^= byte(1 + r.IntN(255))
			})
		repaired := slices.Contains(report.Outside, name) ||
			strings.Contains(strings.Join(report.Changed, "\n"), name+" has its ID again")
		if len(report.Lost) > 0 || !repaired {
			t.Errorf("%s: lost %q, outside %q, changed %q", name, report.Lost, report.Outside,
				report.Changed)
		}
	}
}

func randomHarm(r *rand.Rand) (what string, harm func(b []byte)) {
	seed := r.Uint64()
	noise := rand.New(rand.NewPCG(seed, 1))
	switch r.IntN(4) {
	case 0:
		return "zeroed", func(b []byte) { clear(b) }
	case 1:
		return "noise", func(b []byte) {
			for i := range b {
				b[i] = byte(noise.Uint32())
			}
		}
	case 2:
		return "a byte of its first 64", func(b []byte) { b[noise.IntN(64)] ^= 1 << noise.IntN(8) }
	}

	return "a byte", func(b []byte) { b[noise.IntN(len(b))] ^= byte(1 + noise.IntN(255)) }
}

// A salvaged database can be opened and used, and its sessions have ended.
func TestSalvage_ResultIsUsable(t *testing.T) {
	truth := salvageFrom(t)
	for name, test := range map[string]struct {
		file string
		harm func(t *testing.T, b []byte)
	}{
		"both meta pages are lost": {dataName, func(_ *testing.T, b []byte) {
			clear(b[:2*os.Getpagesize()])
		}},
		"every second page is lost": {dataName, func(_ *testing.T, b []byte) {
			for i := 2; i*os.Getpagesize() < len(b); i += 2 {
				clear(b[i*os.Getpagesize():][:os.Getpagesize()])
			}
		}},
		"nothing is left": {dataName, func(_ *testing.T, b []byte) { clear(b) }},
		"the file is cut in half": {dataName, func(_ *testing.T, b []byte) {
			clear(b[len(b)/2:])
		}},
		"no files are left": {blob.FileName, func(_ *testing.T, b []byte) { clear(b) }},
		"files without their indexes": {blob.FileName, func(_ *testing.T, b []byte) {
			clear(b[:2*blob.PageSize])
		}},
		"the key is broken": {keyName, func(_ *testing.T, b []byte) { b[0] = 'x' }},
	} {
		t.Run(name, func(t *testing.T) {
			dir, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
			for _, name := range []string{dataName, blob.FileName, keyName, markerName, markName} {
				b := disktest.ReadFile(t, filepath.Join(truth.dir, name))
				if name == test.file {
					test.harm(t, b)
				}
				disktest.WriteFile(t, filepath.Join(dir, name), b)
			}

			report, err := Salvage(dir, to, Options{Schema: &office})
			noErr(t, err)
			db := open(t, to, Options{Schema: &office})
			disktest.Equal(t, "sessions", len(allOf(t, db, Sessions)), 0)
			update(t, db, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: "new"}) })
			mustPut(t, db, "new", randomData(t, 2*blob.ChunkSize))
			var files Report
			if err := db.VerifyFiles(&files); err != nil || len(files.Faults) > 0 {
				t.Errorf("verify files: %v %q", err, files.Faults)
			}

			t.Logf("%d records, %d files, %d lost, %d outside, %d changed", report.Records,
				report.Blobs, len(report.Lost), len(report.Outside), len(report.Changed))
		})
	}
}

func TestSalvage_Refusals(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: &office})
	if _, err := Salvage(dir, t.TempDir(), Options{Schema: &office}); err == nil ||
		!strings.Contains(err.Error(), "in use by process") {
		t.Errorf("while it is served: %v", err)
	}

	shut(t, db)
	before := disktest.Snapshot(t, dir)
	if _, err := Salvage(dir, dir, Options{Schema: &office}); err == nil ||
		!strings.Contains(err.Error(), "is not empty") {
		t.Errorf("into itself: %v", err)
	}
	if _, err := Salvage(t.TempDir(), t.TempDir(), Options{Schema: &office}); err == nil {
		t.Error("of nothing")
	}

	sameFiles(t, disktest.Snapshot(t, dir), before)
}
