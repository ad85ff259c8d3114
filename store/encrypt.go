package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// A backup can be encrypted to age recipients (age-encryption.org/v1). Whoever takes
// it cannot read it; restoring needs one of the identities.

// ageHead begins every file that age has encrypted.
const ageHead = "age-encryption.org/v1\n"

func isEncrypted(r io.ReaderAt) bool {
	head := make([]byte, len(ageHead))
	_, err := r.ReadAt(head, 0)
	return err == nil && string(head) == ageHead
}

// Encrypt writes a backup to w, encrypted to recipients.
func (b *Backup) Encrypt(w io.Writer, recipients []age.Recipient) error {
	out, err := age.Encrypt(w, recipients...)
	if err != nil {
		return err
	}
	if _, err := b.WriteTo(out); err != nil {
		return err // what was written lacks its end, so it cannot pass for whole
	}
	return out.Close()
}

// EncryptedSize is how many bytes Encrypt writes.
func (b *Backup) EncryptedSize(recipients []age.Recipient) (int64, error) {
	empty := &countWriter{w: io.Discard}
	out, err := age.Encrypt(empty, recipients...)
	if err != nil {
		return 0, err
	}
	if err := out.Close(); err != nil {
		return 0, err
	}
	const chunk, tag = 64 << 10, 16 // the last chunk has a tag even if the file is empty
	chunks := max(1, (b.size+chunk-1)/chunk)
	return empty.n - tag + b.size + chunks*tag, nil
}

// decrypt opens an encrypted file of some size, whose end is checked at once, and
// returns its content and how long that is.
func decrypt(r io.ReaderAt, size int64, identities []age.Identity) (io.Reader, int64, error) {
	if len(identities) == 0 {
		return nil, 0, errors.New("it is encrypted: name the file with the identity (AGE-SECRET-KEY-…) with --identity FILE")
	}
	plain, n, err := age.DecryptReaderAt(r, size, identities...)
	if none := (*age.NoIdentityMatchError)(nil); errors.As(err, &none) {
		return nil, 0, errors.New("it is encrypted, and not to the identity that was given")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("decrypt it: %w", err)
	}
	return bufio.NewReaderSize(io.NewSectionReader(plain, 0, n), 64<<10), n, nil
}
