package server

import (
	"strconv"
	"time"

	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

var keyRoutes = []Route{
	diskList("/admin/key", "admin.key.query", "List API keys", &keys),
	get("/admin/key/:id", "admin.key.query", "Get an API key", &keys),
	confirmed(reveals(bySession(write("POST", "/admin/key", "admin.key.create", "Create an API key", createKey)))),
	confirmed(bySession(onRecord(store.APIKeys, write("PUT", "/admin/key/:id", "admin.key.update", "Change an API key", changeKey)))),
	bySession(onRecord(store.APIKeys, write("DELETE", "/admin/key/:id", "admin.key.delete", "Delete an API key", deleteKey))),
	bySession(removeSeveral("/admin/key", "admin.key.delete", "Delete API keys", &keys)),
	confirmed(reveals(bySession(onRecord(store.APIKeys, write("POST", "/admin/key/:id/rotate", "admin.key.rotate", "Rotate an API key", rotateKey))))),
	confirmed(bySession(onRecord(store.APIKeys, write("POST", "/admin/key/:id/adopt", "admin.key.update", "Adopt an API key", adoptKey)))),
	confirmed(bySession(onRecord(store.APIKeys, write("POST", "/admin/key/:id/resume", "admin.key.update", "Resume an API key", resumeKey)))),

	bySession(diskList("/admin/account/key", signedIn, "List your own API keys", &ownKeys)),
	bySession(get("/admin/account/key/:id", signedIn, "Get your own API key", &ownKeys)),
	confirmed(reveals(bySession(write("POST", "/admin/account/key", signedIn, "Create your own API key", createOwnKey)))),
	confirmed(bySession(onRecord(store.APIKeys, write("PUT", "/admin/account/key/:id", signedIn, "Change your own API key", changeOwnKey)))),
	bySession(onRecord(store.APIKeys, write("DELETE", "/admin/account/key/:id", signedIn, "Delete your own API key", deleteOwnKey))),
	bySession(deleteSeveral("/admin/account/key", signedIn, "Delete your own API keys", removeOwnKey)),
	confirmed(reveals(bySession(onRecord(store.APIKeys, write("POST", "/admin/account/key/:id/rotate", signedIn, "Rotate your own API key", rotateOwnKey))))),
}

// apiKey is an API key in responses.
type apiKey struct {
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
	State         string     `json:"state" enum:"key_state" doc:"State: active; unused for 90 days; disabled, also while personal keys are turned off; expired; paused since a backup was restored; or no_owner, if the owner was disabled or deleted"`
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
	keyActive   = "active"
	keyUnused   = "unused"
	keyDisabled = "disabled"
	keyExpired  = "expired"
	keyPaused   = "paused"
	keyNoOwner  = "no_owner"
)

var keyColumns = []diskColumn[store.APIKey]{
	{name: "id", uses: sorted},
	{name: "user_id", uses: filtered | param, numbers: ids(store.KeyByUser)},
	{name: "personal", uses: filtered | param, texts: anyText(store.KeyByKind)},
	{name: "role_id", uses: filtered | param, numbers: ids(store.KeyByRole)},
}

var keys = Resource[store.APIKey, *apiKey]{
	of: store.APIKeys, keywords: []string{"name"}, order: "id, ascending", out: keyOf, columns: keyColumns,
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) {
		return scopedTo(tx, req, store.KeyByUser)
	},
}

// ownKeys are the personal keys of the caller.
var ownKeys = Resource[store.APIKey, *apiKey]{
	of: store.APIKeys, keywords: []string{"name"}, order: "id, ascending", out: keyOf, columns: keyColumns[:1],
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		return store.KeyByPersonal.AnyOf(req.Actor.ID), true
	},
}

func keyOf(tx *store.Tx, _ *Request, k *store.APIKey) (*apiKey, error) {
	out := &apiKey{
		Ident: k.Ident, Name: k.Name, UserID: k.UserID, Personal: k.Personal, RoleIDs: orEmpty(k.RoleIDs), RoleNames: []string{},
		DataScope: k.DataScope, DeptIDs: orEmpty(k.DeptIDs), Networks: orEmpty(k.Networks), Rate: k.Rate, Status: k.Status,
		ExpiresAt: k.ExpiresAt, LastUsed: k.LastUsed, LastIP: k.LastIP, Versioned: k.Versioned,
	}
	rules := store.PolicyCache.Get(tx)
	for _, id := range k.RoleIDs {
		out.RoleNames = append(out.RoleNames, rules.RoleName(id))
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
	out.State = keyState(tx, k, owner)
	out.Created, err = store.UsersCreatedByKey(tx, k.ID)
	return out, err
}

// keyState returns the state of a key. owner is nil if it was deleted.
func keyState(tx *store.Tx, k *store.APIKey, owner *store.User) string {
	switch k.Unusable(tx, owner) {
	case "key_disabled", "personal_keys_off":
		return keyDisabled
	case "no_owner", "user_disabled":
		return keyNoOwner
	case "key_paused":
		return keyPaused
	case "key_expired":
		return keyExpired
	}
	if max(k.LastUsed, k.CreatedAt).Add(store.KeyUnused) < tx.Now() {
		return keyUnused
	}
	return keyActive
}

// orEmpty returns a list that is not null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// keyWithToken is a key with a new secret, which no other response contains.
type keyWithToken struct {
	apiKey
	Token string `json:"token" doc:"The new key, to be sent in the header Authorization: Bearer <token>; no other response contains it"`
}

// apiKeyFields are the fields of the input that both kinds of keys have.
type apiKeyFields struct {
	Name      *string     `json:"name" check:"create,min=1,max=64" doc:"Name of the program that uses the key"`
	DataScope *string     `json:"data_scope" check:"enum=key_scope" doc:"Data scope that narrows that of the roles, relative to the owner; empty for no narrowing"`
	DeptIDs   *[]store.ID `json:"dept_ids" check:"max=1000" doc:"IDs of the departments of the data scope custom"`
	Networks  *[]string   `json:"networks" check:"max=20" doc:"IP addresses and networks that it may be used from, such as 192.0.2.7 or 10.0.0.0/8; empty for all"`
	Rate      *int64      `json:"rate_limit" check:"min=0,max=100000000" doc:"Requests per minute; 0 for the setting security.key_rate_limit"`
	Status    *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new key; 0 disabled"`
	ExpiresAt *store.Time `json:"expires_at" check:"filled" doc:"Time at which the key expires; 90 days after its creation by default, and at most as many days ahead as the setting security.key_max_days says"`
}

type keyIn struct {
	apiKeyFields
	RoleIDs *[]store.ID `json:"role_ids" check:"create,min=1,max=100" doc:"IDs of the roles, which must be within what you can grant; not the owner role"`
}

type ownKeyIn struct {
	apiKeyFields
	RoleIDs *[]store.ID `json:"role_ids" check:"max=100" doc:"IDs of those of your roles that the key has; empty for all"`
}

type keyChange struct {
	byID
	keyIn
}

type ownKeyChange struct {
	byID
	ownKeyIn
}

var (
	assignKey    = assigning[keyIn, store.APIKey]()
	assignOwnKey = assigning[ownKeyIn, store.APIKey]()
)

func createKey(tx *store.Tx, req *Request, in *keyIn) (*keyWithToken, error) {
	k := &store.APIKey{Status: true}
	assignKey(in, k)
	return addKey(tx, req, k)
}

func createOwnKey(tx *store.Tx, req *Request, in *ownKeyIn) (*keyWithToken, error) {
	k := &store.APIKey{Status: true, Personal: true}
	assignOwnKey(in, k)
	return addKey(tx, req, k)
}

func addKey(tx *store.Tx, req *Request, k *store.APIKey) (*keyWithToken, error) {
	token, hash, hint := auth.NewKey()
	if err := store.CreateKey(tx, k, hash, hint); err != nil {
		return nil, err
	}
	return withToken(tx, req, k, token)
}

func withToken(tx *store.Tx, req *Request, k *store.APIKey, token string) (*keyWithToken, error) {
	out, err := keyOf(tx, req, k)
	if err != nil {
		return nil, err
	}
	return &keyWithToken{*out, token}, nil
}

func changeKey(tx *store.Tx, req *Request, in *keyChange) (*apiKey, error) {
	return edit(tx, req, &keys, in.ID, func(k *store.APIKey) { assignKey(&in.keyIn, k) })
}

func changeOwnKey(tx *store.Tx, req *Request, in *ownKeyChange) (*apiKey, error) {
	if _, err := ownKeys.get(tx, req, in.ID); err != nil {
		return nil, err
	}
	return edit(tx, req, &ownKeys, in.ID, func(k *store.APIKey) { assignOwnKey(&in.ownKeyIn, k) })
}

// keyDeleted names what a deleted key leaves behind.
type keyDeleted struct {
	Created store.CreatedByKey `json:"created" doc:"What the key has created, which stays"`
}

func deleteKey(tx *store.Tx, _ *Request, in *byID) (out keyDeleted, err error) {
	if out.Created, err = store.UsersCreatedByKey(tx, in.ID); err == nil {
		err = store.APIKeys.Delete(tx, in.ID)
	}
	return out, err
}

func deleteOwnKey(tx *store.Tx, req *Request, in *byID) (out keyDeleted, err error) {
	if _, err := ownKeys.get(tx, req, in.ID); err != nil {
		return out, err
	}
	return deleteKey(tx, req, in)
}

func removeOwnKey(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	_, err := deleteOwnKey(tx, req, in)
	return nothing{}, err
}

type keyRotation struct {
	byID
	Overlap *int64 `json:"overlap_hours" check:"min=0,max=720" doc:"Hours for which the present key remains valid: 24 by default, 0 to end it at once"`
}

// keyOverlap is for how long a key remains valid after a rotation, by default.
const keyOverlap = 24

func rotateKey(tx *store.Tx, req *Request, in *keyRotation) (*keyWithToken, error) {
	return renewKey(tx, req, &keys, in)
}

func rotateOwnKey(tx *store.Tx, req *Request, in *keyRotation) (*keyWithToken, error) {
	return renewKey(tx, req, &ownKeys, in)
}

// renewKey gives a key that a list shows to the caller a new secret.
func renewKey(tx *store.Tx, req *Request, list *Resource[store.APIKey, *apiKey], in *keyRotation) (*keyWithToken, error) {
	if _, err := list.get(tx, req, in.ID); err != nil {
		return nil, err
	}
	hours, until := int64(keyOverlap), store.Time(0)
	set(&hours, in.Overlap)
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
func adoptKey(tx *store.Tx, req *Request, in *byID) (*apiKey, error) {
	return edit(tx, req, &keys, in.ID, func(k *store.APIKey) { k.UserID = req.Actor.ID })
}

// resumeKey ends the pause of a key since a backup was restored.
func resumeKey(tx *store.Tx, req *Request, in *byID) (*apiKey, error) {
	return edit(tx, req, &keys, in.ID, func(k *store.APIKey) { k.Paused = "" })
}

// limitRate counts a request of an API key, and tells the client what remains of its rate limit in
// the headers of draft-ietf-httpapi-ratelimit-headers-05.
func (req *Request) limitRate(tx *store.Tx) error {
	if req.Session == nil || req.Session.Key == nil {
		return nil
	}
	rate, err := req.Session.Key.Take(tx)
	h, limit := req.w.Header(), strconv.FormatInt(rate.Limit, 10)
	values := []string{limit, limit + ";w=60", strconv.FormatInt(rate.Remaining, 10), strconv.Itoa(rate.Reset)} // one allocation for all
	h["Ratelimit-Limit"] = values[0:1:1]
	h["Ratelimit-Policy"] = values[1:2:2]
	h["Ratelimit-Remaining"] = values[2:3:3]
	h["Ratelimit-Reset"] = values[3:4:4]
	return err
}
