package journal

import (
	"path/filepath"
	"slices"
	"time"
)

// Stats is the content of a journal and its counters since it was opened.
type Stats struct {
	Bytes       int64 // size of all files in the directory
	MaxBytes    int64
	Events      uint64
	Oldest      time.Time // time of the oldest event, according to the segments; zero for none
	Segments    []SegmentStats
	Dropped     uint64   // events that were not stored
	DroppedRows uint64   // rows that were not stored
	Damaged     uint64   // damaged items that readers have skipped
	Warnings    []string // most recent warnings, at most 100
}

// SegmentStats is the content of a segment.
type SegmentStats struct {
	Name           string
	Bytes          int64
	Events         uint64
	Oldest, Newest time.Time // zero for none
}

// Stats returns statistics. It reads the sizes from the directory and nothing else from the disk.
func (j *Journal) Stats() Stats {
	s := Stats{
		MaxBytes: j.options.MaxBytes,
		Dropped:  j.dropped.Load(), DroppedRows: j.droppedRows.Load(), Damaged: j.damaged.Load(),
	}

	files, err := j.files()
	if err == nil { // otherwise there is a warning about the directory
		s.Bytes = totalOf(files)
	}

	for _, segment := range *j.segments.Load() {
		one := SegmentStats{Name: filepath.Base(segment.path), Events: segment.events.Load()}
		if i := slices.IndexFunc(files, func(f dirFile) bool {
			return f.name == one.Name
		}); i >= 0 {
			one.Bytes = files[i].size
		}
		if last := segment.last.Load(); last > 0 {
			one.Oldest, one.Newest = TimeOf(segment.first), TimeOf(last)
			if s.Oldest.IsZero() {
				s.Oldest = one.Oldest
			}
		}
		s.Events += one.Events
		s.Segments = append(s.Segments, one)
	}

	j.warningsMu.Lock()
	defer j.warningsMu.Unlock()
	s.Warnings = slices.Clone(j.warnings)
	return s
}
