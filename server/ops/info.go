package ops

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

func InfoRoutes() []web.Route {
	return []web.Route{
		web.Action("GET", "/system/info", "system.info", "Get system information", readSystemInfo,
			web.Options{
				Note: "Returns the version, memory, database files, caches and the configuration in " +
					"effect, with secrets masked.",
			}),
	}
}

type SystemInfo struct {
	Version     string            `json:"version"`
	Build       buildInfo         `json:"build"`
	StartedAt   store.Time        `json:"started_at"`
	Uptime      int64             `json:"uptime_seconds"`
	Memory      memoryInfo        `json:"memory"`
	Files       []storedFile      `json:"files" doc:"Database files"`
	Collections []CollectionInfo  `json:"collections"`
	Caches      []CacheInfo       `json:"caches"`
	LastBackup  store.Time        `json:"last_backup_at" null:"true" doc:"Time of the last complete download of a backup; null before the first"`
	Kept        []keptCopy        `json:"kept" doc:"Copies of the database from before migrations; delete them once the new version works"`
	OldestKept  string            `json:"oldest_kept" doc:"Name of the oldest copy; empty if there is none"`
	ChangeLog   changeLogInfo     `json:"change_log" doc:"Newest entry of the change log"`
	Config      []web.ConfigValue `json:"config" doc:"Effective configuration"`
}

type changeLogInfo struct {
	Generation string `json:"generation" doc:"Random name of the numbering; a restore begins a new one"`
	Entries    int64  `json:"entries" doc:"Number of the newest entry; 0 for none"`
	Hash       string `json:"sha256" doc:"SHA-256 of the newest entry, hexadecimal"`
}

type buildInfo struct {
	Go       string `json:"go"`
	Platform string `json:"platform"`
	CPUs     int    `json:"cpus"`
	Revision string `json:"revision" doc:"Revision of the source; empty if unknown"`
	Modified bool   `json:"modified" doc:"Whether the source has changed since that revision"`
}

type memoryInfo struct {
	Anonymous  int64 `json:"anonymous_bytes" doc:"Anonymous resident memory of the process (RssAnon) in bytes; 0 if unknown"`
	Heap       int64 `json:"heap_bytes"`
	Goroutines int   `json:"goroutines"`
}

type storedFile struct {
	Name string `json:"name"`
	Size int64  `json:"size_bytes"`
	Free int64  `json:"free_bytes" doc:"Free, reusable bytes in the file"`
}

type CollectionInfo struct {
	Name    string `json:"name"`
	Records int    `json:"records"`
}

type CacheInfo struct {
	Name       string     `json:"name"`
	Generation uint64     `json:"generation" doc:"Number of rebuilds since the start"`
	Records    int        `json:"records" doc:"Number of records in the cache"`
	ComputedAt store.Time `json:"computed_at"`
}

type keptCopy struct {
	Name      string     `json:"name"`
	Schema    int        `json:"schema"`
	Size      int64      `json:"size_bytes"`
	CreatedAt store.Time `json:"created_at"`
}

func readSystemInfo(req *web.Request, _ *web.None) (*SystemInfo, error) {
	s := req.Server
	out := &SystemInfo{
		Version:     s.Config.Version,
		Build:       readBuild(),
		StartedAt:   kv.TimeOf(s.Started),
		Uptime:      int64(time.Since(s.Started).Seconds()),
		Memory:      readMemory(),
		Files:       []storedFile{},
		Collections: []CollectionInfo{},
		Caches:      []CacheInfo{},
		Kept:        []keptCopy{},
		Config:      append([]web.ConfigValue{}, s.Now().Effective...),
	}

	head := s.DB.LogHead()
	out.ChangeLog = changeLogInfo{head.Generation, int64(head.Seq), head.Hash.String()}
	files, err := s.DB.FileStats()
	if err != nil {
		return nil, err
	}

	for _, f := range files {
		out.Files = append(out.Files, storedFile{f.Name, f.Size, f.Free})
	}

	if out.LastBackup, err = s.DB.LastBackup(); err != nil {
		return nil, err
	}

	kept, err := s.DB.KeptCopies()
	if err != nil {
		return nil, err
	}

	for _, k := range kept {
		out.Kept = append(out.Kept, keptCopy{k.Name, k.Schema, k.Size, kv.TimeOf(k.At)})
	}

	if len(kept) > 0 {
		out.OldestKept = kept[0].Name
	}

	return out, s.DB.View(req.Actor, out.count)
}

// count fills in the data from the database.
func (out *SystemInfo) count(tx *store.Tx) error {
	collections, err := kv.Collections(tx)
	if err != nil {
		return err
	}

	for _, c := range collections {
		out.Collections = append(out.Collections, CollectionInfo{c.Name, c.Records})
	}

	caches, err := kv.Caches(tx)
	if err != nil {
		return err
	}

	for _, c := range caches {
		out.Caches = append(out.Caches, CacheInfo{c.Name, c.Generation, c.Records, kv.TimeOf(c.At)})
	}

	return nil
}

func readBuild() buildInfo {
	out := buildInfo{
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:     runtime.NumCPU(),
	}

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
	return memoryInfo{
		Anonymous:  anonymousMemory(),
		Heap:       int64(m.HeapAlloc),
		Goroutines: runtime.NumGoroutine(),
	}
}

// anonymousMemory returns the anonymous resident memory of the process on Linux; 0 on
// other systems.
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
