package auth

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// PasskeyOptions returns the options with which a browser makes a passkey for a signed-in user; nil
// if passkeys can't be used. site is the name of the server there.
func (a *Auth) PasskeyOptions(tx *store.Tx, s *Session,
	site string) (options json.RawMessage, err error) {
	if a.party == nil || s.account.App && !store.AppPasskeys.Get(tx) {
		return nil, nil
	}

	passkeys, err := a.usablePasskeys(tx, s.account)
	if err != nil {
		return nil, err
	}

	who := holderOf(s.account, s.Actor.Username, passkeys)
	var exclude []protocol.CredentialDescriptor
	for _, c := range who.credentials {
		exclude = append(exclude, c.Descriptor())
	}

	made, _, err := a.party.BeginRegistration(who, webauthn.WithExclusions(exclude),
		webauthn.WithRegistrationRelyingPartyName(site),
		func(o *protocol.PublicKeyCredentialCreationOptions) error {
			o.Challenge = a.passkeyChallenge(toAdd, s.bound(), ceremonyLife)
			return nil
		})
	if err != nil {
		return nil, err
	}

	return json.Marshal(made.Response)
}

// withoutVersion returns the words of the name of a program that have no digits.
func withoutVersion(name string) string {
	words := strings.Fields(name)
	return strings.Join(slices.DeleteFunc(words, func(word string) bool {
		return strings.ContainsAny(word, "0123456789")
	}), " ")
}

// AddPasskey stores the passkey that a browser has made for a signed-in user. It returns recovery
// codes with the first factor of a user; for app users, a passkey is another way to sign in, and their
// password asks for no second factor because of it. in is the client, after which it is named by default.
func (a *Auth) AddPasskey(s *Session, name string, in Attempt,
	credential json.RawMessage) (p *store.Passkey, codes []string, err error) {
	if a.party == nil {
		return nil, nil, ErrNoPasskeys
	}

	parsed, err := protocol.ParseCredentialCreationResponseBytes(credential)
	if err != nil {
		return nil, nil, errs.Field(errs.Invalid, "credential",
			"must be a new passkey (PublicKeyCredential as JSON)")
	}

	sent := parsed.Response.CollectedClientData.Challenge
	challenge, err := a.checkChallenge(sent, toAdd, s.bound())
	if err != nil {
		return nil, nil, ofPasskey("credential", err)
	}

	who := &holder{who: s.account, name: s.Actor.Username}
	c, err := a.party.CreateCredential(who, webauthn.SessionData{
		Challenge: sent, RelyingPartyID: a.party.Config.RPID, UserID: who.WebAuthnID(),
		UserVerification: protocol.VerificationPreferred,
		CredParams:       webauthn.CredentialParametersDefault(),
	}, parsed)
	if err != nil {
		return nil, nil, ofPasskey("credential", store.ErrWrongPasskey)
	}
	if name == "" {
		row := logRow(in, "")
		name = strings.TrimSpace(withoutVersion(row.Browser) + ", " + withoutVersion(row.OS))
		name = fold.Visible(strings.Trim(name, ", "))
	}

	add := func(write func(tx *store.Tx) error) error {
		return a.db.Update(s.Actor, func(tx *store.Tx) error {
			p = &store.Passkey{
				Name:           name,
				RPID:           a.party.Config.RPID,
				CredentialID:   base64.RawURLEncoding.EncodeToString(c.ID),
				PublicKey:      c.PublicKey,
				AAGUID:         c.Authenticator.AAGUID,
				Transports:     []string{},
				BackupEligible: store.Flag(c.Flags.BackupEligible),
				BackedUp:       store.Flag(c.Flags.BackupState),
				SignCount:      int64(c.Authenticator.SignCount),
			}
			p.UserID, p.AppUserID = s.account.IDs()
			for _, t := range c.Transport {
				p.Transports = append(p.Transports, string(t))
			}

			if err := a.useChallenge(tx, challenge); err != nil {
				return ofPasskey("credential", err)
			}
			if err := store.AddPasskey(tx, p); err != nil {
				return err
			}

			return write(tx)
		})
	}
	if s.account.App {
		err = add(func(*store.Tx) error { return nil })
		return p, nil, err
	}
	codes, err = a.withCodes(s, false, add)
	return p, codes, err
}
