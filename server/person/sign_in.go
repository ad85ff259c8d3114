package person

import (
	"errors"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// exportedDevice is a device without the hash of its token.
type exportedDevice struct {
	store.Ident
	Name      string     `json:"name"`
	Browser   string     `json:"browser"`
	OS        string     `json:"os"`
	IP        string     `json:"ip"`
	Provider  string     `json:"provider_name"`
	LastUsed  store.Time `json:"last_used"`
	Networks  []string   `json:"networks"`
	Failures  int64      `json:"failures"`
	ExpiresAt store.Time `json:"expires_at"`
	kv.Timestamps
}

func (p *personData) devices() error {
	all := []exportedDevice{}
	by := store.ByRealm(p.who.App, store.DeviceByUser, store.DeviceByAppUser)
	err := p.read(func(tx *store.Tx) error {
		for d, err := range by.All(tx, p.who.ID) {
			if p.passes(tx, "devices.json", err) {
				continue
			}
			if err != nil {
				return err
			}
			all = append(all,
				exportedDevice{d.Ident, d.Name, d.Browser, d.OS, d.IP, d.Provider, d.LastUsed,
					web.OrEmpty(d.Networks), d.Failures, d.ExpiresAt, d.Timestamps})
		}
		return nil
	})
	return errors.Join(err, p.json("devices.json", all))
}

// exportedConnection is a connection to a sign-in provider, with the name of the provider.
type exportedConnection struct {
	store.Ident
	ProviderID store.ID   `json:"provider_id"`
	Provider   string     `json:"provider_name"`
	Issuer     string     `json:"issuer"`
	Subject    string     `json:"subject"`
	Email      string     `json:"email"`
	RoleIDs    []store.ID `json:"role_ids"`
	DeptID     store.ID   `json:"dept_id"`
	LastLogin  store.Time `json:"last_login"`
	kv.Timestamps
}

func (p *personData) connections() error {
	const name = "providers.json"
	all := []exportedConnection{}
	by := store.ByRealm(p.who.App, store.IdentityByUser, store.IdentityByAppUser)
	err := p.read(func(tx *store.Tx) error {
		for i, err := range by.All(tx, p.who.ID) {
			if p.passes(tx, name, err) {
				continue
			}
			if err != nil {
				return err
			}
			out := exportedConnection{i.Ident, i.ProviderID, "", i.Issuer, i.Subject, i.Email,
				web.OrEmpty(i.RoleIDs), i.DeptID, i.LastLogin, i.Timestamps}
			v, err := store.Providers.Get(tx, i.ProviderID)
			if err == nil {
				out.Provider = v.Title
			} else if !p.passes(tx, name, err) {
				return err
			}
			all = append(all, out)
		}
		return nil
	})
	return errors.Join(err, p.json(name, all))
}
