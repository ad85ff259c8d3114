package errs

import "fmt"

// Count returns a number with its noun, for messages: "1 record", "2 records".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
