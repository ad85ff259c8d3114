package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/pflag"

	"reeve/store/disk"
	"reeve/store/errs"
)

// installation is what a program uses of an installation.
type installation struct {
	permissions, appPermissions []namedKey
	settings                    []typedSetting // sorted by group and key
}

// namedKey is a permission.
type namedKey struct{ Key, Name string }

// typedSetting is a setting without its value.
type typedSetting struct {
	group, key string
	title      string
	kind       string // type of the setting
	options    []string
	builtin    bool     // always has a value
	variants   []string // values of the variants of a flag as JSON
}

// typeWriters write the types of an installation, by language.
var typeWriters = map[string]func(i *installation, name string) []byte{
	"typescript": func(i *installation, _ string) []byte { return i.typescript() },
	"go":         (*installation).golang,
}

func typesFlags(f *pflag.FlagSet, _ *program) {
	f.String("package", "installation", "`NAME` of the package, for go")
}

// writeTypes writes the keys of permissions, settings and flags as types, so that the compiler of a
// program finds one that does not exist.
func (p *program) writeTypes(c *client) error {
	write := typeWriters[p.args[0]]
	if write == nil {
		return fmt.Errorf("there are no types for %s; there are types for %s", p.args[0],
			strings.Join(slices.Sorted(maps.Keys(typeWriters)), " and "))
	}
	if name := p.text("package"); !goPackage.MatchString(name) {
		return fmt.Errorf("--package: %q is no name of a package; it begins with a letter and has lower-case letters and digits", name)
	}

	i, err := c.installation()
	if err != nil {
		return err
	}
	text := write(i, p.text("package"))
	if len(p.args) == 1 {
		_, err := p.out.Write(text)
		return err
	}
	if err := disk.WriteFile(p.args[1], text); err != nil {
		return err
	}
	return p.show(map[string]any{"file": p.args[1]}, "wrote %s and %s to %s",
		errs.Count(len(i.permissions)+len(i.appPermissions), "permission"), errs.Count(len(i.settings), "setting"), p.args[1])
}

var goPackage = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// installation reads what types are made of.
func (c *client) installation() (*installation, error) {
	i := &installation{}
	var err error
	if i.permissions, err = c.permissions("/admin/rule"); err != nil {
		return nil, err
	}
	if i.appPermissions, err = c.permissions("/user/rule"); err != nil {
		return nil, err
	}
	i.settings, err = c.typedSettings()
	return i, err
}

// permissions returns the permissions of a tree, sorted.
func (c *client) permissions(path string) (all []namedKey, err error) {
	type node struct {
		namedKey
		Children []node
	}
	var root struct{ Data []node }
	if err := c.get(path, nil, &root); err != nil {
		return nil, err
	}
	var add func([]node)
	add = func(nodes []node) {
		for _, n := range nodes {
			all = append(all, n.namedKey)
			add(n.Children)
		}
	}
	add(root.Data)
	sort.Slice(all, func(i, j int) bool { return all[i].Key < all[j].Key })
	return all, nil
}

func (c *client) typedSettings() (all []typedSetting, err error) {
	records, err := c.settings()
	if err != nil {
		return nil, err
	}
	var builtin map[string][]string
	if err := c.get("/system/setting-builtin", nil, &builtin); err != nil {
		return nil, err
	}

	for _, r := range records {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		var in struct {
			Setting, Title, Type, Values string
			Options                      []struct{ Value string }
		}
		if err := json.Unmarshal(text, &in); err != nil {
			return nil, err
		}

		s := typedSetting{title: in.Title, kind: in.Type}
		s.group, s.key, _ = strings.Cut(in.Setting, ".")
		s.builtin = slices.Contains(builtin[s.group], s.key)
		for _, o := range in.Options {
			s.options = append(s.options, o.Value)
		}
		if s.kind == "flag" {
			f := featureFlag{}
			if err := json.Unmarshal([]byte(in.Values), &f); err != nil {
				return nil, err
			}
			for _, name := range slices.Sorted(maps.Keys(f.Variants)) {
				s.variants = append(s.variants, string(f.Variants[name]))
			}
		}
		all = append(all, s)
	}
	return all, nil
}
