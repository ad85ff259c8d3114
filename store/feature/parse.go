package feature

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"reeve/store/errs"
	"reeve/store/jsontext"
)

// Limits of a flag, so that an evaluation is quick whatever it contains.
const (
	MaxVariants   = 20
	MaxRules      = 50
	MaxIDs        = 1000 // in one condition
	MaxAttributes = 20   // in one rule
	MaxValues     = 100  // of one attribute
	MaxDepth      = 32   // nesting of the JSON
	MaxName       = 64   // characters of the name of a variant
	MaxText       = 255  // characters of the name of a rule or attribute, and of its values
)

// Off is a disabled boolean flag, which a setting without a value is.
const Off = `{"enabled":false,"variants":{"off":false,"on":true},"default":"off"}`

// fixed are the attributes that a rule must not name, since it has conditions for them.
var fixed = map[string]string{
	"roles":        "roles",
	"dept_id":      "depts",
	"user_id":      "users",
	"targetingKey": "users",
}

// Parse reads a flag:
//
//	{"enabled": true,
//	 "variants": {"on": true, "off": false},     one or more values of the same type
//	 "default": "off",                           if no rule matches
//	 "off": "off",                               while disabled; default if absent
//	 "rules": [
//	   {"name": "Staff", "roles": [1], "app_roles": [4], "depts": [2], "users": [7], "app_users": [3],
//	    "attributes": {"country": ["CH", "LI"]},
//	    "from": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z", "variant": "on"},
//	   {"percent": {"on": 20, "off": 80}}]}
//
// The error is an errs.Message about the first fault, with its place, like rules[2].variant.
func Parse(text string) (*Flag, error) {
	root, err := jsontext.Value(text, MaxDepth)
	if err != nil {
		return nil, err
	}
	p := &parser{}
	f := p.flag(root)
	if p.err != nil {
		return nil, p.err
	}
	return f, nil
}

// parser keeps the first fault; what is read after it is not used.
type parser struct{ err error }

// fail records a fault of a place; "" is the flag itself.
func (p *parser) fail(place string, fault errs.Message) {
	if p.err == nil {
		p.err = at(place, fault)
	}
}

func at(place string, fault errs.Message) errs.Message {
	if place == "" {
		return fault
	}
	return errs.Say("%s: %s", place, fault)
}

func (p *parser) flag(root any) *Flag {
	o := p.object("", root, "enabled", "variants", "default", "off", "rules")
	f := &Flag{Enabled: p.flagged("enabled", o["enabled"])}
	f.Variants = p.variants(o["variants"])
	f.Default = p.variant(f, "default", o["default"])
	f.Off = f.Default
	if off, sent := o["off"]; sent {
		f.Off = p.variant(f, "off", off)
	}
	if rules, sent := o["rules"]; sent {
		for i, rule := range p.array("rules", rules, 0, MaxRules) {
			f.Rules = append(f.Rules, p.rule(f, fmt.Sprintf("rules[%d]", i), rule))
		}
	}
	return f
}

// variants reads the values, which must have one type.
func (p *parser) variants(value any) map[string]json.RawMessage {
	o := p.members("variants", value, 1, MaxVariants)
	all, first := map[string]json.RawMessage{}, ""
	for _, name := range slices.Sorted(maps.Keys(o)) {
		place := "variants." + name
		p.text("variants", name, MaxName)
		kind := ""
		switch v := o[name].(type) {
		case bool:
			kind = "boolean"
		case string:
			kind = "string"
		case json.Number:
			kind = "number"
			if n, err := strconv.ParseFloat(string(v), 64); err != nil || math.IsInf(n, 0) {
				p.fail(place, errs.Say("must be a number"))
			}
		case map[string]any:
			kind = "object"
		default:
			p.fail(place, errs.Say("must be a boolean, a string, a number or an object"))
		}

		if first == "" {
			first = kind
		}
		if kind != first {
			p.fail(place, errs.Say("must have the type of the other variants: %s", first))
		}

		b, err := json.Marshal(o[name])
		if err != nil {
			panic(err) // what was decoded can be encoded
		}

		all[name] = b
	}

	return all
}

func (p *parser) variant(f *Flag, place string, value any) string {
	if value == nil {
		p.fail(place, errs.Say("is required"))
	}
	name, _ := value.(string)
	if f.Variants[name] == nil {
		p.fail(place, errs.Say("must be the name of a variant"))
	}
	return name
}

func (p *parser) rule(f *Flag, place string, value any) Rule {
	o := p.object(place, value, "name", "roles", "app_roles", "depts", "users", "app_users",
		"attributes", "from", "until", "variant", "percent")
	r := Rule{
		Roles:    p.ids(place+".roles", o["roles"]),
		AppRoles: p.ids(place+".app_roles", o["app_roles"]),
		Depts:    p.ids(place+".depts", o["depts"]),
		Users:    p.ids(place+".users", o["users"]),
		AppUsers: p.ids(place+".app_users", o["app_users"]),
		From:     p.time(place+".from", o["from"]),
		Until:    p.time(place+".until", o["until"]),
	}
	if name, sent := o["name"]; sent {
		text, ok := name.(string)
		if !ok {
			p.fail(place+".name", errs.Say("must be a string"))
		}
		if text != "" {
			p.text(place+".name", text, MaxText)
		}
		r.Name = text
	}
	if !r.From.IsZero() && !r.Until.IsZero() && !r.From.Before(r.Until) {
		p.fail(place+".until", errs.Say("must be after from"))
	}
	if o["attributes"] != nil {
		r.Attributes = p.attributes(place+".attributes", o["attributes"])
	}

	_, fixed := o["variant"]
	_, split := o["percent"]
	switch {
	case fixed == split:
		p.fail(place, errs.Say("either variant or percent is required"))
	case fixed:
		r.Variant = p.variant(f, place+".variant", o["variant"])
	default:
		r.Percent = p.shares(f, place+".percent", o["percent"])
	}

	return r
}

// shares reads percentages with up to three decimals, which must add up to 100.
func (p *parser) shares(f *Flag, place string, value any) []Share {
	o, all, sum := p.members(place, value, 1, MaxVariants), []Share{}, 0
	for _, name := range slices.Sorted(maps.Keys(o)) {
		at := place + "." + name
		if f.Variants[name] == nil {
			p.fail(at, errs.Say("must be the name of a variant"))
		}
		number, _ := o[name].(json.Number)
		n, err := strconv.ParseFloat(string(number), 64)
		thousandths := math.Round(n * 1000)
		if err != nil || n < 0 || n > 100 || math.Abs(n*1000-thousandths) > 1e-6 {
			p.fail(at, errs.Say("must be a percentage from 0 to 100 with at most three decimals"))
			continue
		}
		sum += int(thousandths)
		all = append(all, Share{name, int(thousandths)})
	}

	if sum != Buckets {
		p.fail(place, errs.Say("must add up to 100"))
	}

	return all
}

// ids reads a list of IDs; nil if there is none. An empty list is a fault, since it could mean all
// users or none.
func (p *parser) ids(place string, value any) []uint64 {
	if value == nil {
		return nil
	}

	list := p.array(place, value, 1, MaxIDs)
	all := make([]uint64, 0, len(list))
	for i, element := range list {
		number, _ := element.(json.Number)
		id, err := strconv.ParseUint(string(number), 10, 63)
		if err != nil || id == 0 {
			p.fail(fmt.Sprintf("%s[%d]", place, i), errs.Say("must be a positive integer"))
		}
		all = append(all, id)
	}

	slices.Sort(all)
	return slices.Compact(all)
}

func (p *parser) attributes(place string, value any) map[string][]string {
	o, all := p.members(place, value, 1, MaxAttributes), map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		at := place + "." + name
		p.text(place, name, MaxText)
		if other, taken := fixed[name]; taken {
			p.fail(at, errs.Say("use %s instead", other))
		}

		for i, element := range p.array(at, o[name], 1, MaxValues) {
			text, ok := element.(string)
			if !ok {
				p.fail(fmt.Sprintf("%s[%d]", at, i), errs.Say("must be a string"))
			}
			if text != "" {
				p.text(fmt.Sprintf("%s[%d]", at, i), text, MaxText)
			}
			all[name] = append(all[name], text)
		}
	}
	return all
}

func (p *parser) time(place string, value any) time.Time {
	if value == nil {
		return time.Time{}
	}
	text, _ := value.(string)
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1970 {
		p.fail(place, errs.Say("must be an RFC 3339 time, such as 2025-05-08T03:04:05Z"))
	}
	return t
}

func (p *parser) flagged(place string, value any) bool {
	on, ok := value.(bool)
	if !ok {
		p.fail(place, errs.Say("must be true or false"))
	}
	return on
}

// text checks the length and characters of a name.
func (p *parser) text(place, text string, most int) {
	if n := utf8.RuneCountInString(text); n < 1 || n > most ||
		strings.ContainsFunc(text, unicode.IsControl) {
		p.fail(place,
			errs.Say("names and values must be 1 to %d characters without line breaks", most))
	}
}

// object reads an object with only these members.
func (p *parser) object(place string, value any, names ...string) map[string]any {
	o, ok := value.(map[string]any)
	if !ok {
		p.fail(place, errs.Say("must be an object"))
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(names, name) {
			p.fail(strings.TrimPrefix(place+"."+name, "."), errs.Say("unknown field"))
		}
	}
	return o
}

// members reads an object with any members.
func (p *parser) members(place string, value any, least, most int) map[string]any {
	o, ok := value.(map[string]any)
	switch {
	case !ok:
		p.fail(place, errs.Say("must be an object"))
	case len(o) < least || len(o) > most:
		p.fail(place, errs.Say("must have %d to %d entries", least, most))
	}
	return o
}

func (p *parser) array(place string, value any, least, most int) []any {
	list, ok := value.([]any)
	switch {
	case !ok:
		p.fail(place, errs.Say("must be an array"))
	case len(list) < least || len(list) > most:
		p.fail(place, errs.Say("must have %d to %d entries", least, most))
		return nil
	}
	return list
}
