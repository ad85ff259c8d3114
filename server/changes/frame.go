package changes

import (
	"encoding/json"
	"strconv"
	"strings"

	"reeve/store/errs"
)

// AccessChanged is the type of the event that the caller's own permissions or data scope have
// changed.
const AccessChanged = "access.changed"

// Frame returns an event in the format of Server-Sent Events. id is "" for an event that is no
// position at which a client can continue.
func Frame(id, kind string, data any) ([]byte, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	var b []byte
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	b = append(append(append(b, "event: "...), kind...), '\n')
	return append(append(append(b, "data: "...), text...), "\n\n"...), nil
}

// position is a place in the change log that a client has received.
type position struct {
	generation string // "" if the client has sent only a number
	seq        uint64
}

func parsePosition(text string) (p position, err error) {
	generation, number, both := strings.Cut(text, "-")
	if !both {
		generation, number = "", text
	}
	p.generation = generation
	if p.seq, err = strconv.ParseUint(number, 10, 64); err != nil || both && generation == "" {
		return p, errs.Field(errs.Malformed, "Last-Event-ID",
			"must be the ID of an event, such as 4k2mvq7x1a-17, or its number")
	}
	return p, nil
}
