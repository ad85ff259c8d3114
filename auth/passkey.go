package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"reeve/store"
	"reeve/store/errs"
)

// Passkeys (WebAuthn). A browser signs a challenge of this server with a passkey, for the host name
// of the public URL only. The server keeps nothing but the challenges that were used, until they
// expire.

const (
	challengeRandom = 16 // bytes
	ceremonyLife    = 5 * time.Minute
	signInLife      = time.Hour // a browser offers passkeys for as long as the sign-in page is open
)

// The purposes of challenges.
const (
	toSignIn  = "sign in"
	toFinish  = "second factor"
	toConfirm = "confirm"
	toAdd     = "add"
)

// ErrNoPasskeys is returned where passkeys can't be used.
var ErrNoPasskeys = errs.New(errs.Conflict,
	"passkeys need server.public_url in the configuration, with https and a host name, or with localhost").Coded("passkeys_unavailable")

// relyingParty returns the relying party of passkeys: the host name of the public URL. It is nil if
// browsers have no passkeys there: they require HTTPS, but for localhost, and a host name.
func relyingParty(publicURL string) *webauthn.WebAuthn {
	u, err := url.Parse(publicURL)
	if err != nil || u.Hostname() == "" {
		return nil
	}

	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	if local := host == "localhost" || strings.HasSuffix(host, ".localhost"); u.Scheme != "https" &&
		!local {
		return nil
	}

	party, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "Reeve", RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey:      protocol.ResidentKeyRequirementPreferred,
			UserVerification: protocol.VerificationPreferred,
		},
	})
	if err != nil {
		return nil
	}

	return party
}

// IsUsable reports whether a passkey is for the current host name.
func (a *Auth) IsUsable(p *store.Passkey) bool {
	return a.party != nil && p.RPID == a.party.Config.RPID
}

// usablePasskeys returns the passkeys of a person that can be used.
func (a *Auth) usablePasskeys(tx *store.Tx,
	who store.Account) (usable []*store.Passkey, err error) {
	if a.party == nil || who.App && !store.AppPasskeys.Get(tx) {
		return nil, nil
	}
	all, err := store.PasskeysOf(tx, who)
	for _, p := range all {
		if a.IsUsable(p) {
			usable = append(usable, p)
		}
	}
	return usable, err
}

// holder is a user in the form of the library.
type holder struct {
	who         store.Account
	name        string
	credentials []webauthn.Credential
}

func (h *holder) WebAuthnID() []byte                         { return userHandle(h.who) }
func (h *holder) WebAuthnName() string                       { return h.name }
func (h *holder) WebAuthnDisplayName() string                { return h.name }
func (h *holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

// userHandle identifies a person in a device, which must not learn the username without need, and
// replaces a passkey by another one with the same handle.
func userHandle(who store.Account) []byte {
	var realm []byte
	if who.App {
		realm = []byte("a")
	}
	return binary.BigEndian.AppendUint64(realm, uint64(who.ID))
}

func holderOf(who store.Account, name string, passkeys []*store.Passkey) *holder {
	h := &holder{who: who, name: name}
	for _, p := range passkeys {
		h.credentials = append(h.credentials, credentialOf(p))
	}
	return h
}

// followEligibility takes over the flag "backup eligible" of a response, whose signature is
// verified afterwards. Password managers change it in an update, or when a passkey is shared. Only
// servers whose rules depend on it have to refuse a passkey then (WebAuthn level 3, section 7.2),
// which the library does always.
func (h *holder) followEligibility(parsed *protocol.ParsedCredentialAssertionData) {
	for i := range h.credentials {
		if c := &h.credentials[i]; bytes.Equal(c.ID, parsed.RawID) {
			c.Flags.BackupEligible = parsed.Response.AuthenticatorData.Flags.HasBackupEligible()
		}
	}
}

func credentialOf(p *store.Passkey) webauthn.Credential {
	id, _ := base64.RawURLEncoding.DecodeString(p.CredentialID)
	c := webauthn.Credential{
		ID: id, PublicKey: p.PublicKey,
		Flags: webauthn.CredentialFlags{
			UserPresent:    true,
			BackupEligible: bool(p.BackupEligible),
			BackupState:    bool(p.BackedUp),
		},
		Authenticator: webauthn.Authenticator{AAGUID: p.AAGUID, SignCount: uint32(p.SignCount)},
	}
	for _, t := range p.Transports {
		c.Transport = append(c.Transport, protocol.AuthenticatorTransport(t))
	}
	return c
}

// passkeyChallenge returns a challenge for a purpose, bound to the text that the response must come
// with.
func (a *Auth) passkeyChallenge(purpose, bound string,
	life time.Duration) protocol.URLEncodedBase64 {
	random := make([]byte, challengeRandom)
	rand.Read(random) // never fails: crypto/rand ends the program instead
	text := binary.BigEndian.AppendUint64(random, uint64(a.counters.now().Add(life).Unix()))
	return append(text, a.signChallenge(text, purpose, bound)...)
}

func (a *Auth) signChallenge(text []byte, purpose, bound string) []byte {
	return keyed(a.ceremonies, "passkey\x00"+purpose+"\x00"+bound+"\x00"+string(text))
}

var errOldChallenge = errs.New(errs.Unauthenticated,
	"this took too long, or was used already; try again").Coded("challenge_expired")

// checkChallenge checks the challenge in a response, which can be used once.
func (a *Auth) checkChallenge(encoded, purpose, bound string) (challenge once, err error) {
	const size = challengeRandom + 8 + sha256.Size
	text, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil || len(text) != size || len(encoded) != base64.RawURLEncoding.EncodedLen(size) { // only one form, since it is used once
		return challenge, errOldChallenge
	}
	body, mac := text[:challengeRandom+8], text[challengeRandom+8:]
	expires := time.Unix(int64(binary.BigEndian.Uint64(body[challengeRandom:])), 0)
	if !hmac.Equal(mac, a.signChallenge(body, purpose, bound)) ||
		!a.counters.now().Before(expires) {
		return challenge, errOldChallenge
	}
	return onceOf(passkeyValue, sha256.Sum256(text), expires), nil
}

// useChallenge uses up a challenge in the transaction that it allows.
func (a *Auth) useChallenge(tx *store.Tx, challenge once) error {
	return refuseUsed(a.spend(tx, challenge), errOldChallenge)
}

// assertion is a verified response of a passkey.
type assertion struct {
	auth      *Auth
	challenge once
	passkey   store.ID
	count     int64
	eligible  bool // passkey may be synchronized between devices
	backedUp  bool
}

// use records the use of the passkey and of the challenge in the transaction that it allows.
func (p *assertion) use(tx *store.Tx) error {
	if err := p.auth.useChallenge(tx, p.challenge); err != nil {
		return err
	}
	return store.UsePasskey(tx, p.passkey, p.count, p.eligible, p.backedUp)
}

// verification returns whether a passkey has to verify its user: if nothing else does.
func verification(purpose string) protocol.UserVerificationRequirement {
	if purpose == toSignIn {
		return protocol.VerificationRequired
	}
	return protocol.VerificationPreferred
}

// requestPasskey returns the options with which a browser asks for a passkey, of one user or, with
// none, of anybody.
func (a *Auth) requestPasskey(purpose, bound string, life time.Duration,
	passkeys []*store.Passkey) (json.RawMessage, error) {
	options := protocol.PublicKeyCredentialRequestOptions{
		Challenge: a.passkeyChallenge(purpose, bound, life), Timeout: int(life.Milliseconds()),
		RelyingPartyID: a.party.Config.RPID, UserVerification: verification(purpose),
	}
	for _, p := range passkeys {
		c := credentialOf(p)
		options.AllowedCredentials = append(options.AllowedCredentials, c.Descriptor())
	}
	return json.Marshal(options)
}

// SignInOptions returns the options with which a browser offers to sign in to a realm with a passkey;
// nil if passkeys can't be used.
func (a *Auth) SignInOptions(tx *store.Tx, app bool) (json.RawMessage, error) {
	if a.party == nil || app && !store.AppPasskeys.Get(tx) {
		return nil, nil
	}
	return a.requestPasskey(toSignIn, "", signInLife, nil)
}

// parseAssertion parses the response of a browser. field is the name of the input field for errors.
func (a *Auth) parseAssertion(field string,
	credential json.RawMessage) (*protocol.ParsedCredentialAssertionData, error) {
	if a.party == nil {
		return nil, ErrNoPasskeys
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(credential)
	if err != nil {
		return nil, errs.Field(errs.Invalid, field,
			"must be the response of a passkey (PublicKeyCredential as JSON)")
	}
	return parsed, nil
}

// verifyAssertion verifies the response of a passkey of a user. The transaction that the passkey
// allows uses up the challenge, see assertion.use.
func (a *Auth) verifyAssertion(user store.Account, parsed *protocol.ParsedCredentialAssertionData,
	purpose, bound string) (*assertion, error) {
	sent := parsed.Response.CollectedClientData.Challenge
	challenge, err := a.checkChallenge(sent, purpose, bound)
	if err != nil {
		return nil, err
	}

	var passkeys []*store.Passkey
	err = a.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		passkeys, err = a.usablePasskeys(tx, user)
		return err
	})
	if err != nil {
		return nil, err
	}

	who := holderOf(user, "", passkeys)
	who.followEligibility(parsed)
	c, err := a.party.ValidateLogin(who, webauthn.SessionData{
		Challenge: sent, RelyingPartyID: a.party.Config.RPID, UserID: who.WebAuthnID(),
		UserVerification: verification(purpose),
	}, parsed)
	if err != nil || c.Authenticator.CloneWarning {
		return nil, store.ErrWrongPasskey
	}

	encoded := base64.RawURLEncoding.EncodeToString(c.ID)
	for _, p := range passkeys {
		if p.CredentialID == encoded {
			return &assertion{
				auth:      a,
				challenge: challenge,
				passkey:   p.ID,
				count:     int64(c.Authenticator.SignCount),
				eligible:  c.Flags.BackupEligible,
				backedUp:  c.Flags.BackupState,
			}, nil
		}
	}

	return nil, store.ErrWrongPasskey
}

// LoginPasskey signs a user in with a passkey alone, which has to verify the user with a
// fingerprint or the like; or it completes a pending sign-in. in has no name and password.
func (a *Auth) LoginPasskey(in Attempt, pending string,
	credential json.RawMessage) (g *Grant, username string, err error) {
	defer func() { a.stats.login(in.App, err) }()
	parsed, err := a.parseAssertion("credential", credential)
	if err != nil {
		return nil, "", err
	}

	proof := loginProof{}
	var who store.Account
	purpose := toSignIn
	if pending != "" {
		p, refused := a.openPending(pendingPrefix, pending, &in, errPending)
		if refused != nil {
			return nil, "", refused
		}
		who, username, purpose = p.account, p.Name, toFinish
		proof, in.Provider = p.proof(), p.provider()
	} else if who, username, err = a.ownerOf(parsed.RawID, in.App); err != nil {
		return nil, "", err
	}

	in.Username = username
	device := a.useDevice(in.Device)
	defer device.end()
	if err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		if proof.pending != nil {
			if err := a.mayTry(tx, proof.pending, errPending); err != nil {
				return err
			}
		}
		return device.find(tx, who)
	}); err != nil {
		return nil, username, err
	}
	if proof.passkey, err = a.verifyAssertion(who, parsed, purpose, pending); err == nil {
		g, err = a.grant(who, &proof, in, device)
	}
	if errs.Is(err, errs.Unauthenticated) && err != errPending {
		err = a.refused(in, who, device, err)
	}

	return g, username, err
}

// refused logs a passkey that was refused. The number of such rows is limited, apart from the
// attempts at other factors, since anybody can send them who knows the name of a passkey.
func (a *Auth) refused(in Attempt, who store.Account, device *deviceUse, refusal error) error {
	if _, err := a.beginFactor(passkeyFactor, who, in.Addr, device.valid(), in.Observe); err != nil {
		a.throttled.count(in)
		return err
	}
	return a.failed(in, &candidate{account: who}, errs.Of(refusal).Code, device, refusal)
}

// ownerOf returns the person of a passkey in a realm.
func (a *Auth) ownerOf(credential []byte, app bool) (who store.Account, username string, err error) {
	return who, username, a.db.View(store.Anonymous, func(tx *store.Tx) error {
		p, err := store.PasskeyByCredential.Get(tx,
			base64.RawURLEncoding.EncodeToString(credential))
		if errs.Is(err, errs.NotFound) || err == nil && (!a.IsUsable(p) || p.Account().App != app) {
			return store.ErrWrongPasskey
		}
		if err == nil && app && !store.AppPasskeys.Get(tx) {
			return store.ErrAppPasskeysOff
		}
		if err == nil {
			who = p.Account()
			username, err = who.Username(tx)
		}
		return err
	})
}

// ofPasskey returns an error about a passkey as that of a field, for a signed-in user, whose
// session is not in doubt.
func ofPasskey(field string, err error) error {
	switch errs.Of(err).Code {
	case store.ErrWrongPasskey.Code:
		return errs.Field(errs.Invalid, field, "is not accepted").Coded("wrong_passkey")
	case errOldChallenge.Code:
		return errs.Field(errs.Invalid, field, "took too long, or was used already").Coded("challenge_expired")
	}
	return err
}

// bound is the text that challenges of a session are bound to.
func (s *Session) bound() string { return strconv.FormatUint(uint64(s.ID), 10) }
