package store

import "strconv"

// declare adds a setting to Builtins, so that every declared setting is in the list.
func declare(b Builtin) *Builtin {
	if builtinOf(b.Group, b.Key) != nil {
		panic("store: the setting " + b.Group + "." + b.Key + " is declared twice")
	}
	b.name = b.Group + "." + b.Key
	if b.Options == nil {
		b.Options = []Option{}
	}
	Builtins = append(Builtins, &b)
	return &b
}

func number(group, key string, def, low, high int) *NumberSetting {
	return &NumberSetting{declare(Builtin{Group: group, Key: key, Type: "number",
		Default: strconv.Itoa(def), Props: []Prop{
			{"min", strconv.Itoa(low)}, {"max", strconv.Itoa(high)}, {"step", "1"},
		}})}
}

// secured marks a number as a security setting.
func secured(s *NumberSetting) *NumberSetting {
	s.security = true
	return s
}

// retention marks a number as the retention of security records.
func retention(s *NumberSetting) *NumberSetting {
	s.security, s.keep = true, true
	return s
}

func text(group, key, def string, maxLength int) *TextSetting {
	return &TextSetting{declare(Builtin{
		Group:   group,
		Key:     key,
		Type:    "input",
		Default: def,
		Props:   []Prop{{"maxlength", strconv.Itoa(maxLength)}},
	})}
}

// paragraphs is text with line breaks.
func paragraphs(group, key string, maxLength int) *TextSetting {
	return &TextSetting{declare(Builtin{
		Group: group,
		Key:   key,
		Type:  "textarea",
		Props: []Prop{{"maxlength", strconv.Itoa(maxLength)}},
	})}
}

// optional marks a text that can be empty.
func optional(s *TextSetting) *TextSetting {
	s.Optional = true
	return s
}

// address marks a text as an optional e-mail address.
func address(s *TextSetting) *TextSetting {
	s.Optional, s.email = true, true
	return s
}

// domains marks a text as a comma-separated list of domains, and as a security setting.
func domains(s *TextSetting) *TextSetting {
	s.domains, s.security = true, true
	return s
}

// origins marks a text as a comma-separated list of origins.
func origins(s *TextSetting) *TextSetting {
	s.origins = true
	return s
}

// returnOrigins declares a list of origins to which browsers bring codes.
func returnOrigins(s *TextSetting) *TextSetting {
	s.returns = true
	return origins(s)
}

func image(group, key string) *TextSetting {
	return &TextSetting{declare(Builtin{
		Group:    group,
		Key:      key,
		Type:     "image",
		Props:    []Prop{},
		Optional: true,
	})}
}

func choice(group, key, def string, options ...Option) *TextSetting {
	return &TextSetting{declare(Builtin{
		Group:   group,
		Key:     key,
		Type:    "select",
		Default: def,
		Props:   []Prop{},
		Options: options,
	})}
}

func secret(group, key string) *SecretSetting {
	return &SecretSetting{declare(Builtin{
		Group:    group,
		Key:      key,
		Type:     "secret",
		Props:    []Prop{},
		Optional: true,
	})}
}

// forOwners marks settings that only users with the owner role can change.
func forOwners[S interface{ builtin() *Builtin }](s S) S {
	s.builtin().owner = true
	return s
}

func (b *Builtin) builtin() *Builtin { return b }

// guarded marks a setting as a security setting whose changes have a further rule.
func guarded(guard func(tx *Tx, old, new string) error, s *TextSetting) *TextSetting {
	s.security, s.guard = true, guard
	return s
}

// guardedToggle is guarded for a switch.
func guardedToggle(guard func(tx *Tx, old, new string) error, s *SwitchSetting) *SwitchSetting {
	s.security, s.guard = true, guard
	return s
}

func toggle(group, key, def string) *SwitchSetting {
	return &SwitchSetting{declare(Builtin{
		Group:   group,
		Key:     key,
		Type:    "switch",
		Default: def,
		Props:   []Prop{},
	})}
}

// securedToggle declares a switch that is a security setting.
func securedToggle(group, key, def string) *SwitchSetting {
	s := toggle(group, key, def)
	s.security = true
	return s
}
