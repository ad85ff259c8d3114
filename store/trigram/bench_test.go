package trigram

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// BenchmarkFind searches for substrings that none, few and many of 200,000 texts
// contain, in a view of several segments.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	first := []string{"ada", "amir", "boris", "chloe", "erik", "grace", "hugo", "ines"}
	last := []string{"abbas", "berg", "chen", "diaz", "evans", "fischer", "tanaka"}
	dir, v, id := b.TempDir(), View(nil), uint64(0)
	for n := range 10 {
		var docs []Doc
		for range 20_000 {
			id++
			name := fmt.Sprintf("%s.%s%d", first[r.IntN(len(first))], last[r.IntN(len(last))], id)
			if id%50_000 == 7 {
				name = "rumpelstilzchen"
			}
			docs = append(docs,
				Doc{id,
					fmt.Appendf(nil, "%s\x00%s@example.com\x00+49151%08d", name, name,
						r.IntN(100_000_000))})
		}

		s, err := Write(filepath.Join(dir, fmt.Sprint(n)), docs)
		if err != nil {
			b.Fatal(err)
		}
		if v = append(v, s); v.Due() < len(v) {
			m, err := Merge(filepath.Join(dir, fmt.Sprint("m", n)), v[v.Due():], func() bool {
				return true
			})
			if err != nil {
				b.Fatal(err)
			}
			v = append(v[:v.Due():v.Due()], m)
		}
	}

	for _, part := range []string{"nobody-has-this", "rumpel", "chen"} {
		b.Run(part, func(b *testing.B) {
			for b.Loop() {
				if _, err := v.Find(part, func(uint64) bool { return false }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(v)), "segments")
		})
	}
}
