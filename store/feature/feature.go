// Package feature evaluates feature flags: which variant of a flag a user gets, by rules over
// identity, attributes, a percentage and the time. It depends on no other part of the program, and
// does no input or output.
//
// Start with Parse, which reads the JSON of a flag strictly, and Flag.Evaluate, which returns a
// variant and the reason for a Subject.
//
// Invariants: the first rule that matches decides; a rule matches if all its conditions do, and a
// condition if any of its values does; a rule without conditions matches everybody. The same
// subject gets the same variant of a percentage on every server and in every version, see Bucket.
//
//	f, err := feature.Parse(`{"enabled":true,"variants":{"on":true,"off":false},"default":"off",
//		"rules":[{"roles":[3],"variant":"on"},{"percent":{"on":20,"off":80}}]}`)
//	result, err := f.Evaluate("shop.checkout", &feature.Subject{Key: "user:7", Roles: []uint64{3}}, time.Now())
//	result.Variant // on
//	result.Reason  // TARGETING_MATCH
package feature

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flag is a feature flag. It is immutable.
type Flag struct {
	Enabled  bool
	Variants map[string]json.RawMessage // values by name, all of one JSON type
	Default  string                     // variant if no rule matches
	Off      string                     // variant while the flag is disabled
	Rules    []Rule
}

// Rule gives a variant to the subjects that match all its conditions. An empty condition matches
// everybody.
type Rule struct {
	Name       string
	Roles      []uint64            // any of these roles, or of AppRoles: together they are one condition
	AppRoles   []uint64            // any of these app roles
	Depts      []uint64            // any of these departments, or one below
	Users      []uint64            // one of these users, or of AppUsers: together they are one condition
	AppUsers   []uint64            // one of these app users
	Attributes map[string][]string // each attribute is one of the texts
	From       time.Time           // begins to match then; zero for always
	Until      time.Time           // matches until then, exclusively; zero for ever
	Variant    string              // "" for Percent
	Percent    []Share             // sorted by variant; they add up to 100,000
}

// Share is the part of the subjects that gets a variant.
type Share struct {
	Variant     string
	Thousandths int // thousandths of a percent
}

// Subject is the user for whom a flag is evaluated. Lists need not be sorted. The zero Subject is
// an unknown user: conditions on identity and attributes do not match it.
type Subject struct {
	Key        string // targeting key, by which percentages are drawn; "" for none
	User       uint64 // ID of the user; 0 for none
	AppUser    uint64
	Roles      []uint64
	AppRoles   []uint64
	Depts      []uint64          // the department with all its ancestors
	Attributes map[string]string // values as texts, see Text
}

// Result is the variant of a subject, and the reason.
type Result struct {
	Variant string
	Value   json.RawMessage
	Reason  string
}

// Reasons of a result, as in the OpenFeature specification.
const (
	Static   = "STATIC"          // the flag has no rules
	Matched  = "TARGETING_MATCH" // a rule matched
	Split    = "SPLIT"           // a percentage of a rule that matched
	Default  = "DEFAULT"         // no rule matched
	Disabled = "DISABLED"        // the flag is disabled
)

// ErrNoKey means that a percentage was to be drawn for a subject without a targeting key.
var ErrNoKey = errors.New("no targeting key")

// Evaluate returns the result for a subject at a time. key is the key of the flag, by which the
// percentages of different flags are drawn independently. The only error is ErrNoKey.
func (f *Flag) Evaluate(key string, s *Subject, at time.Time) (Result, error) {
	if !f.Enabled {
		return f.result(f.Off, Disabled), nil
	}
	if len(f.Rules) == 0 {
		return f.result(f.Default, Static), nil
	}

	for i := range f.Rules {
		r := &f.Rules[i]
		switch {
		case !r.matches(s, at):
		case r.Percent == nil:
			return f.result(r.Variant, Matched), nil
		case r.everyone() != "":
			return f.result(r.everyone(), Split), nil
		case s.Key == "":
			return Result{}, ErrNoKey
		default:
			return f.result(r.draw(Bucket(key, s.Key)), Split), nil
		}
	}

	return f.result(f.Default, Default), nil
}

func (f *Flag) result(variant, reason string) Result {
	return Result{variant, f.Variants[variant], reason}
}

// matches reports whether all conditions match.
func (r *Rule) matches(s *Subject, at time.Time) bool {
	if !r.From.IsZero() && at.Before(r.From) || !r.Until.IsZero() && !at.Before(r.Until) {
		return false
	}
	if (r.Roles != nil || r.AppRoles != nil) && !overlap(r.Roles, s.Roles) &&
		!overlap(r.AppRoles, s.AppRoles) {
		return false
	}
	if r.Depts != nil && !overlap(r.Depts, s.Depts) {
		return false
	}
	if (r.Users != nil || r.AppUsers != nil) && !has(r.Users, s.User) &&
		!has(r.AppUsers, s.AppUser) {
		return false
	}

	for name, values := range r.Attributes {
		if text, known := s.Attributes[name]; !known || !slices.Contains(values, text) {
			return false
		}
	}

	return true
}

// has reports whether a sorted list contains an ID other than 0.
func has(sorted []uint64, id uint64) bool {
	_, found := slices.BinarySearch(sorted, id)
	return found && id != 0
}

func overlap(sorted, ids []uint64) bool {
	return slices.ContainsFunc(ids, func(id uint64) bool { return has(sorted, id) })
}

// everyone returns the variant that has all of the percentage, which needs no targeting key; "" for
// none.
func (r *Rule) everyone() string {
	for _, share := range r.Percent {
		if share.Thousandths == Buckets {
			return share.Variant
		}
	}
	return ""
}

// Identifies reports whether a rule depends on who the subject is: its ID, its roles or its
// department.
func (f *Flag) Identifies() bool {
	return slices.ContainsFunc(f.Rules, func(r Rule) bool {
		return r.Users != nil || r.AppUsers != nil || r.Roles != nil || r.AppRoles != nil ||
			r.Depts != nil
	})
}

// draw returns the variant of a bucket: the shares follow each other in the order of the names.
func (r *Rule) draw(bucket int) string {
	last := ""
	for _, share := range r.Percent {
		if bucket < share.Thousandths {
			return share.Variant
		}
		bucket -= share.Thousandths
		last = share.Variant
	}
	return last // not reached: the shares add up to Buckets
}

// Buckets is the number of buckets: a bucket is a thousandth of a percent.
const Buckets = 100_000

// Bucket returns the bucket, from 0 to 99,999, of a targeting key for a flag: the first 8 bytes of
// SHA-256(flag key + "/" + targeting key) as a big-endian number, modulo Buckets. Clients may rely
// on it, so it never changes.
func Bucket(flag, targeting string) int {
	sum := sha256.Sum256([]byte(flag + "/" + targeting))
	return int(binary.BigEndian.Uint64(sum[:8]) % Buckets)
}

// Text returns a JSON value as the text that attributes are compared by. That is a string itself,
// true or false, or an integer with all its digits. Other numbers have their shortest decimal form
// without an exponent. ok is false for other values, which match nothing.
func Text(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		if digits := strings.TrimPrefix(string(v), "-"); strings.Trim(digits, "0123456789") == "" &&
			digits != "0" {
			return string(v), true // an integer, which a float64 may not have room for
		}
		n, err := strconv.ParseFloat(string(v), 64)
		return strconv.FormatFloat(n, 'f', -1, 64), err == nil
	}
	return "", false
}
