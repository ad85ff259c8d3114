package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"sort"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Limits of one read transaction. Everything is copied out, so that a slow consumer
// does not hold a transaction open.
const (
	firstPage   = 16
	maxPage     = 512
	pageBytes   = 512 << 10
	pageTime    = 10 * time.Millisecond
	pageTimeAsk = 16 // number of events between two checks of the time
)

// Get returns an event; found is false if it does not exist or is damaged.
func (j *Journal) Get(kind string, id uint64) (e Event, found bool) {
	list := *j.segments.Load()
	i := sort.Search(len(list), func(i int) bool { return list[i].first > id }) - 1
	if i < 0 {
		return e, false
	}
	j.look(list[i], func(btx *bbolt.Tx) error {
		e, found = j.get(btx, kind, id)
		return nil
	})
	return e, found
}

// look reads from a segment and counts an error as damage.
func (j *Journal) look(s *segment, fn func(btx *bbolt.Tx) error) {
	if err := s.view(fn); err != nil && !errors.Is(err, errFileClosed) {
		j.damaged.Add(1)
	}
}

// get returns a copy of an event.
func (j *Journal) get(btx *bbolt.Tx, kind string, id uint64) (Event, bool) {
	bucket := eventBucket + kind
	b := btx.Bucket([]byte(bucket))
	if b == nil {
		return Event{}, false
	}

	key := eventKey(id)
	value := b.Get(key)
	if value == nil {
		return Event{}, false
	}

	head, body, err := decodeEvent(bucket, key, value)
	if err != nil {
		j.damaged.Add(1)
		return Event{}, false
	}

	return Event{id, kind, bytes.Clone(head), bytes.Clone(body)}, true
}

// decodeEvent returns the two parts of an event, which point into the mapped file.
func decodeEvent(bucket string, key, value []byte) (head, body []byte, err error) {
	payload, err := disk.Unframe(bucket, key, value)
	if err != nil {
		return nil, nil, err
	}
	if len(key) != 8 || len(payload) < 1 || 1+int(payload[0]) > len(payload) {
		return nil, nil, errors.New("it makes no sense")
	}
	end := 1 + int(payload[0])
	return payload[1:end:end], payload[end:], nil
}

// Group returns the events of all groups with a name, of every kind, by ID; nil if
// there are none.
func (j *Journal) Group(name string) (events []Event) {
	if name == "" {
		return nil
	}

	prefix := append([]byte(name), 0)
	for _, s := range *j.segments.Load() {
		j.look(s, func(btx *bbolt.Tx) error {
			b := btx.Bucket([]byte(groupBucket))
			if b == nil {
				return nil
			}
			c := b.Cursor()
			for key, value := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = c.Next() {
				if len(key) == len(prefix)+8 {
					events = append(events, j.groupEvents(btx, key, value)...)
				}
			}
			return nil
		})
	}

	sort.Slice(events, func(i, j int) bool { return events[i].ID < events[j].ID })
	return events
}

// groupEvents returns the events of one group entry.
func (j *Journal) groupEvents(btx *bbolt.Tx, key, value []byte) (events []Event) {
	count, kinds, err := decodeGroup(key, value)
	if err != nil {
		j.damaged.Add(1)
		return nil
	}

	first := binary.BigEndian.Uint64(key[len(key)-8:])
	for id := first; id < first+count; id++ {
		for _, kind := range kinds {
			if e, ok := j.get(btx, kind, id); ok {
				events = append(events, e)
				break
			}
		}
	}

	return events
}

// Newest yields the events of a kind with an ID below before (0 for all), newest first.
// Head and Body are valid only until yield returns. It returns events that existed when
// it began, and skips removed and damaged ones. yield may be slow: no transaction is
// open.
func (j *Journal) Newest(kind string, before uint64, yield func(Event) bool) {
	if before == 0 {
		before = math.MaxUint64
	}

	list := *j.segments.Load()
	page := &eventPage{kind: kind, bucket: eventBucket + kind, before: before, most: firstPage}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].first >= page.before {
			continue
		}
		for page.more = true; page.more; {
			page.more, page.events, page.buffer = false, page.events[:0], page.buffer[:0]
			j.look(list[i], func(btx *bbolt.Tx) error {
				j.damaged.Add(page.read(btx))
				return nil
			})
			for _, e := range page.events {
				if !yield(e) {
					return
				}
			}
			page.most = min(2*page.most, maxPage)
		}
	}
}

// eventPage is the page that one transaction of Newest reads.
type eventPage struct {
	kind, bucket string
	before       uint64 // number before which the next page begins
	most         int
	events       []Event
	buffer       []byte // copies of the events' bytes
	more         bool   // whether the segment has more events
}

func (p *eventPage) read(btx *bbolt.Tx) (damaged uint64) {
	b := btx.Bucket([]byte(p.bucket))
	if b == nil {
		return 0
	}

	begun := time.Now()
	c := b.Cursor()
	step := c.Prev
	if key, _ := c.Seek(eventKey(p.before)); key == nil {
		step = c.Last
	}

	for n := 1; ; n++ {
		key, value := step()
		if key == nil {
			return damaged
		}
		step = c.Prev
		if !p.add(key, value) {
			damaged++
		}
		if n >= p.most || len(p.buffer) > pageBytes ||
			n%pageTimeAsk == 0 && time.Since(begun) > pageTime {
			p.more = true
			return damaged
		}
	}
}

// add copies an event. It returns false if the event is damaged.
func (p *eventPage) add(key, value []byte) bool {
	if len(key) == 8 {
		p.before = binary.BigEndian.Uint64(key)
	}
	head, body, err := decodeEvent(p.bucket, key, value)
	if err != nil {
		return false
	}
	start := len(p.buffer)
	p.buffer = append(append(p.buffer, head...), body...)
	copied, end := p.buffer[start:len(p.buffer):len(p.buffer)], len(head)
	p.events = append(p.events, Event{p.before, p.kind, copied[:end:end], copied[end:]})
	return true
}
