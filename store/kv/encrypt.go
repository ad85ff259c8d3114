package kv

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"reeve/store/seal"
)

// A backup can be encrypted to age recipients (age-encryption.org/v1). To restore it, one of
// the matching identities is needed.

// ageHead is the first line of every file that is encrypted with age.
const ageHead = "age-encryption.org/v1\n"

// isEncrypted reports whether a file is encrypted with age.
func isEncrypted(r io.ReaderAt) bool {
	head := make([]byte, len(ageHead))
	_, err := r.ReadAt(head, 0)
	return err == nil && string(head) == ageHead
}

// Encrypt writes the backup to w, encrypted to recipients.
func (b *Backup) Encrypt(w io.Writer, recipients []age.Recipient) error {
	out, err := age.Encrypt(w, recipients...)
	if err != nil {
		return err
	}
	if _, err := b.WriteTo(out); err != nil {
		return err // without its last chunk, the output cannot be decrypted as complete
	}
	return out.Close()
}

// EncryptedSize returns the number of bytes that Encrypt writes.
func (b *Backup) EncryptedSize(recipients []age.Recipient) (int64, error) {
	return seal.Size(b.size, recipients...)
}

// ErrOtherIdentity is the error for an encrypted file that none of the given identities opens.
var ErrOtherIdentity = errors.New("it is encrypted for a different identity than the given one")

// decrypt opens an encrypted file of size bytes and returns its plaintext and the length of it.
// The last chunk is authenticated at once, so that a truncated file is an error here.
func decrypt(r io.ReaderAt, size int64, identities []age.Identity) (io.Reader, int64, error) {
	if len(identities) == 0 {
		return nil, 0,
			errors.New("it is encrypted: name the file with the identity (AGE-SECRET-KEY-…) with --identity FILE")
	}
	plain, n, err := age.DecryptReaderAt(r, size, identities...)
	if none := (*age.NoIdentityMatchError)(nil); errors.As(err, &none) {
		return nil, 0, ErrOtherIdentity
	}
	if err != nil {
		return nil, 0, fmt.Errorf("decrypt it: %w", err)
	}
	return bufio.NewReaderSize(io.NewSectionReader(plain, 0, n), 64<<10), n, nil
}
