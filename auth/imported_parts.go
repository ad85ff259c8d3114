package auth

import (
	"encoding/base64"
	"strconv"
	"strings"

	"reeve/store/errs"
)

func malformed(algorithm string) errs.Message {
	return errs.Say("is not a well-formed hash of %s", algorithm)
}

// within returns the fault of a value outside its bounds.
func within(name string, value, least, most int) errs.Message {
	if value >= least && value <= most {
		return errs.Message{}
	}
	return errs.Say("the value of %s is %d, and must be %d to %d", name, value, least, most)
}

// first returns the first message that is not empty.
func first(faults ...errs.Message) errs.Message {
	for _, fault := range faults {
		if !fault.Empty() {
			return fault
		}
	}
	return errs.Message{}
}

// parameters parses decimal parameters such as m=65536,t=3,p=4, which must have these names in this
// order.
func parameters(text string, names ...string) (values []int, ok bool) {
	pairs := strings.Split(text, ",")
	if len(pairs) != len(names) {
		return nil, false
	}
	for i, pair := range pairs {
		digits, found := strings.CutPrefix(pair, names[i]+"=")
		value := number(digits)
		if !found || value < 0 {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

// number parses digits; it returns -1 for anything else and for numbers of more than 31 bits.
func number(digits string) int {
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

// saltAndSum decodes salt and sum, in Base64 with or without padding.
func saltAndSum(algorithm, salt64, sum64 string) (salt, sum []byte, fault errs.Message) {
	salt, ok := decode64(salt64)
	sum, ok2 := decode64(sum64)
	if !ok || !ok2 {
		return nil, nil, malformed(algorithm)
	}
	return salt, sum, first(
		within("the salt (bytes)", len(salt), minImportedSalt, maxImportSalt),
		within("the hash (bytes)", len(sum), minImportedSum, maxImportedSum),
	)
}

func decode64(text string) ([]byte, bool) {
	if strings.ContainsAny(text, "\r\n") { // which the decoder skips
		return nil, false
	}
	b, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
	return b, err == nil
}
