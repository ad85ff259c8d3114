package main

import (
	"fmt"
	"os"

	"aead.dev/minisign"
)

// Environment variables with the secret key that signs, as `minisign -G` writes it, and with its
// password. Without a key nothing is signed.
const (
	keyVariable      = "REEVE_RELEASE_KEY"
	passwordVariable = "REEVE_RELEASE_KEY_PASSWORD"
)

// sign writes the signature of a file.
func (r *release) sign(name string, content []byte) error {
	text := os.Getenv(keyVariable)
	if text == "" {
		fmt.Printf("no %s: nothing is signed\n", keyVariable)
		return nil
	}
	key, err := minisign.DecryptKey(os.Getenv(passwordVariable), []byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w", keyVariable, err)
	}
	trusted := "reeve " + r.version + " " + r.commit // without the time of the signature, so that it can be repeated
	signature := minisign.SignWithComments(key, content, trusted, "signature of reeve "+r.version)
	return r.write(name+".minisig", signature)
}
