package auth

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/scrypt"

	"reeve/store"
	"reeve/store/errs"
)

// Hashes that other programs have made are stored as they are, marked with store.ImportedHash,
// until their user signs in. They are hashes of the password itself, and not of its HMAC like the
// own ones: the mark keeps the two apart.
//
//	$2y$10$…  $2a$  $2b$                         bcrypt of PHP, Laravel, Java, Go, Node.js, Python
//	$argon2id$v=19$m=65536,t=3,p=4$SALT$HASH     argon2id and argon2i in the PHC string format
//	$scrypt$ln=16,r=8,p=1$SALT$HASH              scrypt in the PHC string format, as of passlib
//	{bcrypt}… {argon2}… {scrypt}$e0801$SALT$HASH Spring Security, with or without @SpringSecurity_v5_8
//
// Bounds keep the costliest hash below about a second of one core and 64 MiB of memory, so that a
// user who imports hashes cannot make sign-ins stop the server: hasher runs at most Workers of them
// at once. (The memory-hard ones compute in goroutines of their own, which a worker waits for.)
const (
	maxImported                    = 512 // bytes
	minBcryptCost, maxBcryptCost   = 4, 14
	maxHashMemory                  = 64 << 10 // KiB
	maxArgon2Time, maxArgon2Lanes  = 10, 16
	maxScryptLog, maxScryptBlock   = 19, 1024
	maxScryptLanes, maxScryptWork  = 16, 4 * maxHashMemory // KiB that are filled one after the other
	minImportedSalt, maxImportSalt = 8, 64                 // bytes
	minImportedSum, maxImportedSum = 16, 64                // bytes
)

// verifier reports whether a password is the one of an imported hash.
type verifier func(password []byte) (bool, error)

// ImportHash checks a hash of another program, and returns the text to store. field is the name of
// the input field for errors, which do not repeat the hash.
func ImportHash(field, hash string) (string, error) {
	if _, fault := parseImported(hash); !fault.Empty() {
		return "", errs.Field(errs.Invalid, field, "%s", fault)
	}
	return store.ImportedHash + hash, nil
}

// compareImported is compare for an imported hash, without store.ImportedHash.
func (h *hasher) compareImported(p hashCaller, hash, password string) (same bool, err error) {
	verify, fault := parseImported(hash)
	if !fault.Empty() {
		return false, fmt.Errorf("a stored password hash %s", fault)
	}
	err = h.run(p, func() (err error) {
		h.compared.Add(1)
		same, err = verify([]byte(password))
		return err
	})
	return same, err
}

// springPrefix is the name of an algorithm in hashes of Spring Security.
var springPrefix = regexp.MustCompile(`^\{(bcrypt|argon2|scrypt)(?:@SpringSecurity_v[0-9]+_[0-9]+)?\}`)

// parseImported parses a hash, and returns a description of its fault, if any.
func parseImported(hash string) (verifier, errs.Message) {
	if len(hash) > maxImported {
		return nil, errs.Say("must be at most %d bytes", maxImported)
	}

	spring := ""
	if m := springPrefix.FindStringSubmatch(hash); m != nil {
		spring, hash = m[1], hash[len(m[0]):]
	}

	algorithm, rest, _ := strings.Cut(strings.TrimPrefix(hash, "$"), "$")
	parts := strings.Split(rest, "$")
	switch {
	case !strings.HasPrefix(hash, "$"):
	case spring == "scrypt":
		return parseSpringScrypt(algorithm, parts)
	case (algorithm == "2a" || algorithm == "2b" || algorithm == "2y") && spring != "argon2":
		return parseBcrypt(hash)
	case (algorithm == "argon2id" || algorithm == "argon2i") && spring != "bcrypt":
		return parseArgon2(algorithm, parts)
	case algorithm == "scrypt" && spring == "":
		return parseScrypt(parts)
	}

	return nil, errs.Say("is not a hash of bcrypt, argon2id, argon2i or scrypt in a known form")
}

// bcryptForm is the form of a hash of bcrypt. The variant 2x is left out: it is of a wrong
// implementation.
var bcryptForm = regexp.MustCompile(`^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$`)

func parseBcrypt(hash string) (verifier, errs.Message) {
	m := bcryptForm.FindStringSubmatch(hash)
	if m == nil {
		return nil, malformed("bcrypt")
	}
	if fault := within("bcrypt cost", number(m[1]), minBcryptCost, maxBcryptCost); !fault.Empty() {
		return nil, fault
	}

	return func(password []byte) (bool, error) {
		// Like in other programs, bytes after the 72nd do not count.
		err := bcrypt.CompareHashAndPassword([]byte(hash), password)
		if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
			return false, nil
		}
		return err == nil, err
	}, errs.Message{}
}

// parseArgon2 parses version, parameters, salt and sum.
func parseArgon2(algorithm string, parts []string) (verifier, errs.Message) {
	if len(parts) != 4 {
		return nil, malformed(algorithm)
	}
	if parts[0] != "v=19" {
		return nil, errs.Say("must be a hash of version 19 of argon2")
	}

	values, ok := parameters(parts[1], "m", "t", "p")
	if !ok {
		return nil, malformed(algorithm)
	}

	memory, time, lanes := values[0], values[1], values[2]
	fault := first(
		within("argon2 t", time, 1, maxArgon2Time),
		within("argon2 p", lanes, 1, maxArgon2Lanes),
		within("argon2 m (KiB)", memory, 8*max(1, lanes), maxHashMemory),
	)
	if !fault.Empty() {
		return nil, fault
	}

	salt, sum, fault := saltAndSum(algorithm, parts[2], parts[3])
	derive := argon2.IDKey
	if algorithm == "argon2i" {
		derive = argon2.Key
	}

	return func(password []byte) (bool, error) {
		key := derive(password, salt, uint32(time), uint32(memory), uint8(lanes), uint32(len(sum)))
		return subtle.ConstantTimeCompare(key, sum) == 1, nil
	}, fault
}

// parseScrypt parses parameters, salt and sum.
func parseScrypt(parts []string) (verifier, errs.Message) {
	if len(parts) != 3 {
		return nil, malformed("scrypt")
	}
	values, ok := parameters(parts[0], "ln", "r", "p")
	if !ok {
		return nil, malformed("scrypt")
	}
	return newScrypt(values[0], values[1], values[2], parts[1], parts[2])
}

// parseSpringScrypt parses a hash of Spring's SCryptPasswordEncoder: its parameters are one
// hexadecimal number, with the binary logarithm of N above 16 bits, r in 8 bits and p in 8 bits.
func parseSpringScrypt(text string, parts []string) (verifier, errs.Message) {
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil || len(parts) != 2 {
		return nil, malformed("scrypt")
	}
	return newScrypt(int(n>>16), int(n>>8&0xff), int(n&0xff), parts[0], parts[1])
}

func newScrypt(log, block, lanes int, salt64, sum64 string) (verifier, errs.Message) {
	fault := first(
		within("scrypt ln", log, 1, maxScryptLog),
		within("scrypt r", block, 1, maxScryptBlock),
		within("scrypt p", lanes, 1, maxScryptLanes),
	)
	if !fault.Empty() {
		return nil, fault
	}

	memory := max(1, (block<<log)/8) // below 1<<26: fits into 32 bits, with lanes, too
	fault = first(
		within("scrypt 128*N*r (KiB)", memory, 1, maxHashMemory),
		within("scrypt 128*N*r*p (KiB)", memory*lanes, 1, maxScryptWork),
	)
	if !fault.Empty() {
		return nil, fault
	}

	salt, sum, fault := saltAndSum("scrypt", salt64, sum64)
	return func(password []byte) (bool, error) {
		key, err := scrypt.Key(password, salt, 1<<log, block, lanes, len(sum))
		return err == nil && subtle.ConstantTimeCompare(key, sum) == 1, err
	}, fault
}
