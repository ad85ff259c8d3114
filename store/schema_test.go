package store

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

var updateSchema = flag.Bool("update", false, "write testdata/schema.txt again")

// schemaText describes the content of a database of a schema: its buckets, and the fields of
// its records. The first line has the versions, which change with the rest.
func schemaText(s *kv.Schema, program string) string {
	text := fmt.Sprintf("schema %d, since reeve %s\n", s.Version(), program)
	for _, t := range s.Tables {
		text += "\n" + strings.Join(t.Buckets(), " ") + "\n"
		text += fieldsText("", t.RecordType())
	}
	return text
}

// inPackage matches the package of a type: a type that moves is the same on disk.
var inPackage = regexp.MustCompile(`\b[a-z]+\.`)

func fieldsText(prefix string, t reflect.Type) (text string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := prefix + f.Tag.Get("json")
		switch of := f.Type; {
		case f.Anonymous:
			text += fieldsText(prefix, of)
			continue
		case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
			text += fieldsText(name+"[].", of.Elem())
			continue
		}
		text += fmt.Sprintf("  %s %s\n", name, inPackage.ReplaceAllString(f.Type.String(), ""))
	}
	return text
}

// A change of the schema requires a new schema version, a migration and a new version of the
// program, so that an older program refuses the database and can say which version to use.
func TestSchemaChange_HasVersion(t *testing.T) {
	const path = "testdata/schema.txt"
	source := string(disktest.ReadFile(t, "../main.go"))
	found := regexp.MustCompile(`const version = "([^"]+)"`).FindStringSubmatch(source)
	if found == nil {
		t.Fatal("main.go has no version")
	}

	kept := string(disktest.ReadFile(t, path))
	head, rest, _ := strings.Cut(kept, "\n")
	now := schemaText(&reeve, found[1])
	nowHead, nowRest, _ := strings.Cut(now, "\n")
	numbers := func(head string) string {
		before, _, _ := strings.Cut(head, ", since")
		return before
	}
	if rest == nowRest && numbers(head) == numbers(nowHead) {
		return
	}

	switch {
	case numbers(head) == numbers(nowHead):
		t.Error("the schema has changed: append a migration to schema.go, raise version in main.go, then run go test -run SchemaChange -update")
	case strings.HasSuffix(head, "since reeve "+found[1]):
		t.Errorf("the schema has a new number: raise version in main.go, still %s, then run go test -run SchemaChange -update", found[1])
	case *updateSchema:
		noErr(t, os.WriteFile(path, []byte(now), 0o644))
	default:
		t.Error("the schema has a new number: run go test -run SchemaChange -update")
	}
}
