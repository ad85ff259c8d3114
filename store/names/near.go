package names

import (
	"cmp"
	"sort"
	"strings"

	"reeve/store/fold"
)

const (
	maxNear      = 3   // similar names in a fault
	maxNearRunes = 128 // characters of a name that is compared
)

// candidate is a similar name.
type candidate struct {
	name     string
	distance int
}

// nearest collects the names that are similar to one.
type nearest struct {
	to    []rune // the name, in the form in which names are compared
	found []candidate
}

func nearestTo(name string) *nearest { return &nearest{to: []rune(fold.Key(name))} }

// add adds a name if it is similar: few characters differ, or one contains the other.
func (n *nearest) add(name string) {
	other := []rune(fold.Key(name))
	if len(n.to) > maxNearRunes || len(other) > maxNearRunes {
		return
	}
	most := 1 + min(len(n.to), len(other))/4
	distance := distanceOf(n.to, other, most)
	if distance > most {
		a, b := string(n.to), string(other)
		if min(len(n.to), len(other)) < 3 || !strings.Contains(a, b) && !strings.Contains(b, a) {
			return
		}
		distance = maxNearRunes + len(other)
	}
	n.found = append(n.found, candidate{name, distance})
}

// names returns the most similar names for which may returns true.
func (n *nearest) names(may func(name string) bool) (names []string) {
	sort.Slice(n.found, func(i, j int) bool {
		a, b := n.found[i], n.found[j]
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name)) < 0
	})
	for _, c := range n.found {
		if len(names) == maxNear {
			break
		}
		if may(c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// distanceOf returns how many characters have to be inserted, removed or replaced to make one text
// another one; most+1 if more than most.
func distanceOf(a, b []rune, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range b {
			replaced := diagonal
			if r != s {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], most+1)
}
