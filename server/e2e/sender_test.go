package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// sender is a client that uploads and deletes, with the expected state of its files.
type sender struct {
	name   string
	random *rand.Rand
	live   map[int64]fileRecord
	trash  map[int64]fileRecord
	next   int
	acked  int
	flight flight
}

// flight is the one change that was sent and not yet acknowledged: the state of the files
// after it.
type flight struct {
	created map[string]string // digests by name
	moved   []int64           // to the trash or from it
	removed []int64           // permanently
}

// sizes are those at the boundaries of storage formats: chunks are just under 1 MiB.
var sizes = []int64{0, 1, 100, 3072, 64 << 10, 200 << 10, 1<<20 - 65, 1<<20 - 64, 1<<20 - 63,
	3 << 20}

// picture returns a small image that depends on the seed.
func picture(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	img := image.NewNRGBA(image.Rect(0, 0, 90, 70))
	for x := range 90 {
		img.Set(x, r.IntN(70), color.NRGBA{byte(r.Uint32()), byte(r.Uint32()), 0, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // writing to memory cannot fail
	}
	return b.Bytes()
}

// anyContent returns a picture or bytes of some size, often the same as other senders send.
func (s *sender) anyContent() []byte {
	seed := s.random.Uint64N(4)
	if s.random.IntN(2) == 0 {
		seed = s.random.Uint64()
	}
	if s.random.IntN(3) == 0 {
		return picture(seed)
	}
	return payload{seed, sizes[s.random.IntN(len(sizes))]}.bytes()
}

const maxSent = 10 // maximum number of files of one sender, which keeps the database small

// step makes one change, or requests a thumbnail. gone reports whether the server has
// ended.
func (s *sender) step(c *client) (gone bool, err error) {
	s.next++
	s.flight = flight{}
	live, trash := ids(s.live), ids(s.trash)
	n := s.random.IntN(10)
	switch {
	case len(live) == 0 || n < 5 && len(live)+len(trash) < maxSent:
		return s.upload(c)
	case n < 6 && len(trash) > 0:
		s.flight.moved = trash[:1]
		return s.change(c, "PUT", fmt.Sprint("/file/trash/", trash[0]))
	case n < 8 && len(trash) > 0:
		s.flight.removed = trash
		return s.change(c, "DELETE", "/file/trash?ids="+joined(trash))
	case n < 9:
		s.flight.moved = live[:1+s.random.IntN(len(live))]
		return s.change(c, "DELETE", "/file/list?ids="+joined(s.flight.moved))
	}

	a, err := c.do("GET", content(live[s.random.IntN(len(live))])+"?thumb=64x64", "")
	if err == nil && a.status != 200 && a.status != 422 { // it is not a picture
		return false, fmt.Errorf("a small picture: %d %s", a.status, a.raw)
	}

	return err != nil, nil
}

func ids(files map[int64]fileRecord) []int64 {
	all := []int64{}
	for id := range files {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

func joined(ids []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
}

// upload sends one to three files in one form.
func (s *sender) upload(c *client) (gone bool, err error) {
	s.flight.created = map[string]string{}
	var form bytes.Buffer
	for i := range 1 + s.random.IntN(3) {
		name, data := fmt.Sprintf("%s-%d-%d", s.name, s.next, i), s.anyContent()
		s.flight.created[name] = digest(data)
		form.WriteString(formPart(name))
		form.Write(data)
		form.WriteString("\r\n")
	}

	form.WriteString(formEnd)
	req, err := c.uploading(int64(form.Len()), &form)
	if err != nil {
		return false, err
	}

	resp, err := c.http.Do(req)
	if err != nil {
		return true, nil
	}

	defer resp.Body.Close()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); resp.StatusCode == http.StatusOK &&
		err != nil {
		return true, nil // as if it had not been sent
	}
	if resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("upload: %d %+v", resp.StatusCode, a)
	}

	s.acked++
	for _, f := range records(c.t, &a) {
		if want := s.flight.created[f.Name]; f.SHA256 != want {
			return false, fmt.Errorf("%s has the digest %s, want %s", f.Name, f.SHA256, want)
		}
		s.live[f.ID] = f
	}

	s.flight = flight{}
	return false, nil
}

// change sends the change in flight, and applies it to the expected state once it is
// acknowledged.
func (s *sender) change(c *client, method, path string) (gone bool, err error) {
	a, err := c.do(method, path, "")
	if err != nil {
		return true, nil
	}
	if a.status != 200 {
		return false, fmt.Errorf("%s %s: %d %s", method, path, a.status, a.raw)
	}

	s.acked++
	for _, id := range s.flight.removed {
		delete(s.trash, id)
	}

	for _, id := range s.flight.moved {
		s.move(id)
	}

	s.flight = flight{}
	return false, nil
}

func (s *sender) move(id int64) {
	from, to := s.live, s.trash
	if _, live := s.live[id]; !live {
		from, to = s.trash, s.live
	}
	to[id] = from[id]
	delete(from, id)
}

// settle compares the listed files with the acknowledged ones: all of them, and all or
// nothing of the unacknowledged change.
func (s *sender) settle(t *testing.T, live, trash map[int64]fileRecord) {
	t.Helper()
	came, all := 0, len(s.flight.created)+len(s.flight.moved)+len(s.flight.removed)
	for id, f := range live {
		if want, sent := s.flight.created[f.Name]; sent {
			came++
			s.live[id] = f
			if f.SHA256 != want {
				t.Errorf("%s has the digest %s, want %s", f.Name, f.SHA256, want)
			}
		}
	}

	for _, id := range s.flight.moved {
		_, was := s.live[id]
		if _, is := live[id]; was != is {
			came++
			s.move(id)
		}
	}

	for _, id := range s.flight.removed {
		if _, there := trash[id]; !there {
			came++
			delete(s.trash, id)
		}
	}

	if came != 0 && came != all {
		t.Errorf("of a change of %+v only %d of %d came through", s.flight, came, all)
	}

	s.flight = flight{}
	for what, lists := range map[string][2]map[int64]fileRecord{
		"list":  {s.live, live},
		"trash": {s.trash, trash},
	} {
		for id, want := range lists[0] {
			if got := lists[1][id]; got.SHA256 != want.SHA256 || got.Name != want.Name ||
				got.Size != want.Size {
				t.Errorf("the %s has %+v, acknowledged was %+v", what, got, want)
			}
		}
	}
}

// settled calls settle for all senders, and checks that there are no other files and that
// every file can be read. It returns the digests of all files.
func settled(t *testing.T, c *client, senders []*sender) map[string]bool {
	t.Helper()
	live, trash := c.listed("/file/list"), c.listed("/file/trash")
	n, digests := 0, map[string]bool{}
	for _, s := range senders {
		s.settle(t, live, trash)
		n += len(s.live) + len(s.trash)
	}

	if n != len(live)+len(trash) {
		t.Errorf("there are %d files, %d were uploaded", len(live)+len(trash), n)
	}

	for _, f := range live {
		c.mustHold(f)
		digests[f.SHA256] = true
	}

	for _, f := range trash {
		digests[f.SHA256] = true // verify reads the content of these
	}

	return digests
}
