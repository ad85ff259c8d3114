package config

import (
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
)

const (
	prefix     = "REEVE_"
	testPrefix = "REEVE_TEST_" // variables of the tests, which are known
)

func (c *Config) loadEnvironment() error {
	return c.values.Load(env.Provider(".", env.Opt{Prefix: prefix, TransformFunc: c.variable}), nil)
}

// variable returns the key and value that an environment variable sets. The key is ""
// if the variable is to be ignored.
func (c *Config) variable(variable, value string) (string, any) {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, prefix)), "__", ".")
	known, ok := find(name)
	if !ok {
		if !strings.HasPrefix(variable, testPrefix) {
			c.Warnings = append(c.Warnings, "the environment variable "+variable+" is not known and is ignored")
		}
		return "", nil
	}
	c.sources[name] = "environment"
	if known.isList() {
		return name, strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return name, value
}
