package feature

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func parsed(t testing.TB, text string) *Flag {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// around returns a boolean flag with these rules, off by default.
func around(rules string) string {
	return `{"enabled":true,"variants":{"on":true,"off":false},"default":"off","rules":[` + rules + `]}`
}

func TestEvaluation(t *testing.T) {
	noon := time.Date(2026, 5, 8, 12, 0, 0, 0, time.UTC)
	ann := &Subject{
		Key:        "user:7",
		User:       7,
		Roles:      []uint64{9, 3},
		Depts:      []uint64{5, 2},
		Attributes: map[string]string{"country": "CH", "beta": "true", "age": "42"},
	}

	bob := &Subject{Key: "app_user:7", AppUser: 7}
	for name, test := range map[string]struct {
		flag    string
		subject *Subject
		want    string
	}{
		"disabled":                           {`{"enabled":false,"variants":{"a":1,"b":2},"default":"a","rules":[{"variant":"b"}]}`, ann, "a 1 DISABLED"},
		"disabled with a variant of its own": {`{"enabled":false,"variants":{"a":1,"b":2},"default":"a","off":"b"}`, ann, "b 2 DISABLED"},
		"without rules":                      {`{"enabled":true,"variants":{"a":"x"},"default":"a"}`, ann, `a "x" STATIC`},
		"an object":                          {`{"enabled":true,"variants":{"a":{"x":[1,null]}},"default":"a","rules":[]}`, ann, `a {"x":[1,null]} STATIC`},
		"a large number":                     {`{"enabled":true,"variants":{"a":12345678901234567890},"default":"a"}`, ann, `a 12345678901234567890 STATIC`},
		"a role": {around(`{"roles":[1,3],"variant":"on"}`), ann,
			"on true TARGETING_MATCH"},
		"another role": {around(`{"roles":[1],"variant":"on"}`), ann,
			"off false DEFAULT"},
		"a role of nobody": {around(`{"roles":[1],"variant":"on"}`), &Subject{},
			"off false DEFAULT"},
		"a department above": {around(`{"depts":[2],"variant":"on"}`), ann,
			"on true TARGETING_MATCH"},
		"a user": {around(`{"users":[7],"variant":"on"}`), ann,
			"on true TARGETING_MATCH"},
		"an app user is no user": {around(`{"users":[7],"variant":"on"}`), bob,
			"off false DEFAULT"},
		"a user is no app user": {around(`{"app_users":[7],"variant":"on"}`), ann,
			"off false DEFAULT"},
		"users or app users": {around(`{"users":[8],"app_users":[7],"variant":"on"}`),
			bob, "on true TARGETING_MATCH"},
		"an attribute":              {around(`{"attributes":{"country":["LI","CH"]},"variant":"on"}`), ann, "on true TARGETING_MATCH"},
		"two attributes":            {around(`{"attributes":{"country":["CH"],"beta":["true"]},"variant":"on"}`), ann, "on true TARGETING_MATCH"},
		"two attributes, one other": {around(`{"attributes":{"country":["CH"],"beta":["false"]},"variant":"on"}`), ann, "off false DEFAULT"},
		"an attribute that is missing": {around(`{"attributes":{"city":[""]},"variant":"on"}`),
			ann, "off false DEFAULT"},
		"all conditions but one":      {around(`{"roles":[3],"depts":[5],"users":[8],"variant":"on"}`), ann, "off false DEFAULT"},
		"all conditions":              {around(`{"roles":[3],"depts":[5],"users":[7],"attributes":{"age":["42"]},"variant":"on"}`), ann, "on true TARGETING_MATCH"},
		"the first rule that matches": {around(`{"roles":[1],"variant":"off"},{"roles":[3],"variant":"on"},{"variant":"off"}`), ann, "on true TARGETING_MATCH"},
		"before from":                 {around(`{"from":"2026-05-08T12:00:00.000001Z","variant":"on"}`), ann, "off false DEFAULT"},
		"at from":                     {around(`{"from":"2026-05-08T14:00:00+02:00","variant":"on"}`), ann, "on true TARGETING_MATCH"},
		"at until": {around(`{"until":"2026-05-08T12:00:00Z","variant":"on"}`),
			ann, "off false DEFAULT"},
		"before until": {around(`{"until":"2026-05-08T12:00:01Z","variant":"on"}`),
			ann, "on true TARGETING_MATCH"},
		"all of a percentage": {around(`{"percent":{"on":100,"off":0}}`), ann,
			"on true SPLIT"},
		"a percentage without a key": {around(`{"percent":{"on":99.5,"off":0.5}}`),
			&Subject{}, "no targeting key"},
		"all of a percentage, without a key": {around(`{"percent":{"on":100,"off":0}}`),
			&Subject{}, "on true SPLIT"},
		"a percentage that is not reached": {around(`{"roles":[1],"percent":{"on":100}}`),
			&Subject{}, "off false DEFAULT"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := parsed(t, test.flag).Evaluate("shop.checkout", test.subject, noon)
			got := fmt.Sprintf("%s %s %s", r.Variant, r.Value, r.Reason)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// Clients compute buckets, too, so they never change.
func TestBucket_Fixed(t *testing.T) {
	for _, test := range []struct {
		flag, key string
		want      int
	}{
		{"shop.checkout", "user:1", 84977},
		{"shop.checkout", "user:2", 75455},
		{"shop.checkout", "app_user:1", 80258},
		{"look.dark", "user:1", 98184},
		{"look.dark", "Müller", 83},
		{"", "", 26115},
	} {
		if got := Bucket(test.flag, test.key); got != test.want {
			t.Errorf("%s/%s: %d, want %d", test.flag, test.key, got, test.want)
		}
	}
}

func TestBucket_Even(t *testing.T) {
	const people = 100_000
	f := parsed(t,
		`{"enabled":true,"variants":{"a":1,"b":2,"c":3},"default":"a","rules":[{"percent":{"c":0.5,"b":20,"a":79.5}}]}`)
	counts, both := map[string]int{}, 0
	for i := range people {
		s := &Subject{Key: fmt.Sprintf("user:%d", i)}
		r, _ := f.Evaluate("x.y", s, time.Time{})
		other, _ := f.Evaluate("x.z", s, time.Time{})
		counts[r.Variant]++
		if r.Variant == "b" && other.Variant == "b" {
			both++
		}
	}

	for variant, percent := range map[string]float64{"a": 79.5, "b": 20, "c": 0.5} {
		if want := percent / 100 * people; float64(counts[variant]) < want*0.97-60 ||
			float64(counts[variant]) > want*1.03+60 {
			t.Errorf("%s: %d of %d, want about %g", variant, counts[variant], people, want)
		}
	}

	if both < 3700 || both > 4300 {
		t.Errorf("%d get b of both flags, want about 4000: flags are not independent", both)
	}
}

// More percent for a variant takes nobody out of it.
func TestRollout_GrowthKeepsAssignments(t *testing.T) {
	at := func(percent int, key string) string {
		r, _ := parsed(t,
			fmt.Sprintf(`{"enabled":true,"variants":{"new":1,"old":2},"default":"old","rules":[{"percent":{"new":%d,"old":%d}}]}`, percent, 100-percent)).Evaluate("x.y", &Subject{Key: key}, time.Time{})
		return r.Variant
	}
	for i := range 300 {
		key, had := fmt.Sprint(i), false
		for percent := 0; percent <= 100; percent += 10 {
			has := at(percent, key) == "new"
			if had && !has {
				t.Fatalf("%s loses it at %d percent", key, percent)
			}
			had = has
		}
	}
}

func TestText(t *testing.T) {
	for value, want := range map[any]string{
		"x":                                "x",
		"":                                 "",
		true:                               "true",
		json.Number("5"):                   "5",
		json.Number("5.0"):                 "5",
		json.Number("1e3"):                 "1000",
		json.Number("9007199254740993"):    "9007199254740993",
		json.Number("-123456789012345678"): "-123456789012345678",
		json.Number("-0.25"):               "-0.25",
	} {
		if got, ok := Text(value); !ok || got != want {
			t.Errorf("%v: %q %t", value, got, ok)
		}
	}
	for _, value := range []any{nil, []any{"x"}, map[string]any{}, json.Number("1e999")} {
		if got, ok := Text(value); ok {
			t.Errorf("%v: %q", value, got)
		}
	}
}

func TestParse_FaultPaths(t *testing.T) {
	many := func(n int, one func(i int) string) string {
		var all []string
		for i := range n {
			all = append(all, one(i))
		}
		return strings.Join(all, ",")
	}

	id := func(i int) string { return fmt.Sprint(i + 1) }
	for text, want := range map[string]string{
		``:                             "must be valid JSON",
		`{`:                            "must be valid JSON",
		`{} {}`:                        "must be valid JSON",
		`{]`:                           "must be valid JSON",
		`null`:                         "must be an object",
		`[]`:                           "must be an object",
		`{}`:                           "enabled: must be true or false",
		`{"enabled":1}`:                "enabled: must be true or false",
		`{"enabled":true,"colour":1}`:  "colour: unknown field",
		`{"enabled":true,"enabled":1}`: "enabled: is given twice",
		`{"enabled":true,"variants":{},"default":"on"}`:                "variants: must have 1 to 20 entries",
		`{"enabled":true,"variants":[true],"default":"on"}`:            "variants: must be an object",
		`{"enabled":true,"variants":{"":true},"default":""}`:           "variants: names and values must be 1 to 64 characters without line breaks",
		`{"enabled":true,"variants":{"a\nb":true},"default":""}`:       "variants: names and values must be 1 to 64 characters without line breaks",
		`{"enabled":true,"variants":{"a":true,"b":"x"},"default":"a"}`: "variants.b: must have the type of the other variants: boolean",
		`{"enabled":true,"variants":{"a":null},"default":"a"}`:         "variants.a: must be a boolean, a string, a number or an object",
		`{"enabled":true,"variants":{"a":[1]},"default":"a"}`:          "variants.a: must be a boolean, a string, a number or an object",
		`{"enabled":true,"variants":{"a":1e999},"default":"a"}`:        "variants.a: is out of the range of numbers",
		`{"enabled":true,"variants":{"a":1,"a":2},"default":"a"}`:      "variants.a: is given twice",
		`{"enabled":true,"variants":{"a":1}}`:                          "default: is required",
		`{"enabled":true,"variants":{"a":1},"default":"b"}`:            "default: must be the name of a variant",
		`{"enabled":true,"variants":{"a":1},"default":"a","off":"b"}`:  "off: must be the name of a variant",
		`{"enabled":true,"variants":{"a":1},"default":"a","off":null}`: "off: is required",
		`{"enabled":true,"variants":{` + many(21, func(i int) string {
			return fmt.Sprintf(`"v%d":1`, i)
		}) + `},"default":"v1"}`: "variants: must have 1 to 20 entries",
		around(many(51, func(int) string {
			return `{"variant":"on"}`
		})): "rules: must have 0 to 50 entries",
		around(`1`): "rules[0]: must be an object",
		around(`{"variant":"on"},{"role":[1],"variant":"on"}`): "rules[1].role: unknown field",
		around(`{}`): "rules[0]: either variant or percent is required",
		around(`{"variant":"on","percent":{"on":100}}`):                                         "rules[0]: either variant or percent is required",
		around(`{"variant":"an"}`):                                                              "rules[0].variant: must be the name of a variant",
		around(`{"percent":{"on":50,"off":49.999}}`):                                            "rules[0].percent: must add up to 100",
		around(`{"percent":{"on":100.001,"off":0}}`):                                            "rules[0].percent.on: must be a percentage from 0 to 100 with at most three decimals",
		around(`{"percent":{"on":99.9999,"off":0.0001}}`):                                       "rules[0].percent.off: must be a percentage from 0 to 100 with at most three decimals",
		around(`{"percent":{"on":-1,"off":101}}`):                                               "rules[0].percent.off: must be a percentage from 0 to 100 with at most three decimals",
		around(`{"percent":{"on":"100"}}`):                                                      "rules[0].percent.on: must be a percentage from 0 to 100 with at most three decimals",
		around(`{"percent":{"an":100}}`):                                                        "rules[0].percent.an: must be the name of a variant",
		around(`{"percent":{}}`):                                                                "rules[0].percent: must have 1 to 20 entries",
		around(`{"roles":[],"variant":"on"}`):                                                   "rules[0].roles: must have 1 to 1000 entries",
		around(`{"roles":[` + many(1001, id) + `],"variant":"on"}`):                             "rules[0].roles: must have 1 to 1000 entries",
		around(`{"depts":[1,0],"variant":"on"}`):                                                "rules[0].depts[1]: must be a positive integer",
		around(`{"users":["1"],"variant":"on"}`):                                                "rules[0].users[0]: must be a positive integer",
		around(`{"users":[1.5],"variant":"on"}`):                                                "rules[0].users[0]: must be a positive integer",
		around(`{"app_users":7,"variant":"on"}`):                                                "rules[0].app_users: must be an array",
		around(`{"attributes":{},"variant":"on"}`):                                              "rules[0].attributes: must have 1 to 20 entries",
		around(`{"attributes":{"a":[]},"variant":"on"}`):                                        "rules[0].attributes.a: must have 1 to 100 entries",
		around(`{"attributes":{"a":[1]},"variant":"on"}`):                                       "rules[0].attributes.a[0]: must be a string",
		around(`{"attributes":{"roles":["x"]},"variant":"on"}`):                                 "rules[0].attributes.roles: use roles instead",
		around(`{"from":"yesterday","variant":"on"}`):                                           "rules[0].from: must be an RFC 3339 time, such as 2025-05-08T03:04:05Z",
		around(`{"from":"2026-01-01T00:00:00Z","until":"2026-01-01T00:00:00Z","variant":"on"}`): "rules[0].until: must be after from",
		around(`{"name":` + `"` + strings.Repeat("x", 256) + `","variant":"on"}`):               "rules[0].name: names and values must be 1 to 255 characters without line breaks",
		strings.Repeat("[", 33) + strings.Repeat("]", 33):                                       "must not be nested deeper than 32 levels",
	} {
		_, err := Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%.120s: %v, want %s", text, err, want)
		}
	}

	parsed(t, Off)
}

func FuzzParse(f *testing.F) {
	f.Add(Off)
	f.Add(around(`{"percent":{"on":20,"off":80}}`))
	f.Fuzz(func(t *testing.T, text string) {
		flag, err := Parse(text)
		if err != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("not JSON: %q", text)
		}
		if r, err := flag.Evaluate("a.b", &Subject{Key: "x"}, time.Now()); err != nil ||
			len(r.Value) == 0 {
			t.Errorf("%q: %v %v", text, r, err)
		}
	})
}

// naive is a second evaluator, written from the manual.
func naive(text, key string, s *Subject, at time.Time) string {
	var f struct {
		Enabled      bool
		Default, Off string
		Rules        []struct {
			Roles, Depts, Users []uint64
			AppUsers            []uint64 `json:"app_users"`
			Attributes          map[string][]string
			From, Until         *time.Time
			Variant             string
			Percent             map[string]float64
		}
	}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return err.Error()
	}
	if !f.Enabled {
		if f.Off == "" {
			return f.Default
		}
		return f.Off
	}

	common := func(a, b []uint64) bool {
		for _, x := range a {
			for _, y := range b {
				if x == y {
					return true
				}
			}
		}
		return len(a) == 0
	}
rules:
	for _, r := range f.Rules {
		if !common(r.Roles, s.Roles) || !common(r.Depts, s.Depts) ||
			r.From != nil && at.Before(*r.From) || r.Until != nil && !at.Before(*r.Until) {
			continue
		}
		if len(r.Users)+len(r.AppUsers) > 0 && !slices.Contains(r.Users, s.User) &&
			!slices.Contains(r.AppUsers, s.AppUser) {
			continue
		}

		for name, values := range r.Attributes {
			if text, ok := s.Attributes[name]; !ok || !slices.Contains(values, text) {
				continue rules
			}
		}

		if r.Variant != "" {
			return r.Variant
		}
		if s.Key == "" {
			return ErrNoKey.Error()
		}

		sum := sha256.Sum256([]byte(key + "/" + s.Key))
		bucket := new(big.Int).Mod(new(big.Int).SetBytes(sum[:8]), big.NewInt(100_000)).Int64()
		var names []string
		for name := range r.Percent {
			names = append(names, name)
		}

		slices.Sort(names)
		upTo := 0.0
		for _, name := range names {
			upTo += r.Percent[name] * 1000
			if float64(bucket) < upTo-0.5 {
				return name
			}
		}
	}
	return f.Default
}

func TestEvaluation_MatchesSecondEvaluator(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		some := func(n int) []uint64 {
			var ids []uint64
			for range 1 + r.IntN(3) {
				ids = append(ids, uint64(1+r.IntN(n)))
			}
			return ids
		}

		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var rules []map[string]any
		for range r.IntN(5) {
			rule := map[string]any{}
			for _, kind := range []string{"roles", "depts", "users", "app_users"} {
				if r.IntN(4) == 0 {
					rule[kind] = some(4)
				}
			}

			if r.IntN(3) == 0 {
				rule["attributes"] = map[string]any{[]string{"a", "b"}[r.IntN(2)]: []string{"1",
					"2"}}
			}

			from := start.Add(time.Duration(r.IntN(4)) * time.Hour)
			if r.IntN(4) == 0 {
				rule["from"] = from
			}
			if r.IntN(4) == 0 {
				rule["until"] = from.Add(time.Hour)
			}
			if r.IntN(2) == 0 {
				rule["variant"] = "on"
			} else {
				n := r.IntN(100_001)
				rule["percent"] = map[string]any{
					"on":  float64(n) / 1000,
					"off": float64(100_000-n) / 1000,
				}
			}

			rules = append(rules, rule)
		}

		flag := map[string]any{
			"enabled":  r.IntN(8) > 0,
			"variants": map[string]any{"on": true, "off": false, "x": true},
			"default":  "x",
		}
		if rules != nil {
			flag["rules"] = rules
		}
		if r.IntN(2) == 0 {
			flag["off"] = "off"
		}

		text, err := json.Marshal(flag)
		if err != nil {
			t.Fatal(err)
		}

		f := parsed(t, string(text))
		for range 10 {
			s := &Subject{
				Key:        []string{"", "user:1", "x", "y"}[r.IntN(4)],
				Roles:      some(4),
				Depts:      some(4),
				Attributes: map[string]string{"a": fmt.Sprint(r.IntN(3))},
			}
			if r.IntN(2) == 0 {
				s.User = uint64(1 + r.IntN(4))
			} else {
				s.AppUser = uint64(1 + r.IntN(4))
			}

			at := start.Add(time.Duration(r.IntN(300)) * time.Minute)
			got, err := f.Evaluate("g.k", s, at)
			if err != nil {
				got.Variant = err.Error()
			}
			if want := naive(string(text), "g.k", s, at); got.Variant != want {
				t.Fatalf("seed %d: %s for %+v at %s: %s, want %s", seed, text, s, at, got.Variant,
					want)
			}
		}
	}
}

// TestParse_LinearMemory has a long name above many values, too.
func TestParse_LinearMemory(t *testing.T) {
	allocated := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Parse(text); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}

	flag := func(name string) string {
		return `{"enabled":true,"variants":{"a":{"` + name + `":[` + strings.Repeat("1,", 16_000) + `1]}},"default":"a"}`
	}
	short, long := allocated(flag("k")), allocated(flag(strings.Repeat("k", 32_000)))
	if long > 3*short {
		t.Errorf("%d bytes with a short name, %d with a long one", short, long)
	}
}
