package store

import (
	"testing"

	"reeve/store/disk/disktest"
)

// Mails that others cause do not pile up at one person.
func TestMailQueue_LimitPerPerson(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	who := Account{ID: 1}
	update(t, db, func(tx *Tx) error {
		return Users.Create(tx, &User{Username: "ann", Email: "ann@example.org", Status: true})
	})
	for range maxPersonal + 10 {
		update(t, db, func(tx *Tx) error {
			if err := QueueMail(tx, PasswordReset, who, "", "en"); err != nil {
				return err
			}
			m, err := LastMail(tx, PasswordReset, who)
			if err == nil {
				_, err = Mails.Update(tx, m.ID, func(m *Mail) error {
					m.State, m.NextAt = MailSent, 0
					return nil
				})
			}
			return err
		})
	}

	view(t, db, func(tx *Tx) error {
		all, err := mailsOf(tx, who)
		disktest.Equal(t, "mails", len(all), maxPersonal)
		disktest.Equal(t, "the oldest", all[0].ID, ID(11))
		return err
	})
}
