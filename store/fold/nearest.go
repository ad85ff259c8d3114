package fold

import "slices"

// Nearest returns the known name that was probably meant by name: the one with the smallest edit
// distance, without regard to case, if that is at most a third of the length of name. Otherwise,
// and for a name of more than 64 bytes, it returns "".
func Nearest(name string, known []string) string {
	const most = 64 // bytes
	if len(name) > most || len(known) == 0 {
		return ""
	}

	folded := Key(name)
	best := slices.MinFunc(known, func(a, b string) int {
		return distance(folded, Key(a)) - distance(folded, Key(b))
	})
	if distance(folded, Key(best)) > len(name)/3 {
		return ""
	}
	return best
}

// distance returns the Levenshtein distance of a and b, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above+1, row[j]+1)
			diagonal = above
		}
	}

	return row[len(b)]
}
