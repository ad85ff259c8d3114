package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// A challenge is a proof of work in the format of ALTCHA (altcha.org): the client looks for the
// number whose SHA-256 with the salt is the challenge, and sends it back with everything that it
// got. The server keeps nothing but the challenges that were used, until they expire.

const (
	challengeAlgorithm = "SHA-256"
	challengeNumbers   = 100_000 // highest number: a second or so of a phone
	challengeLife      = 10 * time.Minute
	perRegistration    = 2 // challenges that an address gets for each registration it may try
)

// Challenge is the puzzle that a client has to solve. The names are those of ALTCHA.
type Challenge struct {
	Algorithm string `json:"algorithm" doc:"Hash function: SHA-256"`
	Challenge string `json:"challenge" doc:"Hash of the salt followed by the number in decimal digits, hexadecimal"`
	MaxNumber int64  `json:"maxnumber" doc:"Highest possible number"`
	Salt      string `json:"salt" doc:"Random text, with the time at which the challenge expires, in seconds since 1970"`
	Signature string `json:"signature" doc:"Proof that this server has made the challenge, to be sent back"`
}

// solution is the JSON of a solved challenge.
type solution struct {
	Algorithm string `json:"algorithm"`
	Challenge string `json:"challenge"`
	Number    int64  `json:"number"`
	Salt      string `json:"salt"`
	Signature string `json:"signature"`
}

// challengeSalt matches the salts of challenges. The & at the end keeps digits of the expiry and of
// the number that follows from being exchanged.
var challengeSalt = regexp.MustCompile(`^[0-9a-f]{32}\?expires=([0-9]{1,12})&$`)

var errSolution = errs.Field(errs.Invalid, "altcha",
	"is invalid, expired or was used already; solve a new challenge")

// challenges makes and checks challenges with a key.
type challenges []byte

// create returns a new challenge.
func (c challenges) create(now time.Time) Challenge {
	var random [16]byte
	rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	salt := fmt.Sprintf("%x?expires=%d&", random, now.Add(challengeLife).Unix())
	challenge := challengeHash(salt, int64(randomBelow(challengeNumbers+1)))
	return Challenge{challengeAlgorithm, challenge, challengeNumbers, salt, c.sign(challenge)}
}

func challengeHash(salt string, number int64) string {
	sum := sha256.Sum256([]byte(salt + strconv.FormatInt(number, 10)))
	return hex.EncodeToString(sum[:])
}

func (c challenges) sign(challenge string) string {
	return hex.EncodeToString(keyed(c, challenge))
}

// check checks a solution, the base64 of its JSON, which can be used once.
func (c challenges) check(encoded string, now time.Time) (solved once, err error) {
	if encoded == "" {
		return once{}, errs.Field(errs.Invalid, "altcha", "is required")
	}

	text, err := base64.StdEncoding.DecodeString(encoded)
	var s solution
	if err != nil || json.Unmarshal(text, &s) != nil {
		return once{}, errSolution
	}

	salt := challengeSalt.FindStringSubmatch(s.Salt)
	if salt == nil || s.Algorithm != challengeAlgorithm || s.Number < 0 ||
		s.Number > challengeNumbers ||
		!hmac.Equal([]byte(s.Signature), []byte(c.sign(s.Challenge))) ||
		challengeHash(s.Salt, s.Number) != s.Challenge {
		return once{}, errSolution
	}

	seconds, err := strconv.ParseInt(salt[1], 10, 64)
	if expires := time.Unix(seconds, 0); err == nil && now.Before(expires) {
		return onceOf(challengeValue, sha256.Sum256([]byte(s.Challenge)), expires), nil
	}

	return once{}, errSolution
}

// Challenge returns a challenge to solve before registering, while the settings require one. It is
// rate-limited by address.
func (a *Auth) Challenge(in Attempt) (*Challenge, error) {
	var wait time.Duration
	err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		if !store.RegistrationOpen(tx) || !store.AppRegistrationChallenge.Get(tx) {
			return errs.New(errs.Denied, "no challenge is needed").Coded("challenge_off")
		}
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		n, left := observedCounters{a.counters, in.Observe}.add("challenge "+Network(in.Addr), 1,
			window)
		if n > a.counters.share(store.LoginTries.Get(tx)*triesPerAddress*perRegistration) {
			wait = left
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return nil, a.tooMany(throttledChallenge, wait)
	}

	c := a.challenges.create(a.counters.now())
	return &c, nil
}
