package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
)

const (
	prefix     = "REEVE_"
	testPrefix = "REEVE_TEST_" // variables of the tests, which are known
)

func (c *Config) loadEnvironment() error {
	var wrong error
	transform := func(variable, value string) (string, any) {
		name, v, err := c.variable(variable, value)
		if err != nil && wrong == nil {
			wrong = err
		}
		return name, v
	}
	err := c.values.Load(env.Provider(".", env.Opt{Prefix: prefix, TransformFunc: transform}), nil)
	return cmp.Or(wrong, err)
}

// variable returns the key and value that an environment variable sets. The key is "" if
// the variable is ignored: an empty one counts as not set, since platforms pass on
// variables that have no value.
func (c *Config) variable(variable, text string) (string, any, error) {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, prefix)), "__", ".")
	known, ok := find(name)
	if !ok {
		if !strings.HasPrefix(variable, testPrefix) {
			c.Warnings = append(c.Warnings,
				"the environment variable "+variable+" is not known and is ignored")
		}
		return "", nil, nil
	}
	if text == "" {
		return "", nil, nil
	}

	value := known.parse(text)
	if err := known.checkType(value); err != nil {
		return "", nil, fmt.Errorf("%s: %w", variable, err)
	}

	c.sources[name] = "environment"
	return name, value, nil
}
