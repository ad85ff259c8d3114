package names

import (
	"slices"
	"strings"
	"testing"
)

// TestNearest_SimilarNames looks for names among others, as a fault suggests them.
func TestNearest_SimilarNames(t *testing.T) {
	t.Parallel()
	all := []string{"Support", "Supporter", "Sales", "shop.order.refund", "shop.order.query",
		"Größe", "EU", "UK", strings.Repeat("x", maxNearRunes+1)}
	for name, want := range map[string][]string{
		"Suport":                            {"Support"},
		"SUPPORT":                           {"Support", "Supporter"},
		"shop.order.refunds":                {"shop.order.refund"},
		"order":                             {"shop.order.query", "shop.order.refund"},
		"grosse":                            {"Größe"},
		"E":                                 {"EU"},
		"none of them":                      nil,
		"":                                  nil,
		strings.Repeat("x", maxNearRunes+1): nil,
	} {
		near := nearestTo(name)
		for _, other := range all {
			near.add(other)
		}
		if got := near.names(func(string) bool { return true }); !slices.Equal(got, want) {
			t.Errorf("near %q: %q, want %q", name, got, want)
		}
	}

	near := nearestTo("Support")
	for _, other := range all {
		near.add(other)
	}
	if got := near.names(func(name string) bool { return name != "Support" }); !slices.Equal(got,
		[]string{"Supporter"}) {
		t.Errorf("those that the actor may read: %q", got)
	}
}

func TestDistanceOf_Limit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		most int
		want int
	}{
		{"", "", 0, 0}, {"a", "", 1, 1}, {"", "ab", 1, 2}, {"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 3}, {"abc", "abc", 0, 0}, {"abc", "acb", 9, 2},
	} {
		if got := distanceOf([]rune(c.a), []rune(c.b), c.most); got != c.want {
			t.Errorf("%q to %q, at most %d: %d, want %d", c.a, c.b, c.most, got, c.want)
		}
	}
}
