package kv

// Install identifies a database and holds its key for passwords. There is exactly one record. It is
// stored in data.db, so that users can sign in after only that file was restored.
type Install struct {
	Ident
	Name        string   `json:"name"`                      // random; not a secret
	PasswordKey []byte   `json:"password_key" log:"secret"` // 48 bytes, mixed into every password before hashing
	SecretKeyID string   `json:"secret_key_id"`             // ID of the key in secret.key; "" until one is chosen
	Seeded      []string `json:"seeded"`                    // all permission keys that the program itself has ever added
	Timestamps
}

// Installs holds the only Install record, with ID 1.
var Installs = NewCollection[Install]("install")
