package errs

import (
	"fmt"
	"strings"
)

// Count returns a number with its noun, for messages: "1 record", "2 records", "3 entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, is := strings.CutSuffix(noun, "y"); is && !strings.ContainsAny(stem[len(stem)-1:], "aeou") {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Number returns a number with the noun of a collection as a Message.
func Number(n int, noun string) Message {
	if n == 1 {
		return Say("%d %s", n, Noun(noun))
	}
	return Say("%d %ss", n, Noun(noun))
}

// Noun returns the word for a kind of record or file as a Message. Collections are
// named in the code, like file_group or file group.
func Noun(name string) Message {
	code := strings.ReplaceAll(name, " ", "_")
	for _, list := range [][]entry{nouns, declaredNouns} {
		for _, e := range list {
			if e.code == code {
				return Message{format: e.english}
			}
		}
	}
	return Say("%s", name)
}
