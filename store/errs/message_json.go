package errs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// encoded is the JSON form of a Message.
type encoded[P any] struct {
	Code   string       `json:"code"`
	Params map[string]P `json:"params,omitempty"`
}

// MarshalJSON writes the code and the params, not the text.
func (m Message) MarshalJSON() ([]byte, error) {
	return json.Marshal(encoded[any]{m.Code(), m.Params()})
}

// UnmarshalJSON decodes the output of MarshalJSON. It returns an error if another version has
// written it and this catalogue does not have the code with these params.
func (m *Message) UnmarshalJSON(b []byte) error {
	var in encoded[json.RawMessage]
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}

	e := index().byCode[in.Code]
	if e == nil {
		return fmt.Errorf("unknown message %q", in.Code)
	}

	names := strings.Fields(e.params)
	if len(names) != len(in.Params) {
		return fmt.Errorf("message %s has %d params, not %d", in.Code, len(names), len(in.Params))
	}

	read := Message{format: e.english}
	for _, name := range names {
		arg, err := decodeArg(in.Params[name])
		if err != nil {
			return fmt.Errorf("message %s, param %s: %w", in.Code, name, err)
		}
		read.args = append(read.args, arg)
	}

	*m = read
	return nil
}

// decodeArg decodes one argument of a message.
func decodeArg(b json.RawMessage) (any, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("is missing")
	}

	switch b[0] {
	case '"':
		var text string
		err := json.Unmarshal(b, &text)
		return text, err
	case '[':
		var texts list
		err := json.Unmarshal(b, &texts)
		return texts, err
	case '{':
		var m Message
		err := json.Unmarshal(b, &m)
		return m, err
	}

	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(string(b), 10, 64); err == nil {
		return n, nil
	}

	return strconv.ParseFloat(string(b), 64)
}
