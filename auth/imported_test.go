package auth

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"reeve/store"
	"reeve/store/errs"
)

// importedHashes were made by other programs, and published with their passwords.
var importedHashes = map[string]struct{ hash, password string }{
	"PHP's manual, password_verify": {"$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTpOq", "rasmuslerdorf"},
	"PHP's manual, crypt":           {"$2y$07$usesomesillystringfore2uDLvp1Ii2e./U9C8sBjqp8I90dH6hi", "rasmuslerdorf"},
	"PHP's manual, cost 10":         {"$2y$10$.vGA1O9wmRjrwAVXD98HNOgsNpDczlqm3Jq7KnEd1rVAGv3Fykk1a", "rasmuslerdorf"},
	"Laravel's user factory":        {"$2y$10$92IXUNpkjO0rOQ5byMi.Ye4oKoEa3Ro9llC/.og/at2.uheWG/igi", "password"},
	"RuoYi's first user":            {"$2a$10$7JB720yubVSZvUI0rEqK/.VqGOZTH.ulu33dHOiBE8ByOhJIrdAu2", "admin123"},
	"crypt_blowfish, variant 2b":    {"$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"},
	"Spring's manual, bcrypt":       {"{bcrypt}$2a$10$dXJ3SW6G7P50lGmMkkmwe.20cQQubK3.HZWzG3YB1tlRy.fqvM/BG", "password"},
	"Spring's manual, scrypt":       {"{scrypt}$e0801$8bWJaSu2IKSn9Z9kM+TPXfOc/9bdYSrN1oD9qfVThWEwdRTnO7re7Ei+fUZRJ68k9lTyuTeUp4of4g24hHnazw==$OAOec05+bXxvuu/1qZ6NUR+xQYvYv7BeL1QxwRpY5Pc=", "password"},
	"lambdaworks' scrypt":           {"{scrypt}$e0801$epIxT/h6HbbwHaehFnh/bw==$7H0vsXlY8UxxyW/BWx/9GuY7jEvGjT71GFd6O4SZND0=", "secret"},
	"reference argon2id":            {"$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "password"},
	"reference argon2id, two lanes": {"$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc", "password"},
	"Spring's form of argon2id":     {"{argon2}$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "password"},
	"Spring 5.8's form of it":       {"{argon2@SpringSecurity_v5_8}$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "password"},
	"reference argon2i":             {"$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA", "password"},
	"passlib's manual, scrypt":      {"$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E", "password"},
	"RFC 7914, third vector": {"$scrypt$ln=14,r=8,p=1$" + phc([]byte("SodiumChloride")) + "$" + phc(fromHex(
		"7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")), "pleaseletmein"},
}

func phc(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }

func fromHex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

func TestImportedHash_OtherPrograms(t *testing.T) {
	h := newHasher([]byte("key"), testCost)
	for name, c := range importedHashes {
		stored, err := ImportHash("password_hash", c.hash)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !h.stale(stored) {
			t.Errorf("%s would stay", name)
		}

		for given, want := range map[string]bool{
			c.password:                  true,
			c.password + " ":            false,
			strings.ToUpper(c.password): false,
			"":                          false,
		} {
			if c.password == "U*U" && given == strings.ToUpper(c.password) {
				want = true
			}
			if same, err := h.compare(newPasswords, stored, given); err != nil || same != want {
				t.Errorf("%s: %q matches: %t, %v", name, given, same, err)
			}
		}
	}
}

// The own hash of a password is not compared with the password itself, nor an imported one with its
// HMAC.
func TestImportedHash_SeparateFromOwn(t *testing.T) {
	h := newHasher([]byte("key"), testCost)
	foreign, err := bcrypt.GenerateFromPassword([]byte(password), testCost)
	must(t, err)
	own, err := h.hash(newPasswords, password)
	must(t, err)
	for name, c := range map[string]struct {
		hash string
		want bool
	}{
		"a foreign hash as an imported one": {store.ImportedHash + string(foreign), true},
		"a foreign hash as an own one":      {string(foreign), false},
		"an own hash as an own one":         {own, true},
		"an own hash as an imported one":    {store.ImportedHash + own, false},
	} {
		if same, err := h.compare(newPasswords, c.hash, password); err != nil || same != c.want {
			t.Errorf("%s: %t, %v", name, same, err)
		}
	}

	if n := h.compared.Load(); n != 4 {
		t.Errorf("%d comparisons", n)
	}
}

func TestImportedHash_CostlyRefused(t *testing.T) {
	const salt, sum = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	crypt := "$" + strings.Repeat("a", 53)
	argon := func(parameters string) string {
		return "$argon2id$v=19$" + parameters + "$" + salt + "$" + sum
	}
	for hash, want := range map[string]string{
		"$2y$03" + crypt:                      "bcrypt cost is 3,",
		"$2y$15" + crypt:                      "bcrypt cost is 15,",
		"{bcrypt}$2a$31" + crypt:              "bcrypt cost is 31,",
		argon("m=65537,t=1,p=1"):              "argon2 m (KiB) is 65537,",
		argon("m=2147483647,t=1,p=1"):         "argon2 m (KiB) is",
		argon("m=7,t=1,p=1"):                  "argon2 m (KiB) is 7,",
		argon("m=64,t=1,p=9"):                 "argon2 m (KiB) is 64, and must be 72 to",
		argon("m=256,t=0,p=1"):                "argon2 t is 0,",
		argon("m=256,t=11,p=1"):               "argon2 t is 11,",
		argon("m=256,t=1,p=0"):                "argon2 p is 0,",
		argon("m=65536,t=1,p=17"):             "argon2 p is 17,",
		argon("m=65536,t=1,p=257"):            "argon2 p is 257,",
		scryptHash("ln=0,r=8,p=1"):            "scrypt ln is 0,",
		scryptHash("ln=20,r=1,p=1"):           "scrypt ln is 20,",
		scryptHash("ln=63,r=1,p=1"):           "scrypt ln is 63,",
		scryptHash("ln=17,r=8,p=1"):           "scrypt 128*N*r (KiB) is 131072,",
		scryptHash("ln=19,r=1024,p=16"):       "scrypt 128*N*r (KiB) is",
		scryptHash("ln=16,r=8,p=5"):           "scrypt 128*N*r*p (KiB) is 327680,",
		scryptHash("ln=4,r=0,p=1"):            "scrypt r is 0,",
		scryptHash("ln=4,r=1025,p=1"):         "scrypt r is 1025,",
		scryptHash("ln=4,r=1,p=17"):           "scrypt p is 17,",
		"{scrypt}$110801$" + salt + "$" + sum: "scrypt 128*N*r (KiB) is 131072,",
		"{scrypt}$e0800$" + salt + "$" + sum:  "scrypt p is 0,",
		"$argon2id$v=19$m=256,t=1,p=1$" + phc(make([]byte, 7)) + "$" + sum:   "the salt (bytes) is 7,",
		"$argon2id$v=19$m=256,t=1,p=1$" + phc(make([]byte, 65)) + "$" + sum:  "the salt (bytes) is 65,",
		"$argon2id$v=19$m=256,t=1,p=1$" + salt + "$" + phc(make([]byte, 15)): "the hash (bytes) is 15,",
		"$scrypt$ln=4,r=1,p=1$" + salt + "$" + phc(make([]byte, 65)):         "the hash (bytes) is 65,",
	} {
		refusedHash(t, hash, want)
	}
}

func scryptHash(parameters string) string {
	return "$scrypt$" + parameters + "$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
}

func TestImportedHash_OtherTextsRefused(t *testing.T) {
	const unknown, sum = "in a known form", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	good := importedHashes["Laravel's user factory"].hash
	for hash, want := range map[string]string{
		"": unknown, "x": unknown, "$": unknown, "$$$": unknown, "password": unknown,
		" " + good: unknown, store.ImportedHash + good: unknown,
		"{noop}password": unknown,
		"{sha256}97cde38028ad898ebc02e690819fa220e88c62e0699403e94fff291cfffaf8410849f27605abcbc0": unknown,
		"5f4dcc3b5aa765d61d8327deb882cf99": unknown, "$1$salt$qJH7.N4xYta3aEG/dfqo/0": unknown,
		"{argon2}" + good: unknown, "{bcrypt@x}" + good: unknown,
		"{bcrypt}{bcrypt}" + good: unknown, "$2x$" + good[4:]: unknown, "$2$" + good[4:]: unknown,
		"$argon2d$v=19$m=256,t=1,p=1$c29tZXNhbHQ$" + sum: unknown,
		good + "\n": "well-formed hash of bcrypt", good[:59]: "well-formed hash of bcrypt",
		good + "a":                         "well-formed hash of bcrypt",
		strings.Replace(good, ".", "=", 1): "well-formed hash of bcrypt",
		"$2y$1$":                           "well-formed hash of bcrypt",
		"$2y$-1" + good[6:]:                "well-formed hash of bcrypt",
		"$argon2id$m=256,t=1,p=1$c29tZXNhbHQ$" + sum:              "well-formed hash of argon2id",
		"$argon2id$v=16$m=256,t=1,p=1$c29tZXNhbHQ$" + sum:         "version 19",
		"$argon2id$v=19$t=1,m=256,p=1$c29tZXNhbHQ$" + sum:         "well-formed hash of argon2id",
		"$argon2id$v=19$m=256,t=1$c29tZXNhbHQ$" + sum:             "well-formed hash of argon2id",
		"$argon2id$v=19$m=+256,t=1,p=1$c29tZXNhbHQ$" + sum:        "well-formed hash of argon2id",
		"$argon2id$v=19$m=99999999999,t=1,p=1$c29tZXNhbHQ$" + sum: "well-formed hash of argon2id",
		"$argon2i$v=19$m=256,t=1,p=1$c29t\nZXNhbHQ$" + sum:        "well-formed hash of argon2i",
		"$argon2i$v=19$m=256,t=1,p=1$c29t.XNhbHQ$" + sum:          "well-formed hash of argon2i",
		"$argon2i$v=19$m=256,t=1,p=1$c29tZXNhbHQ$" + sum + "$":    "well-formed hash of argon2i",
		"$scrypt$ln=4,r=1,p=1$c29tZXNhbHQ":                        "well-formed hash of scrypt",
		"{scrypt}$-e0801$c29tZXNhbHQ$" + sum:                      "well-formed hash of scrypt",
		"{scrypt}$e0801ffff$c29tZXNhbHQ$" + sum:                   "well-formed hash of scrypt",
		good + strings.Repeat("a", 1000):                          "at most 512 bytes",
		strings.Repeat("$argon2id", 1<<20):                        "at most 512 bytes",
	} {
		refusedHash(t, hash, want)
	}
}

// refusedHash checks that a hash is refused with a text that names the field and does not repeat
// the hash.
func refusedHash(t *testing.T, hash, want string) {
	t.Helper()
	stored, err := ImportHash("password_hash", hash)
	if stored != "" || !errs.Is(err, errs.Invalid) {
		t.Errorf("%.80q: %q, %v", hash, stored, err)
		return
	}
	fault := errs.Of(err).Fields["password_hash"].String()
	if !strings.Contains(fault, want) ||
		len(hash) > 12 && strings.Contains(fault, hash[len(hash)-12:]) || len(fault) > 200 {
		t.Errorf("%.80q: %s, want %s", hash, fault, want)
	}
}

// A stored hash that cannot be parsed is an error, and not a wrong password.
func TestImportedHash_DamagedIsError(t *testing.T) {
	h := newHasher([]byte("key"), testCost)
	for _, hash := range []string{"", "x", "$2y$10$short",
		"$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHQ$AAAA"} {
		if same, err := h.compare(newPasswords, store.ImportedHash+hash, password); same ||
			err == nil || hash != "" && strings.Contains(err.Error(), hash) {
			t.Errorf("%q: %t, %v", hash, same, err)
		}
	}
}

// What is accepted stays within the bounds, and is verified without an error.
func FuzzImportHash(f *testing.F) {
	for _, c := range importedHashes {
		f.Add(c.hash)
	}
	f.Fuzz(func(t *testing.T, hash string) {
		stored, err := ImportHash("password_hash", hash)
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatal(err)
			}
			return
		}
		if _, fault := parseImported(strings.TrimPrefix(stored, store.ImportedHash)); !fault.Empty() || len(hash) > maxImported {
			t.Errorf("%q: %s", hash, fault)
		}
	})
}
