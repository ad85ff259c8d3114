package copies

import (
	"strings"
	"time"

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/stream"
)

const (
	copiesName   = "copies/"
	filesName    = "files/"
	streamName   = "stream/"
	erasedName   = "erased/"
	startName    = "start"
	dataSuffix   = ".data"
	listSuffix   = ".manifest"
	proofSuffix  = ".proof"
	erasedSuffix = ".erased"
	indexSuffix  = ".index"
	timeLayout   = "20060102T150405.000000Z"
	formatNumber = 1
)

// Manifest describes a copy.
type Manifest struct {
	Format   int           `json:"format"`
	Version  string        `json:"version"` // version of the program that made the copy
	Instance string        `json:"instance"`
	Time     time.Time     `json:"time"`
	Records  int           `json:"records,omitempty"` // number of records in the copy; 0 if an earlier version made it
	LogHead  *audit.Head   `json:"log_head"`          // newest entry of the change log in the copy
	Stream   *stream.Head  `json:"stream,omitempty"`  // position in the commit stream; nil if no commit continues the copy
	Left     []stream.Head `json:"left,omitempty"`    // ends of epochs that the server had left since the clock was set back
	Data     Stored        `json:"data"`              // archive of the records
	Contents []blob.Digest `json:"contents"`          // digests of the contents of files, sorted
	Bytes    int64         `json:"bytes"`             // size of these contents
	Erased   int           `json:"erased,omitempty"`  // lines of the list of erasures beside the copy; 0 for no list
	Nodes    bool          `json:"nodes,omitempty"`   // whether one of several nodes made it

	shipped map[string]time.Time // time of the last commit that the target has, by start; set by List
}

// Name returns the name of the copy.
func (m *Manifest) Name() string { return strings.TrimSuffix(m.Data.Object, dataSuffix) }

// Stored is an object that was read back.
type Stored struct {
	Object string      `json:"object"`
	Size   int64       `json:"size"`   // size of the encrypted bytes
	SHA256 blob.Digest `json:"sha256"` // digest of the encrypted bytes
}

// index lists contents of files that are stored.
type index struct {
	Format   int             `json:"format"`
	Contents []storedContent `json:"contents"`

	Recipients string `json:"recipients"` // hash of the recipients of the contents
}

type storedContent struct {
	SHA256 blob.Digest `json:"sha256"` // digest of the content
	Size   int64       `json:"size"`
	Stored Stored      `json:"stored"`
}

// Proof says that a copy was restored and examined.
type Proof struct {
	Time    time.Time `json:"time"`
	Records int       `json:"records"`
	Files   int       `json:"files"`   // contents whose objects are there with the right size
	Sampled int       `json:"sampled"` // contents whose bytes were read and compared
	Commits int       `json:"commits"` // commits since the copy before that were read, and lead to this copy
}

// base returns the name of the copy that an object belongs to, and the rest of the object's name. A
// copy is named INSTANCE/GENERATION/START/copies/TIME.
func base(object string) (name, suffix string, ok bool) {
	name, suffix = object, ""
	if i := strings.LastIndexByte(object, '.'); i > strings.LastIndexByte(object, '/') {
		name, suffix = object[:i], object[i:]
	}
	parts := strings.Split(name, "/")
	return name, suffix, len(parts) == 5 && parts[3]+"/" == copiesName
}

// timeOf returns the time in the name of a copy.
func timeOf(name string) (time.Time, bool) {
	at, err := time.Parse(timeLayout, name[strings.LastIndexByte(name, '/')+1:])
	return at, err == nil
}

// generationOf returns INSTANCE/GENERATION in the name of a copy, which a restore changes.
func generationOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// processOf returns the beginning of the name of a start that all starts of one process have.
func processOf(start string) string { return start[:strings.LastIndex(start, "-")+1] }

// startOf returns the part of the name of an object that names the start of a server.
func startOf(object string) string {
	parts := strings.SplitN(object, "/", 4)
	if len(parts) < 4 {
		return ""
	}
	return strings.Join(parts[:3], "/") + "/"
}
