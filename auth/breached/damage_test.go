package breached

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// counted counts the reads of a file, and fails after many: a lookup has to end.
type counted struct {
	io.ReaderAt
	t     testing.TB
	reads int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	if c.reads++; c.reads > 60 {
		c.t.Fatalf("%d reads", c.reads)
	}
	return c.ReaderAt.ReadAt(b, at)
}

// look looks a hash up in a text.
func look(t testing.TB, text, hash string) (leaked bool, err error) {
	t.Helper()
	c := &counted{strings.NewReader(text), t, 0}
	return (&sorted{file: c, size: int64(len(text)), digits: len(hash)}).find([]byte(hash))
}

// randomHash returns a random hash of 40 or 35 digits. Some begin alike.
func randomHash(r *rand.Rand, digits int) string {
	hash := fmt.Sprintf("%016X%016X%08X", r.Uint64(), r.Uint64(), r.Uint32())
	if r.IntN(4) == 0 {
		hash = strings.Repeat(hash[:1], 30) + hash[:10]
	}
	return hash[:digits]
}

// randomList returns the lines of a random list, and the hashes in it.
func randomList(r *rand.Rand) (lines []string, leaked map[string]bool) {
	digits, leaked := []int{40, 35}[r.IntN(2)], map[string]bool{}
	end := []string{"\n", "\r\n"}[r.IntN(2)]
	for range 1 + r.IntN([]int{3, 300, 3000}[r.IntN(3)]) {
		leaked[randomHash(r, digits)] = true
	}

	for hash := range leaked {
		line := hash
		switch r.IntN(4) {
		case 0:
		case 1:
			line, leaked[hash] = line+":0", false
		default:
			line += fmt.Sprint(":", 1+r.Uint64()>>(1+r.IntN(63)))
		}
		lines = append(lines, line+end)
	}

	slices.Sort(lines)
	if last := len(lines) - 1; r.IntN(2) == 0 {
		lines[last] = strings.TrimSuffix(lines[last], end)
	}

	return lines, leaked
}

// TestRandomLists: what is found is what was written, whatever the lengths of lines and files.
func TestRandomLists(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	for n := range 20 {
		lines, known := randomList(r)
		text := strings.Join(lines, "")
		digits := 0
		for hash, want := range some(known) {
			digits = len(hash)
			if leaked, err := look(t, text, hash); err != nil || leaked != want {
				t.Fatalf("seed %d, list %d: %s is %t, %v, want %t", seed, n, hash, leaked, err,
					want)
			}
		}

		for range 300 {
			hash := randomHash(r, digits)
			if leaked, err := look(t, text, hash); err != nil || leaked != known[hash] {
				t.Fatalf("seed %d, list %d: %s is %t, %v, want %t", seed, n, hash, leaked, err,
					known[hash])
			}
		}
	}
}

// TestDamagedLists: lines in wrong places and cut ones are an error of the lookups of others, or
// change nothing for them.
func TestDamagedLists(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	failed, fine := 0, 0
	for n := range 60 {
		lines, known := randomList(r)
		present := lines
		switch r.IntN(3) {
		case 0: // two lines are swapped
			if last := len(lines) - 1; strings.HasSuffix(lines[last], "\n") {
				i, j := r.IntN(len(lines)), r.IntN(len(lines))
				lines[i], lines[j] = lines[j], lines[i]
			}
		case 1: // one line is moved
			i := r.IntN(len(lines))
			if strings.HasSuffix(lines[len(lines)-1], "\n") {
				rest := slices.Delete(slices.Clone(lines), i, i+1)
				present = slices.Insert(rest, r.IntN(len(rest)+1), lines[i])
			}
			forget(known, lines[i]) // only reading everything finds it
		default: // one line is cut
			i := r.IntN(len(lines))
			present = slices.Clone(lines)
			present[i] = present[i][:r.IntN(len(present[i]))]
			forget(known, lines[i])
		}

		text := strings.Join(present, "")
		for hash, want := range some(known) {
			leaked, err := look(t, text, hash)
			if err == nil && leaked != want {
				t.Fatalf("seed %d, list %d: %s is %t, want %t or an error", seed, n, hash, leaked,
					want)
			}
			if err != nil {
				failed++
			} else {
				fine++
			}
		}
	}

	if failed == 0 || fine == 0 {
		t.Errorf("%d lookups failed, %d did not", failed, fine)
	}
}

// some returns up to 300 entries.
func some(known map[string]bool) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		n := 0
		for hash, leaked := range known {
			if n++; n > 200 || !yield(hash, leaked) {
				return
			}
		}
	}
}

// forget removes the hash of a line.
func forget(known map[string]bool, line string) {
	for hash := range known {
		if strings.HasPrefix(line, hash) {
			delete(known, hash)
		}
	}
}

// TestLookup_AnyBytes: whatever is in a file, a lookup ends, without a panic.
func TestLookup_AnyBytes(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 2))
	for range 60 {
		lines, known := randomList(r)
		switch r.IntN(4) {
		case 0:
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		case 1:
			slices.Reverse(lines)
		case 2:
			lines = slices.Insert(lines, r.IntN(len(lines)),
				strings.Repeat([]string{"A", "\n", "\x00", "5:1\n"}[r.IntN(4)], r.IntN(20_000)))
		}

		b := []byte(strings.Join(lines, ""))
		for range r.IntN(10) {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}

		text := string(b[:r.IntN(len(b)+1)])
		for hash := range some(known) {
			if leaked, err := look(t, text, hash); leaked &&
				(err != nil || !strings.Contains(text, hash)) {
				t.Fatalf("seed %d: %s: %t, %v", seed, hash, leaked, err)
			}
		}
	}
}

// TestLookup_ReadCount: a few dozen in the largest list.
func TestLookup_ReadCount(t *testing.T) {
	t.Parallel()
	const size, width = 40 << 30, 45
	r := rand.New(rand.NewPCG(1, 2))
	most := 0
	for range 100 {
		c := &counted{endless{size / width, width}, t, 0}
		s := &sorted{file: c, size: size / width * width, digits: hashDigits}
		leaked, err := s.find([]byte(randomHash(r, hashDigits)))
		must(t, err)
		if leaked {
			t.Error("it is found")
		}
		if most = max(most, c.reads); most > 26 {
			t.Fatalf("%d reads", most)
		}

		n := r.Uint64N(size / width)
		if leaked, err := s.find([]byte(endless{size / width, width}.hash(n))); err != nil ||
			!leaked {
			t.Fatalf("line %d: %t, %v", n, leaked, err)
		}
	}
}

// endless is a sorted list that is computed: n lines of a width.
type endless struct{ n, width uint64 }

func (e endless) hash(i uint64) string { return fmt.Sprintf("%016X%024X", i*(^uint64(0)/e.n), i) }

func (e endless) ReadAt(b []byte, at int64) (int, error) {
	for done := 0; done < len(b); {
		i, skip := (uint64(at)+uint64(done))/e.width, (uint64(at)+uint64(done))%e.width
		line := e.hash(i) + ":12\r\n"
		done += copy(b[done:], line[skip:])
	}
	return len(b), nil
}
