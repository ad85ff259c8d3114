package kv

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"reeve/store/disk"
	"reeve/store/trigram"
)

// path returns an unused path for a new segment.
func (x *searchIndex) path() string {
	for {
		x.files++
		path := filepath.Join(x.dir, fmt.Sprintf("%s-%d.segment", x.collection, x.files))
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return path
		}
	}
}

func (x *searchIndex) listPath() string { return filepath.Join(x.dir, x.collection+".json") }

// save stores the names of a view's segments for the next start, durably.
func (x *searchIndex) save(v *indexView) error {
	v.Files = []string{}
	for _, s := range v.view {
		v.Files = append(v.Files, filepath.Base(s.Name()))
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(x.dir, 0o700)
	}
	if err != nil {
		return err
	}
	return errors.Join(disk.WriteFile(x.listPath(), text), disk.SyncDir(x.dir))
}

// load opens the segments that save has stored; nil if a transaction with this state cannot use
// them, or they are damaged.
func (x *searchIndex) load(state *searchState, number uint64) *indexView {
	x.mu.Lock()
	damaged := x.damaged
	x.mu.Unlock()
	text, err := os.ReadFile(x.listPath())
	v := &indexView{}
	if err != nil || damaged || json.Unmarshal(text, v) != nil || !v.serves(state, number) {
		return nil
	}

	for _, name := range v.Files {
		s, err := trigram.Open(filepath.Join(x.dir, filepath.Base(name)))
		if err != nil {
			return nil
		}
		v.view = append(v.view, s)
	}

	return v
}

// sweep removes the segment files that are not part of v, all for nil. Running searches may have
// them open; on systems where that prevents removal, a later sweep removes them.
func (x *searchIndex) sweep(v *indexView) {
	left, err := filepath.Glob(filepath.Join(x.dir, x.collection+"-*.segment"))
	if err != nil {
		return
	}
	for _, path := range left {
		if v == nil || !slices.Contains(v.Files, filepath.Base(path)) {
			_ = os.Remove(path) // tried again next time
		}
	}
}
