package errs

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// everyMessage is the whole catalogue.
func everyMessage() []entry {
	return slices.Concat(catalogue...)
}

var (
	snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	named     = regexp.MustCompile(`\{([^}"]*)\}`)
)

// The Chinese text takes the arguments of the English format, each by its name, and no
// others.
func TestCatalogue_Complete(t *testing.T) {
	codes, formats := map[string]string{}, map[string]bool{}
	for _, e := range everyMessage() {
		if other, taken := codes[e.code]; taken && !slices.ContainsFunc(nouns, func(n entry) bool {
			return n.code == e.code
		}) {
			t.Errorf("%q and %q both have the code %s", other, e.english, e.code)
		}
		if !snakeCase.MatchString(e.code) || formats[e.english] {
			t.Errorf("%q: its code %q is not snake_case, or the format is there twice", e.english,
				e.code)
		}

		codes[e.code], formats[e.english] = e.english, true
		want := strings.Fields(e.params)
		if n := len(verbsIn(e.english)); n != len(want) {
			t.Errorf("%s: %q has %d arguments and %d names", e.code, e.english, n, len(want))
		}

		var got []string
		for _, match := range named.FindAllStringSubmatch(e.chinese, -1) {
			got = append(got, match[1])
		}

		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the Chinese text takes %q, the format has %q", e.code, got, want)
		}
		if !slices.Contains([]string{"text", "field", "fields_more", "two"}, e.code) &&
			!strings.ContainsFunc(e.chinese, func(r rune) bool {
				return unicode.Is(unicode.Han, r)
			}) {
			t.Errorf("%s has no Chinese text: %q", e.code, e.chinese)
		}
	}
}

// Chinese has a term for the configuration that differs from the one for setup files.
func TestCatalogue_ConfigurationAndSetup(t *testing.T) {
	for _, e := range everyMessage() {
		configuration := strings.Contains(e.english, "configuration")
		if strings.Contains(e.chinese, "配置文件") || configuration && !strings.Contains(e.chinese, "服务器配置") {
			t.Errorf("%s: %q is %q", e.code, e.english, e.chinese)
		}
	}
}

// stringing is a number with a text of its own.
type stringing uint64

func (stringing) String() string { return "text" }

func TestMessages(t *testing.T) {
	var typed uint16 = 7
	names := []string{"id", "name"}
	for name, test := range map[string]struct {
		message               Message
		english, chinese, has string
	}{
		"no arguments": {Say("is required"), "is required", "为必填项", `{"code":"required"}`},
		"numbers": {Say("must be %d to %d characters", 3, typed), "must be 3 to 7 characters",
			"长度必须为 3 到 7 个字符", `{"code":"length","params":{"max":7,"min":3}}`},
		"a float": {Say("must be at least %v", 0.5), "must be at least 0.5", "不能小于 0.5",
			`{"code":"min","params":{"min":0.5}}`},
		"an id": {Say("file %d not found in the trash", stringing(5)),
			"file 5 not found in the trash", "回收站中未找到文件 5",
			`{"code":"file_not_in_trash","params":{"id":5}}`},
		"a list": {Say("must be one of %s", names), "must be one of id, name",
			"必须是以下值之一：id、name", `{"code":"one_of","params":{"values":["id","name"]}}`},
		"quoted": {Say("%q is not an integer", "a\nb"), `"a\nb" is not an integer`,
			`"a\nb" 不是整数`, `{"code":"not_integer","params":{"value":"a\nb"}}`},
		"a noun": {Say("%s %d not found", Noun("dict item"), 9),
			"dictionary item 9 not found", "未找到字典项 9",
			`{"code":"not_found","params":{"id":9,"what":{"code":"dict_item"}}}`},
		"a number with its noun": {Say("%s %s is still used by %s", Noun("role"), "Clerk",
			Number(3, "user")), "role Clerk is still used by 3 users", "角色 Clerk 仍被 3 个用户使用",
			`{"code":"in_use","params":{"by":{"code":"count","params":{"count":3,"what":{"code":"user"}}},"name":"Clerk","what":{"code":"role"}}}`},
		"one of a noun": {Number(1, "user"), "1 user", "1 个用户",
			`{"code":"count_one","params":{"count":1,"what":{"code":"user"}}}`},
		"a message alone": {Say("%s", Say("is required")), "is required", "为必填项",
			`{"code":"required"}`},
		"an error of a field": {Say("%s", Field(Invalid, "a", "is required")), "is required",
			"为必填项", `{"code":"required"}`},
		"an error of none": {Say("%s", New(Invalid, "registration is closed")),
			"registration is closed", "注册已关闭", `{"code":"registration_closed"}`},
		"a text": {Say("%s", "{max} as it is"), "{max} as it is", "{max} as it is",
			`{"code":"text","params":{"text":"{max} as it is"}}`},
		"a text with a name": {Say("%q is not an integer", "{value}"),
			`"{value}" is not an integer`, `"{value}" 不是整数`,
			`{"code":"not_integer","params":{"value":"{value}"}}`},
		"a stringer": {Say("the record was changed at %s; reload it and try again",
			time.UTC), "the record was changed at UTC; reload it and try again",
			"该记录已于 UTC 被更改；请重新加载后再试", `{"code":"stale","params":{"updated_at":"UTC"}}`},
		"one out of catalogue": {Say("only %d here", 1), "only 1 here", "only 1 here",
			`{"code":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := json.Marshal(test.message)
			if err != nil || string(b) != test.has || test.message.String() != test.english ||
				test.message.In(Chinese) != test.chinese {
				t.Errorf("got %q, %q and %s (%v)", test.message.String(), test.message.In(Chinese),
					b, err)
			}
			var read Message
			if err := json.Unmarshal(b, &read); (err != nil) != (test.message.Code() == "") ||
				err == nil && read.In(Chinese) != test.chinese {
				t.Errorf("read again: %q (%v)", read.In(Chinese), err)
			}
		})
	}

	names[0] = "changed"
	if !(Message{}).Empty() || Say("is required").Empty() {
		t.Error("Empty does not tell the zero value apart")
	}
	if Say("is required").Error() != "is required" || errors.Is(Say("a"), nil) {
		t.Error("a message is not its own error text")
	}
}

// TestMessage_ForeignIsRefused checks that a message of another version or origin is an error and
// not another message.
func TestMessage_ForeignIsRefused(t *testing.T) {
	for _, text := range []string{
		"null", "7", `{}`, `{"code":"nothing_of_ours"}`, `{"code":"length"}`,
		`{"code":"length","params":{"min":1,"most":2}}`,
		`{"code":"length","params":{"min":1,"max":true}}`, `{"code":"required","params":{"a":1}}`,
		`{"code":"one_of","params":{"values":[1]}}`,
		`{"code":"field","params":{"field":"a","fault":{"code":"gone"}}}`,
	} {
		m := Say("is required")
		if err := m.UnmarshalJSON([]byte(text)); err == nil || m.Code() != "required" {
			t.Errorf("%s is read as %q (%v)", text, m, err)
		}
	}
}

// An argument is taken as it is when the message is made.
func TestMessage_Immutable(t *testing.T) {
	names := []string{"id"}
	m := Say("must be one of %s", names)
	names[0] = "changed"
	if got := m.String(); got != "must be one of id" {
		t.Errorf("got %q", got)
	}
}

func TestMessage_ParamLimit(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, m := range []Message{
		Say("%s: %s", long, long), Say("must be one of %s", []string{long, long}),
		Say("%q is not an integer", long),
		Say("%s", errors.New(long)),
	} {
		b, err := json.Marshal(m)
		if err != nil || len(b) > 2*maxText {
			t.Errorf("%s takes %d bytes (%v)", m.Code(), len(b), err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = Say("is required") }); n != 0 {
		t.Errorf("a message without arguments allocates %v times", n)
	}
}

func ExampleMessage() {
	err := Field(Invalid, "username", "must be %d to %d characters", 3, 32)
	fmt.Println(err.Msg)
	fmt.Println(err.Fields["username"].In(Chinese), err.Fields["username"].Code())
	// Output:
	// username: must be 3 to 32 characters
	// 长度必须为 3 到 32 个字符 length
}
