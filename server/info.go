package server

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"reeve/store"
)

var infoRoutes = []Route{
	free("GET", "/system/info", "system.info", "Get system information", readSystemInfo),
}

// ConfigValue is one key of the configuration as it is in effect. Whoever fills it
// masks what is secret.
type ConfigValue struct {
	Key    string `json:"key"`
	Value  string `json:"value" doc:"secrets are masked"`
	Source string `json:"source" doc:"default, file, environment or flag"`
}

type systemInfo struct {
	Version     string           `json:"version"`
	Build       buildInfo        `json:"build"`
	StartedAt   store.Time       `json:"started_at"`
	Uptime      int64            `json:"uptime_seconds"`
	Memory      memoryInfo       `json:"memory"`
	Files       []storedFile     `json:"files" doc:"the database files"`
	Collections []collectionInfo `json:"collections"`
	Caches      []cacheInfo      `json:"caches"`
	LastBackup  store.Time       `json:"last_backup_at" null:"true" doc:"when a backup was last downloaded completely; null before the first"`
	Kept        []keptCopy       `json:"kept" doc:"copies of the database from before migrations; once the new version is trusted they can be removed"`
	OldestKept  string           `json:"oldest_kept" doc:"the name of the oldest of them; empty without any"`
	Config      []ConfigValue    `json:"config" doc:"in effect"`
}

type buildInfo struct {
	Go       string `json:"go"`
	Platform string `json:"platform"`
	CPUs     int    `json:"cpus"`
	Revision string `json:"revision" doc:"of the source; empty where the build does not know it"`
	Modified bool   `json:"modified" doc:"the source was changed since that revision"`
}

type memoryInfo struct {
	Anonymous  int64 `json:"anonymous_bytes" doc:"RssAnon of the process; 0 where the system does not tell"`
	Heap       int64 `json:"heap_bytes"`
	Goroutines int   `json:"goroutines"`
}

type storedFile struct {
	Name string `json:"name"`
	Size int64  `json:"size_bytes"`
	Free int64  `json:"free_bytes" doc:"which hold nothing and are used again"`
}

type collectionInfo struct {
	Name    string `json:"name"`
	Records int    `json:"records"`
}

type cacheInfo struct {
	Name       string     `json:"name"`
	Generation uint64     `json:"generation" doc:"how often it was computed since the start"`
	Records    int        `json:"records" doc:"that it is computed from"`
	ComputedAt store.Time `json:"computed_at"`
}

type keptCopy struct {
	Name      string     `json:"name"`
	Schema    int        `json:"schema"`
	Size      int64      `json:"size_bytes"`
	CreatedAt store.Time `json:"created_at"`
}

func readSystemInfo(req *Request, _ *none) (*systemInfo, error) {
	s := req.s
	out := &systemInfo{
		Version: s.config.Version, Build: readBuild(), StartedAt: store.TimeOf(s.started), Uptime: int64(time.Since(s.started).Seconds()),
		Memory: readMemory(), Files: []storedFile{}, Collections: []collectionInfo{}, Caches: []cacheInfo{}, Kept: []keptCopy{},
		Config: append([]ConfigValue{}, s.config.Effective...),
	}
	files, err := s.db.FileStats()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		out.Files = append(out.Files, storedFile{f.Name, f.Size, f.Free})
	}
	if out.LastBackup, err = s.db.LastBackup(); err != nil {
		return nil, err
	}
	kept, err := s.db.KeptCopies()
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		out.Kept = append(out.Kept, keptCopy{k.Name, k.Schema, k.Size, store.TimeOf(k.At)})
	}
	if len(kept) > 0 {
		out.OldestKept = kept[0].Name
	}
	return out, s.db.View(req.Actor, out.count)
}

// count fills in what the database says of itself.
func (out *systemInfo) count(tx *store.Tx) error {
	collections, err := store.Collections(tx)
	if err != nil {
		return err
	}
	for _, c := range collections {
		out.Collections = append(out.Collections, collectionInfo{c.Name, c.Records})
	}
	caches, err := store.Caches(tx)
	if err != nil {
		return err
	}
	for _, c := range caches {
		out.Caches = append(out.Caches, cacheInfo{c.Name, c.Generation, c.Records, store.TimeOf(c.At)})
	}
	return nil
}

func readBuild() buildInfo {
	out := buildInfo{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			out.Revision = s.Value
		case "vcs.modified":
			out.Modified = s.Value == "true"
		}
	}
	return out
}

func readMemory() memoryInfo {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memoryInfo{Anonymous: anonymousMemory(), Heap: int64(m.HeapAlloc), Goroutines: runtime.NumGoroutine()}
}

// anonymousMemory is what the process has in memory besides mapped files, as Linux
// tells it; 0 elsewhere.
func anonymousMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0 // not Linux
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "RssAnon:" {
			continue
		}
		if kb, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return kb << 10
		}
	}
	return 0
}
