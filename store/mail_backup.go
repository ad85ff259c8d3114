package store

import "time"

// BackupUnproven is the purpose of the notice to owners that a target of backups has no recent
// copy that is proven. BackupProven is that of the notice that each has one again.
const (
	BackupUnproven = "backup_unproven"
	BackupProven   = "backup_proven"
)

// BackupNoticeAgain is the time after which owners get the next notice while a proven copy is missing.
const BackupNoticeAgain = 7 * 24 * time.Hour

// IsBackupNotice reports whether mails of a purpose are about backups.
func IsBackupNotice(purpose string) bool {
	return purpose == BackupUnproven || purpose == BackupProven
}

// BackupNoticesDue returns the enabled owners with an address who are to get a notice about
// backups. The mails of an owner say which one was the last.
func BackupNoticesDue(tx *Tx, purpose string, now time.Time) (owners []ID, err error) {
	for u, err := range UserByRole.All(tx, OwnerRole) {
		if err != nil {
			return nil, err
		}
		if !bool(u.Status) || u.Email == "" {
			continue
		}
		last, err := lastBackupNotice(tx, u.ID)
		if err != nil {
			return nil, err
		}
		if backupNoticeDue(last, purpose, now) {
			owners = append(owners, u.ID)
		}
	}
	return owners, nil
}

func backupNoticeDue(last *Mail, purpose string, now time.Time) bool {
	switch {
	case purpose == BackupProven:
		return last != nil && last.Purpose == BackupUnproven && last.State == MailSent
	case last == nil || last.Purpose == BackupProven:
		return true
	}
	return now.Sub(last.CreatedAt.Std()) >= BackupNoticeAgain
}

// lastBackupNotice returns the newest notice about backups to a user that was not cancelled; nil for
// none.
func lastBackupNotice(tx *Tx, user ID) (last *Mail, err error) {
	all, err := mailsOf(tx, Account{ID: user})
	for _, m := range all {
		if IsBackupNotice(m.Purpose) && m.State != MailCancelled {
			last = m
		}
	}
	return last, err
}

// QueueBackupNotice queues a notice about backups to an owner.
func QueueBackupNotice(tx *Tx, purpose string, owner ID) error {
	return queueNotice(tx, purpose, Account{ID: owner}, "", "en")
}
