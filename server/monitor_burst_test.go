package server

import "testing"

func TestABurstIsThinnedBeforeTheSecondIsOver(t *testing.T) {
	for name, tc := range map[string]struct {
		before, now int // requests of the second before, and of this one
		most        int // that are kept
	}{
		"a few are all kept":      {0, 150, 150},
		"a burst out of silence":  {0, 40_000, 1200},
		"a burst out of traffic":  {1_000, 40_000, 1000},
		"what goes on as it was":  {40_000, 40_000, keepPerSecond + 1},
		"what becomes less":       {40_000, 1_000, 3},
		"a flood out of silence":  {0, 4_000_000, 2000},
		"nothing before or after": {0, 0, 0},
	} {
		var s sampler
		for range tc.before {
			s.pick()
		}
		s.adapt()
		kept, stand := 0, int64(0)
		for range tc.now {
			if n, keep := s.pick(); keep {
				kept++
				stand += n
			}
		}
		if kept > tc.most || tc.now <= 150 && kept < tc.now {
			t.Errorf("%s: of %d %d are kept, want at most %d", name, tc.now, kept, tc.most)
		}
		if off := int64(tc.now) - stand; off > int64(tc.now)/5+800 || off < -int64(tc.now)/5-800 {
			t.Errorf("%s: they stand for %d of %d", name, stand, tc.now)
		}
	}
}
