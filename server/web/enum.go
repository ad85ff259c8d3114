package web

import (
	"strconv"

	"reeve/store"
)

// valuesOf maps names to the values of fields with few possible values. An input refers to
// a name in its check tag (enum=sex) and an output in a tag of its own (enum:"sex"), so
// that both have the same values. Values of a number are consecutive and in order.
var valuesOf = map[string][]string{
	"job_state": {store.JobPreparing, store.JobRunning, store.JobUndoing, store.JobDone,
		store.JobFailed},
	"auth_event": {"login", "login_failed", "factor_required", "locked", "logout", "revoked",
		"password_changed", "factor_added", "factor_removed", "provider_connected",
		"provider_disconnected", "unlocked", "confirmed", "act_as", "permission"},
}

// Enums declares enums of a resource. It is called while the program starts.
func Enums(more map[string][]string) {
	for name, values := range more {
		if valuesOf[name] != nil {
			panic("server: there are two enums " + name)
		}
		valuesOf[name] = values
	}
}

// EnumOf returns the values of an enum. It panics if the name is unknown.
func EnumOf(name string) []string {
	values, ok := valuesOf[name]
	if !ok {
		panic("server: there is no enum " + name)
	}
	return values
}

// EnumSchema returns the values of an enum for JSON Schema.
func EnumSchema(values []string, number bool) []any {
	all := make([]any, len(values))
	for i, value := range values {
		all[i] = value
		if number {
			n, err := strconv.Atoi(value)
			if err != nil {
				panic("server: the enum of a number has " + value)
			}
			all[i] = n
		}
	}
	return all
}
