package kv

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"reeve/store/blob"
	"reeve/store/disk/disktest"
)

// Other versions of the program read the meta records of the files and the entries of blobs. A
// change needs a new blob.Format or a migration.
func TestFileFormat_Kept(t *testing.T) {
	var got []string
	for _, v := range []any{fileMeta{}, blob.Meta{}, blob.Entry{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			got = append(got,
				strings.TrimSpace(fmt.Sprintf("%T %s %s", v, f.Tag.Get("json"), f.Type)))
		}
	}

	disktest.Equal(t, "format of files.db", blob.Format, 1)
	disktest.Equal(t, "members", got, []string{
		"kv.fileMeta schema int", "kv.fileMeta version string", "kv.fileMeta restored bool",
		"kv.fileMeta salvaged,omitempty bool", "kv.fileMeta suspects,omitempty []kv.suspect",
		"kv.fileMeta more_suspects,omitempty bool", "kv.fileMeta generation,omitempty string",
		"kv.fileMeta replaced,omitempty *audit.Head", "kv.fileMeta cluster,omitempty bool", "kv.fileMeta withdrawn,omitempty json.RawMessage",
		"blob.Meta format int", "blob.Meta instance string",
		"blob.Entry place uint64", "blob.Entry size int64", "blob.Entry chunk int64",
	})
}
