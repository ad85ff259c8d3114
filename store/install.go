package store

// Install is what makes this database this one; there is exactly one record. It
// lies in data.db, so that a restored file alone lets people in.
type Install struct {
	Ident
	Name        string   `json:"name"`          // random; not a secret
	PasswordKey []byte   `json:"password_key"`  // 48 bytes, mixed into every password before hashing
	SecretKeyID string   `json:"secret_key_id"` // ID of the key in secret.key; "" until one is chosen
	Seeded      []string `json:"seeded"`        // permission keys that were ever added by the program itself
	Stamps
}

// Installs holds the one Install, with id 1.
var Installs = NewCollection[Install]("install")
