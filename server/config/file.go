package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"reeve/store/fold"
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
				hint = "did you mean " + near
				if table := tableOf(near); table != tableOf(name) {
					hint += ", in the table [" + table + "]"
				}
				hint += "?"
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

// nearest returns the known key that was probably meant, or "": name in another table, or without a
// table around it; else the key that is written most alike; else one with the same last part.
func nearest(name string) string {
	known := make([]string, len(keys))
	for i, k := range keys {
		known[i] = k.name
	}
	parts := strings.Split(name, ".")
	for i := range max(len(parts)-1, 1) {
		if near := ending(known, strings.Join(parts[i:], ".")); near != "" {
			return near
		}
	}
	return cmp.Or(fold.Nearest(name, known), ending(known, parts[len(parts)-1]))
}

// ending returns a known key that is name, or ends with it after a dot; "" if there is none.
func ending(known []string, name string) string {
	if _, ok := find(name); ok {
		return name
	}
	for _, k := range known {
		if strings.HasSuffix(k, "."+name) {
			return k
		}
	}
	return ""
}

// tableOf returns the table of a key.
func tableOf(name string) string { return name[:max(strings.LastIndex(name, "."), 0)] }
