package errs

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Language is a language of messages.
type Language uint8

const (
	English Language = iota
	Chinese          // simplified
)

// Tag returns the language tag, as in Content-Language.
func (l Language) Tag() string {
	if l == Chinese {
		return "zh-CN"
	}
	return "en"
}

// Message is a text for people, available in every Language. The zero value is empty. It contains
// at most about maxText bytes of client input.
type Message struct {
	format string
	args   []any // string, list, Message, int64, uint64, float64
}

// list is an argument with several texts.
type list []string

func (l list) String() string { return strings.Join(l, ", ") }

// Say returns a Message with an English format, which must be in the catalogue, and its
// arguments: numbers, texts, lists of texts and other messages. "%s" with a single Message
// or Error returns that message.
func Say(format string, args ...any) Message {
	if false {
		_ = fmt.Sprintf(format, args...) // lets vet check the calls
	}
	if format == "%s" {
		if m, ok := messageOf(args[0]); ok {
			return m
		}
	}

	m := Message{format: format}
	if len(args) > 0 {
		m.args = make([]any, len(args))
	}

	room := maxText
	for i, arg := range args {
		m.args[i] = plain(arg, &room, func() bool {
			return strings.HasSuffix(verbsIn(format)[i], "d")
		})
	}

	return m
}

// messageOf returns the message of an argument that is a Message or an Error. For an Error about
// one field it is the fault without the name of the field, which may differ where it is shown.
func messageOf(arg any) (Message, bool) {
	switch arg := arg.(type) {
	case Message:
		return arg, true
	case *Error:
		if len(arg.Fields) == 1 {
			for _, fault := range arg.Fields {
				return fault, true
			}
		}
		return arg.Msg, true
	}
	return Message{}, false
}

// plain converts an argument to an immutable value of at most room bytes. A number with a String
// method, such as an ID, stays a number if its verb is %d.
func plain(arg any, room *int, counted func() bool) any {
	if m, ok := messageOf(arg); ok {
		return m
	}

	cut := func(text string) string {
		text = truncate(text, *room)
		*room = max(0, *room-len(text))
		return text
	}
	switch arg := arg.(type) {
	case []string:
		texts := make(list, 0, len(arg))
		for _, text := range arg {
			if *room == 0 {
				break
			}
			texts = append(texts, cut(text))
		}
		return texts
	case fmt.Stringer, error:
		if v := reflect.ValueOf(arg); !v.CanInt() && !v.CanUint() || !counted() {
			return cut(fmt.Sprint(arg))
		}
	}

	switch v := reflect.ValueOf(arg); {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.CanFloat():
		return v.Float()
	}

	return cut(fmt.Sprint(arg))
}

// truncate shortens a text to about n bytes, at the end of a character.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// String returns the message in English.
func (m Message) String() string { return m.bounded(fmt.Sprintf(m.format, m.args...)) }

// bounded truncates the message's text. A message that contains another one may be longer.
func (m Message) bounded(text string) string {
	for _, arg := range m.args {
		if _, nested := arg.(Message); nested {
			return truncate(text, 2*maxText)
		}
	}
	return truncate(text, maxText)
}

// Error implements error, so that a Message can be the cause of an Error.
func (m Message) Error() string { return m.String() }

// Empty reports whether this is the zero Message.
func (m Message) Empty() bool { return m.format == "" }

// Code returns the stable, snake_case name of the message; "" if it is not in the catalogue.
func (m Message) Code() string {
	if e := index().byFormat[m.format]; e != nil {
		return e.code
	}
	return ""
}

// In returns the message in a language, or in English if it is not in the catalogue.
func (m Message) In(l Language) string {
	e := index().byFormat[m.format]
	if l == English || e == nil {
		return m.String()
	}
	names, verbs := strings.Fields(e.params), verbsIn(m.format)
	pairs := make([]string, 0, 2*len(names))
	for i, name := range names {
		pairs = append(pairs, "{"+name+"}", written(m.args[i], verbs[i], l))
	}
	return m.bounded(strings.NewReplacer(pairs...).Replace(e.chinese))
}

// written formats an argument in a language.
func written(arg any, verb string, l Language) string {
	switch arg := arg.(type) {
	case Message:
		return arg.In(l)
	case list:
		return strings.Join(arg, "、")
	case string:
		if strings.HasSuffix(verb, "q") {
			return strconv.Quote(arg)
		}
		return arg
	}
	return fmt.Sprintf(verb, arg)
}

// verb matches a verb of a format in which %% is removed.
var verb = regexp.MustCompile(`%[-+# 0]*[0-9.]*[a-zA-Z]`)

func verbsIn(format string) []string {
	return verb.FindAllString(strings.ReplaceAll(format, "%%", ""), -1)
}

// Params returns the arguments by name, for programs; nil if there are none. A nested
// message is encoded as its code and params.
func (m Message) Params() map[string]any {
	e := index().byFormat[m.format]
	if e == nil || len(m.args) == 0 {
		return nil
	}
	params := make(map[string]any, len(m.args))
	for i, name := range strings.Fields(e.params) {
		params[name] = m.args[i]
	}
	return params
}

// entry is a message of the catalogue.
type entry struct {
	code    string // stable, snake_case
	english string // the format, by which it is found
	params  string // names of the format's arguments
	chinese string // format with {name} for an argument
}

// catalogue is every part of the catalogue.
var catalogue = [][]entry{generalMessages, nouns, requestMessages, accountMessages, fileMessages,
	storeMessages, healthMessages, webhookMessages, providerMessages, mailMessages, appMessages, keyMessages,
	flagMessages}

// declared are the messages and nouns of resources that declare their own.
var declared, declaredNouns []entry

// Declare adds a message to the catalogue: a stable code, the English format by which it is found,
// names of its arguments, and the Chinese text with {name} for an argument. It is called while the
// program starts.
func Declare(code, english, params, chinese string) string {
	declared = append(declared, entry{code, english, params, chinese})
	return english
}

// DeclareNoun adds the word for records of a collection.
func DeclareNoun(collection, english, chinese string) string {
	declaredNouns = append(declaredNouns, entry{collection, english, "", chinese})
	return english
}

// index finds entries of the catalogue. It is built at first use, since most successful requests
// do not need it.
var index = sync.OnceValue(func() (found struct{ byFormat, byCode map[string]*entry }) {
	found.byFormat, found.byCode = map[string]*entry{}, map[string]*entry{}
	for _, part := range append(slices.Clip(catalogue), declared, declaredNouns) {
		for _, e := range part {
			found.byFormat[e.english], found.byCode[e.code] = &e, &e
		}
	}
	return found
})

// Known reports whether the catalogue has a format.
func Known(format string) bool { return index().byFormat[format] != nil }
