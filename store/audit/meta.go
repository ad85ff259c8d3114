package audit

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"reeve/store/disk"
)

// format is the newest layout of a segment that this program knows.
const format = 1

// meta is the description in each segment, framed in disk.MetaBucket under disk.MetaKey.
type meta struct {
	Format     int    `json:"format"`
	First      uint64 `json:"first"`      // number of the first entry
	Last       uint64 `json:"last"`       // number of the last entry
	Entries    uint64 `json:"entries"`    // number of entries, and of times
	Terms      uint64 `json:"terms"`      // number of terms
	Prev       Hash   `json:"prev"`       // hash of the entry before the first
	Head       Head   `json:"head"`       // the last entry
	From       int64  `json:"from"`       // lowest time, Unix microseconds
	To         int64  `json:"to"`         // highest time
	Denials    int64  `json:"denials"`    // bytes of the texts of entries with the action "denied"
	Checkpoint int    `json:"checkpoint"` // bytes of the checkpoint; 0 for none
}

// decodeMeta decodes the framed description.
func decodeMeta(value []byte) (m meta, err error) {
	payload, err := disk.Unframe(disk.MetaBucket, disk.MetaKey, value)
	if err == nil {
		err = json.Unmarshal(payload, &m)
	}
	switch {
	case err != nil:
		return m, fmt.Errorf("its description: %w", err)
	case m.Format > format:
		return m, fmt.Errorf("it was written by a newer program (format %d, this one knows %d)",
			m.Format, format)
	case m.First == 0 || m.Last < m.First || m.Entries != m.Last-m.First+1 || m.Head.Seq != m.Last:
		return m, fmt.Errorf("its description is inconsistent: entries %d to %d", m.First, m.Last)
	}
	return m, nil
}

// peekMeta reads the description and the size of a segment in bytes, without bbolt, which would
// trust pages that have not been checked. The description is under the first key of the first
// bucket, so it is on the leftmost pages.
func peekMeta(path string) (m meta, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, 0, err
	}

	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, 0, err
	}

	pages, _, err := disk.ReadMetas(f, false)
	if err != nil {
		return m, info.Size(), err
	}
	if need := pages.Pages * pages.PageSize; uint64(info.Size()) < need {
		return m, info.Size(),
			fmt.Errorf("the file is cut off: it has %d bytes, its pages need %d", info.Size(), need)
	}

	name, bucket, err := firstElement(f, pages, pages.Root)
	if err == nil && (string(name) != disk.MetaBucket || len(bucket) < disk.BucketHead) {
		err = errNoMeta
	}
	if err != nil {
		return m, info.Size(), err
	}

	key, value := []byte(nil), []byte(nil)
	if root := binary.LittleEndian.Uint64(bucket); root != 0 {
		key, value, err = firstElement(f, pages, root)
	} else {
		key, value, err = leafElement(bucket[disk.BucketHead:])
	}
	if err == nil && string(key) != string(disk.MetaKey) {
		err = errNoMeta
	}
	if err == nil {
		m, err = decodeMeta(value)
	}

	return m, info.Size(), err
}

var errNoMeta = errors.New("it has no description")

// firstElement returns the key and value of the first element of the tree below a page.
func firstElement(f *os.File, m disk.Meta, id uint64) (key, value []byte, err error) {
	page := make([]byte, m.PageSize)
	for range disk.MaxPageDepth {
		if id < 2 || id >= m.Pages {
			return nil, nil, fmt.Errorf("page %d is outside the file", id)
		}
		if _, err := f.ReadAt(page, int64(id*m.PageSize)); err != nil {
			return nil, nil, err
		}
		if binary.LittleEndian.Uint16(page[8:]) == disk.LeafPage {
			return leafElement(page)
		}
		if binary.LittleEndian.Uint16(page[8:]) != disk.BranchPage ||
			binary.LittleEndian.Uint16(page[10:]) == 0 {
			return nil, nil, fmt.Errorf("page %d is neither branch nor leaf", id)
		}
		id = binary.LittleEndian.Uint64(page[disk.PageHead+8:])
	}
	return nil, nil, errors.New("the tree is too deep")
}

// leafElement returns the key and value of the first element of a leaf page.
func leafElement(page []byte) (key, value []byte, err error) {
	if len(page) < disk.PageHead+disk.LeafElem || binary.LittleEndian.Uint16(page[10:]) == 0 {
		return nil, nil, errNoMeta
	}
	e := page[disk.PageHead:]
	start := disk.PageHead + uint64(binary.LittleEndian.Uint32(e[4:]))
	middle := start + uint64(binary.LittleEndian.Uint32(e[8:]))
	end := middle + uint64(binary.LittleEndian.Uint32(e[12:]))
	if end > uint64(len(page)) {
		return nil, nil, errNoMeta
	}
	return page[start:middle], page[middle:end], nil
}
