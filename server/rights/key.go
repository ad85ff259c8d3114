package rights

import (
	"time"

	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"key_scope": {"", store.ScopeAll, store.ScopeTree, store.ScopeDept, store.ScopeSelf,
			store.ScopeCustom},
		"key_state": {KeyActive, KeyUnused, KeyDisabled, KeyExpired, KeyPaused, KeyNoOwner, KeySignIn},
	})
}

func KeyRoutes() []web.Route {
	return []web.Route{
		web.List("/admin/key", "admin.key.query", "List API keys", &keys),
		web.Get("/admin/key/:id", "admin.key.query", "Get an API key", &keys),
		web.Write("POST", "/admin/key", "admin.key.create", "Create an API key", createKey,
			web.Options{
				Confirmed: true,
				Reveals:   true,
				Keys:      web.ByNoKey,
				Note: "A service key has the permissions of its roles as far as you may grant them, also " +
					"when your own change later. The response has the key, which no other response " +
					"contains.",
			}),
		web.Write("PUT", "/admin/key/:id", "admin.key.update", "Change an API key", changeKey,
			web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.APIKeys),
			}),
		web.Write("DELETE", "/admin/key/:id", "admin.key.delete", "Delete an API key", deleteKey,
			web.Options{
				Keys:   web.ByNoKey,
				Record: web.RecordOf(store.APIKeys),
			}),
		web.RemoveSeveral("/admin/key", "admin.key.delete", "Delete API keys", &keys,
			web.Options{Keys: web.ByNoKey}),
		web.Write("POST", "/admin/key/:id/rotate", "admin.key.rotate", "Rotate an API key",
			rotateKey, web.Options{
				Confirmed: true,
				Reveals:   true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.APIKeys),
				Note: "Returns a new key. The present one remains valid for overlap_hours, and one from an " +
					"earlier rotation ends. A personal key can be rotated by its owner only.",
			}),
		web.Write("POST", "/admin/key/:id/adopt", "admin.key.update", "Adopt an API key", adoptKey,
			web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.APIKeys),
				Note: "Makes you its owner, for whom it acts and whose rights limit it. Requires the owner " +
					"role; a personal key cannot be adopted.",
			}),
		web.Write("POST", "/admin/key/:id/resume", "admin.key.update", "Resume an API key",
			resumeKey, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.APIKeys),
				Note: "After a restore, all API keys are paused, since the backup can have keys that were " +
					"deleted later. Requires the owner role.",
			}),

		web.List("/admin/account/key", web.SignedIn, "List your own API keys", &ownKeys,
			web.Options{Keys: web.ByNoKey}),
		web.Get("/admin/account/key/:id", web.SignedIn, "Get your own API key", &ownKeys,
			web.Options{Keys: web.ByNoKey}),
		web.Write("POST", "/admin/account/key", web.SignedIn, "Create your own API key",
			createOwnKey, web.Options{
				Confirmed: true,
				Reveals:   true,
				Keys:      web.ByNoKey,
				Note: "A personal key has your permissions, also when they change later, or those of some " +
					"of your roles. The response has the key, which no other response contains.",
			}),
		web.Write("PUT", "/admin/account/key/:id", web.SignedIn, "Change your own API key",
			changeOwnKey, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.APIKeys),
			}),
		web.Write("DELETE", "/admin/account/key/:id", web.SignedIn, "Delete your own API key",
			deleteOwnKey, web.Options{
				Keys:   web.ByNoKey,
				Record: web.RecordOf(store.APIKeys),
			}),
		web.DeleteSeveral("/admin/account/key", web.SignedIn, "Delete your own API keys",
			removeOwnKey, web.Options{Keys: web.ByNoKey}),
		web.Write("POST", "/admin/account/key/:id/rotate", web.SignedIn, "Rotate your own API key",
			rotateOwnKey, web.Options{
				Confirmed: true,
				Reveals:   true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.APIKeys),
				Note: "Returns a new key. The present one remains valid for overlap_hours, and one from an " +
					"earlier rotation ends.",
			}),
	}
}

// ApiKey is an API key in responses.
type ApiKey struct {
	store.Ident
	Name          string     `json:"name"`
	UserID        store.ID   `json:"user_id" doc:"ID of the owner, the user for whom the key acts and whose rights limit it"`
	Username      string     `json:"username" doc:"Username of the owner; empty if the owner was deleted"`
	Personal      store.Flag `json:"personal" doc:"1 for a personal key, which has the permissions of its owner; 0 for a service key, which has those of its roles as far as its owner may grant them"`
	RoleIDs       []store.ID `json:"role_ids" doc:"IDs of the roles; of a personal key, those of the owner's roles that it has, empty for all"`
	RoleNames     []string   `json:"role_names" doc:"Names of the roles, in the order of role_ids"`
	DataScope     string     `json:"data_scope" enum:"key_scope" doc:"Data scope that narrows that of the roles, relative to the owner; empty for no narrowing"`
	DeptIDs       []store.ID `json:"dept_ids" doc:"IDs of the departments of the data scope custom"`
	Networks      []string   `json:"networks" doc:"IP addresses and networks that it may be used from; empty for all"`
	Rate          int64      `json:"rate_limit" doc:"Requests per minute; 0 for the setting security.key_rate_limit"`
	Status        store.Flag `json:"status" doc:"Status: 1 enabled, 0 disabled"`
	State         string     `json:"state" enum:"key_state" doc:"State: active; unused for 90 days; disabled, also while personal keys are turned off; expired; paused since a backup was restored; sign_in_due, if the owner has to sign in with a provider, see the setting security.provider_key_days; or no_owner, if the owner was disabled or deleted"`
	Hint          string     `json:"hint" doc:"First characters of the key, by which you can recognize it"`
	PreviousUntil store.Time `json:"previous_until" null:"true" doc:"Time until which the key from before the last rotation is valid too; null if there is none"`
	ExpiresAt     store.Time `json:"expires_at"`
	LastUsed      store.Time `json:"last_used" null:"true" doc:"Time of the last use, accurate to a minute; null if it was never used"`
	LastIP        string     `json:"last_ip" doc:"Address of the last use"`

	Created store.CreatedByKey `json:"created" doc:"What the key has created and what remains when it is deleted"`
	store.Versioned
}

// States of a key.
const (
	KeyActive   = "active"
	KeyUnused   = "unused"
	KeyDisabled = "disabled"
	KeyExpired  = "expired"
	KeyPaused   = "paused"
	KeyNoOwner  = "no_owner"
	KeySignIn   = "sign_in_due"
)

var keyColumns = []web.Column[store.APIKey]{
	{Name: "id", Uses: web.Sorted},
	{Name: "user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.KeyByUser),
		Named: web.ByName("user", "user")},
	{Name: "personal", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.KeyByKind)},
	{Name: "role_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.KeyByRole),
		Named: web.ByName("role", "role")},
}

var keys = web.Resource[store.APIKey, *ApiKey]{
	Collection: store.APIKeys,
	Keywords:   []string{"name"},
	Order:      "id, ascending",
	Output:     KeyOf,
	Columns:    keyColumns,
	Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
		return web.ScopedTo(tx, req, store.KeyByUser)
	},
}

// ownKeys are the personal keys of the caller.
var ownKeys = web.Resource[store.APIKey, *ApiKey]{
	Collection: store.APIKeys,
	Keywords:   []string{"name"},
	Order:      "id, ascending",
	Output:     KeyOf,
	Columns:    keyColumns[:1],
	Scope: func(_ *store.Tx, req *web.Request) (kv.Condition, bool) {
		return store.KeyByPersonal.AnyOf(req.Actor.ID), true
	},
}

func KeyOf(tx *store.Tx, _ *web.Request, k *store.APIKey) (*ApiKey, error) {
	out := &ApiKey{
		Ident:     k.Ident,
		Name:      k.Name,
		UserID:    k.UserID,
		Personal:  k.Personal,
		RoleIDs:   web.OrEmpty(k.RoleIDs),
		RoleNames: store.PolicyCache.Get(tx).RoleNames(k.RoleIDs),
		DataScope: k.DataScope,
		DeptIDs:   web.OrEmpty(k.DeptIDs),
		Networks:  web.OrEmpty(k.Networks),
		Rate:      k.Rate,
		Status:    k.Status,
		ExpiresAt: k.ExpiresAt,
		LastUsed:  k.LastUsed,
		LastIP:    k.LastIP,
		Versioned: k.Versioned,
	}

	secrets, err := store.KeySecretsOf(tx, k.ID)
	if err != nil {
		return nil, err
	}

	for _, s := range secrets {
		if s.ExpiresAt == 0 {
			out.Hint = s.Hint
		} else if s.ExpiresAt > tx.Now() {
			out.PreviousUntil = s.ExpiresAt
		}
	}

	owner, err := store.Users.Get(tx, k.UserID)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	if owner != nil {
		out.Username = owner.Username
	}

	out.State = KeyState(tx, k, owner)
	out.Created, err = store.UsersCreatedByKey(tx, k.ID)
	return out, err
}

// KeyState returns the state of a key. owner is nil if it was deleted.
func KeyState(tx *store.Tx, k *store.APIKey, owner *store.User) string {
	switch k.Unusable(tx, owner) {
	case "key_disabled", "personal_keys_off":
		return KeyDisabled
	case "no_owner", "user_disabled":
		return KeyNoOwner
	case "key_paused":
		return KeyPaused
	case "key_expired":
		return KeyExpired
	case "sign_in_due":
		return KeySignIn
	}
	if max(k.LastUsed, k.CreatedAt).Add(store.KeyUnused) < tx.Now() {
		return KeyUnused
	}
	return KeyActive
}

// KeyWithToken is a key with a new secret, which no other response contains.
type KeyWithToken struct {
	ApiKey
	Token string `json:"token" doc:"The new key, to be sent in the header Authorization: Bearer <token>; no other response contains it"`
}

// apiKeyFields are the fields of the input that both kinds of keys have.
type apiKeyFields struct {
	Name      *string     `json:"name" check:"create,min=1,max=64" doc:"Name of the program that uses the key"`
	DataScope *string     `json:"data_scope" check:"enum=key_scope" doc:"Data scope that narrows that of the roles, relative to the owner; empty for no narrowing"`
	DeptIDs   *[]store.ID `json:"dept_ids" names:"departments,department" check:"max=1000" doc:"IDs of the departments of the data scope custom"`
	Networks  *[]string   `json:"networks" check:"max=20" doc:"IP addresses and networks that it may be used from, such as 192.0.2.7 or 10.0.0.0/8; empty for all"`
	Rate      *int64      `json:"rate_limit" check:"min=0,max=100000000" doc:"Requests per minute; 0 for the setting security.key_rate_limit"`
	Status    *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new key; 0 disabled"`
	ExpiresAt *store.Time `json:"expires_at" check:"filled" doc:"Time at which the key expires; 90 days after its creation by default, and at most as many days ahead as the setting security.key_max_days says"`
}

type keyIn struct {
	apiKeyFields
	RoleIDs *[]store.ID `json:"role_ids" names:"roles,role" check:"create,min=1,max=100" doc:"IDs of the roles, which must be within what you can grant; not the owner role"`
}

type ownKeyIn struct {
	apiKeyFields
	RoleIDs *[]store.ID `json:"role_ids" names:"roles,role" check:"max=100" doc:"IDs of those of your roles that the key has; empty for all"`
}

type keyChange struct {
	web.ByID
	keyIn
}

type ownKeyChange struct {
	web.ByID
	ownKeyIn
}

var (
	assignKey    = web.Assigning[keyIn, store.APIKey]()
	assignOwnKey = web.Assigning[ownKeyIn, store.APIKey]()
)

func createKey(tx *store.Tx, req *web.Request, in *keyIn) (*KeyWithToken, error) {
	k := &store.APIKey{Status: true}
	assignKey(in, k)
	return addKey(tx, req, k)
}

func createOwnKey(tx *store.Tx, req *web.Request, in *ownKeyIn) (*KeyWithToken, error) {
	k := &store.APIKey{Status: true, Personal: true}
	assignOwnKey(in, k)
	return addKey(tx, req, k)
}

func addKey(tx *store.Tx, req *web.Request, k *store.APIKey) (*KeyWithToken, error) {
	token, hash, hint := auth.NewKey()
	if err := store.CreateKey(tx, k, hash, hint); err != nil {
		return nil, err
	}
	return withToken(tx, req, k, token)
}

func withToken(tx *store.Tx, req *web.Request, k *store.APIKey,
	token string) (*KeyWithToken, error) {
	out, err := KeyOf(tx, req, k)
	if err != nil {
		return nil, err
	}
	return &KeyWithToken{*out, token}, nil
}

func changeKey(tx *store.Tx, req *web.Request, in *keyChange) (*ApiKey, error) {
	return web.Edit(tx, req, &keys, in.ID, func(k *store.APIKey) { assignKey(&in.keyIn, k) })
}

func changeOwnKey(tx *store.Tx, req *web.Request, in *ownKeyChange) (*ApiKey, error) {
	if _, err := ownKeys.Get(tx, req, in.ID); err != nil {
		return nil, err
	}
	return web.Edit(tx, req, &ownKeys, in.ID, func(k *store.APIKey) {
		assignOwnKey(&in.ownKeyIn, k)
	})
}

// keyDeleted names what a deleted key leaves behind.
type keyDeleted struct {
	Created store.CreatedByKey `json:"created" doc:"What the key has created, which stays"`
}

func deleteKey(tx *store.Tx, _ *web.Request, in *web.ByID) (out keyDeleted, err error) {
	if out.Created, err = store.UsersCreatedByKey(tx, in.ID); err == nil {
		err = store.APIKeys.Delete(tx, in.ID)
	}
	return out, err
}

func deleteOwnKey(tx *store.Tx, req *web.Request, in *web.ByID) (out keyDeleted, err error) {
	if _, err := ownKeys.Get(tx, req, in.ID); err != nil {
		return out, err
	}
	return deleteKey(tx, req, in)
}

func removeOwnKey(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	_, err := deleteOwnKey(tx, req, in)
	return web.Nothing{}, err
}

type keyRotation struct {
	web.ByID
	Overlap *int64 `json:"overlap_hours" check:"min=0,max=720" doc:"Hours for which the present key remains valid: 24 by default, 0 to end it at once"`
}

// keyOverlap is for how long a key remains valid after a rotation, by default.
const keyOverlap = 24

func rotateKey(tx *store.Tx, req *web.Request, in *keyRotation) (*KeyWithToken, error) {
	return renewKey(tx, req, &keys, in)
}

func rotateOwnKey(tx *store.Tx, req *web.Request, in *keyRotation) (*KeyWithToken, error) {
	return renewKey(tx, req, &ownKeys, in)
}

// renewKey gives a key that a list shows to the caller a new secret.
func renewKey(tx *store.Tx, req *web.Request, list *web.Resource[store.APIKey, *ApiKey],
	in *keyRotation) (*KeyWithToken, error) {
	if _, err := list.Get(tx, req, in.ID); err != nil {
		return nil, err
	}

	hours, until := int64(keyOverlap), store.Time(0)
	web.Set(&hours, in.Overlap)
	if hours > 0 {
		until = tx.Now().Add(time.Duration(hours) * time.Hour)
	}

	token, hash, hint := auth.NewKey()
	if err := store.RotateKeySecret(tx, in.ID, hash, hint, until); err != nil {
		return nil, err
	}

	tx.LogAction("rotate_key", map[string]store.ID{"key": in.ID})
	k, err := store.APIKeys.Get(tx, in.ID)
	if err != nil {
		return nil, err
	}

	return withToken(tx, req, k, token)
}

// adoptKey makes the caller, who has the owner role, the owner of a service key.
func adoptKey(tx *store.Tx, req *web.Request, in *web.ByID) (*ApiKey, error) {
	owner, err := store.OwnerFor(tx)
	if err != nil {
		return nil, err
	}
	return web.Edit(tx, req, &keys, in.ID, func(k *store.APIKey) { k.UserID = owner })
}

// resumeKey ends the pause of a key since a backup was restored.
func resumeKey(tx *store.Tx, req *web.Request, in *web.ByID) (*ApiKey, error) {
	return web.Edit(tx, req, &keys, in.ID, func(k *store.APIKey) { k.Paused = "" })
}
