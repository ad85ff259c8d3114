package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"reeve/store/errs"
)

// settings returns the settings, and the key of each of their groups by ID. Each setting has its
// name, group.key, as "setting".
func (c *client) settings() ([]record, error) {
	groups, err := c.all("/system/setting-group", nil, 0)
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, g := range groups {
		keys[g.id()] = g.text("key")
	}

	all, err := c.all("/system/setting", url.Values{}, 0)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		name := keys[string(s["group_id"])] + "." + s.text("key")
		if s["setting"], err = json.Marshal(name); err != nil {
			return nil, err
		}
	}
	return sorted(all, "setting"), nil
}

// setting returns the setting with a name. what is the type that the command is about, or setting: an
// error names similar ones of it.
func (c *client) setting(what, name string) (record, error) {
	all, err := c.settings()
	if err != nil {
		return nil, err
	}
	var known []string
	for _, s := range all {
		if s.text("setting") == name {
			return s, nil
		}
		if what == "setting" || s.text("type") == what {
			known = append(known, s.text("setting"))
		}
	}
	return nil, fmt.Errorf("there is no %s %s%s", what, name, similar(name, known))
}

func (p *program) listSettings(c *client) error {
	all, err := c.settings()
	if err != nil {
		return err
	}
	if len(p.args) > 0 {
		all = slices.DeleteFunc(all, func(s record) bool {
			return !strings.HasPrefix(s.text("setting"), p.args[0])
		})
	}
	return p.list("settings", all, "setting", "type", "values")
}

func (p *program) getSetting(c *client) error {
	s, err := c.setting("setting", p.args[0])
	if err != nil {
		return err
	}
	var value string
	if err := json.Unmarshal(s["values"], &value); err != nil {
		return err
	}
	return p.show(s, "%s", value)
}

// setSetting saves a value, from the argument or, if that is -, from the standard input, where it is
// in no history of a shell.
func (p *program) setSetting(c *client) error {
	name, value := p.args[0], p.args[1]
	if value == "-" {
		text, err := io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
		if err != nil {
			return err
		}
		value = strings.TrimRight(string(text), "\r\n")
	}
	if err := c.saveSetting(name, value); err != nil {
		return err
	}
	return p.show(map[string]string{"setting": name}, "%s is saved", name)
}

func (c *client) saveSetting(name string, value any) error {
	in := map[string]any{"values": map[string]any{name: value}}
	err := c.call("PUT", "/system/setting", nil, in, nil)
	var fault *apiError
	if errors.As(err, &fault) && fault.Errors["values."+name] == "unknown setting" {
		_, err = c.setting("setting", name) // which names similar ones
	}
	return err
}

// featureFlag is the value of a setting of the type flag, as far as commands change it.
type featureFlag struct {
	Enabled  bool                       `json:"enabled"`
	Variants map[string]json.RawMessage `json:"variants"`
	Default  string                     `json:"default"`
	Off      string                     `json:"off,omitempty"`
	Rules    []json.RawMessage          `json:"rules,omitempty"`
}

// flag returns the flag with a name.
func (c *client) flag(name string) (*featureFlag, error) {
	s, err := c.setting("flag", name)
	if err != nil {
		return nil, err
	}
	if kind := s.text("type"); kind != "flag" {
		return nil, fmt.Errorf("%s is a setting of the type %s, not a flag", name, kind)
	}
	var text string
	if err := json.Unmarshal(s["values"], &text); err != nil {
		return nil, err
	}
	f := &featureFlag{}
	return f, json.Unmarshal([]byte(text), f)
}

func (f *featureFlag) describe() string {
	state := "disabled"
	if f.Enabled {
		state = "enabled"
	}
	return fmt.Sprintf("%s, default %s, %s, variants %s", state, f.Default, errs.Count(len(f.Rules), "rule"),
		strings.Join(slices.Sorted(maps.Keys(f.Variants)), ", "))
}

func (p *program) listFlags(c *client) error {
	all, err := c.settings()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s record) bool { return s.text("type") != "flag" })
	return p.list("feature flags", all, "setting", "title", "values")
}

func (p *program) getFlag(c *client) error {
	f, err := c.flag(p.args[0])
	if err != nil {
		return err
	}
	return p.show(f, "%s", f.describe())
}

// setFlag enables or disables a flag, or makes a variant its default. Its rules stay as they are.
func (p *program) setFlag(c *client) error {
	name, to := p.args[0], p.args[1]
	f, err := c.flag(name)
	if err != nil {
		return err
	}

	_, isVariant := f.Variants[to]
	switch {
	case to == "enabled" || to == "disabled":
		f.Enabled = to == "enabled"
	case isVariant:
		f.Default = to
	default:
		return fmt.Errorf("%s is enabled, disabled or one of its variants: %s", name,
			strings.Join(slices.Sorted(maps.Keys(f.Variants)), ", "))
	}

	if err := c.saveSetting(name, f); err != nil {
		return err
	}
	return p.show(f, "%s: %s", name, f.describe())
}
