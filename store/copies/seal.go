package copies

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"
)

// serverStanza is the type of the stanza of the key with which the server reads manifests and indexes
// of its own: it is derived from secret.key.
const serverStanza = "reeve-server"

// sealJSON returns a value as compressed JSON that is encrypted to recipients.
func sealJSON(value any, recipients []age.Recipient) ([]byte, error) {
	var out bytes.Buffer
	sealed, err := age.Encrypt(&out, recipients...)
	if err != nil {
		return nil, err
	}
	packed := gzip.NewWriter(sealed)
	err = errors.Join(json.NewEncoder(packed).Encode(value), packed.Close(), sealed.Close())
	return out.Bytes(), err
}

// maxJSON is the maximum size in bytes of the JSON in an object.
const maxJSON = 1 << 30

// openJSON decodes an object of sealJSON.
func openJSON(r io.Reader, identities []age.Identity, to any) error {
	opened, err := age.Decrypt(r, identities...)
	if none := (*age.NoIdentityMatchError)(nil); errors.As(err, &none) {
		return errOtherKey
	}
	if err != nil {
		return err
	}
	packed, err := gzip.NewReader(opened)
	if err != nil {
		return err
	}
	if err := json.NewDecoder(io.LimitReader(packed, maxJSON)).Decode(to); err != nil {
		return fmt.Errorf("it is damaged: %w", err)
	}
	_, err = io.Copy(io.Discard, packed) // to the end, whose checksum it has
	return err
}

// errOtherKey is the error of an object that none of the identities opens.
var errOtherKey = errors.New("it is encrypted for other identities")

// with returns recipients and further ones.
func with(recipients []age.Recipient, more ...age.Recipient) []age.Recipient {
	return append(slices.Clone(recipients), more...)
}
