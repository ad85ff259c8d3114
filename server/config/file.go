package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// markedTOML is TOML that may begin with a byte order mark, of UTF-8 or UTF-16: editors and
// PowerShell on Windows write one.
type markedTOML struct{ *toml.TOML }

func (p markedTOML) Unmarshal(b []byte) (map[string]any, error) {
	b, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), b)
	if err != nil {
		return nil, err
	}
	return p.TOML.Unmarshal(b)
}

// loadFile reads c.File.
func (c *Config) loadFile() error {
	if c.File == "" {
		return nil
	}

	f := koanf.New(".")
	if err := f.Load(file.Provider(c.File), markedTOML{toml.Parser()}); err != nil {
		return fmt.Errorf("read %s: %w", c.File, err)
	}

	for _, name := range f.Keys() {
		if table, ok := f.Get(name).(map[string]any); ok && len(table) == 0 && isTable(name) {
			continue // a heading without keys
		}

		known, ok := find(name)
		if !ok {
			hint := "`reeve config` lists all keys"
			if near := nearest(name); near != "" {
				hint = "did you mean " + near + "?"
			}
			return fmt.Errorf("%s: unknown key %s; %s", c.File, name, hint)
		}
		if err := known.checkType(f.Get(name)); err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}

		c.sources[name] = "file"
	}

	return c.values.Merge(f)
}

// isTable reports whether name is a table in the file, like server or monitor.redis.
func isTable(name string) bool {
	return slices.ContainsFunc(keys, func(k key) bool {
		return strings.HasPrefix(k.name, name+".")
	})
}

// nearest returns the known key that was probably meant: one that ends with name, else
// the one with the smallest edit distance if that is at most a third of the length of
// name, else "".
func nearest(name string) string {
	for _, k := range keys {
		if strings.HasSuffix(k.name, "."+name) {
			return k.name
		}
	}
	best := slices.MinFunc(keys, func(a, b key) int {
		return distance(name, a.name) - distance(name, b.name)
	}).name
	if distance(name, best) > len(name)/3 {
		return ""
	}
	return best
}

// distance returns the Levenshtein distance of a and b, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above+1, row[j]+1)
			diagonal = above
		}
	}

	return row[len(b)]
}
