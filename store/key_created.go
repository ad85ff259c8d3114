package store

// Users that an API key has created stay when it is deleted, so they are marked with it.

// creatingKey returns the index values of the key that created a user.
func creatingKey(key ID) []ID {
	if key == 0 {
		return nil
	}
	return []ID{key}
}

// createdByKey returns the key that created a user in a new state with the mark: it is set when a
// key creates the user, and does not change. was returns the mark of an existing user.
func createdByKey(tx *Tx, created bool, mark ID, was func() ID) ID {
	switch a := ActorOf(tx); {
	case a.system:
		return mark
	case !created:
		return was()
	case a.Key != nil:
		return a.Key.ID
	}
	return mark // 0, or that of a deleted user who is restored
}

// CreatedByKey counts the users that an API key has created and that still exist.
type CreatedByKey struct {
	Users     int      `json:"users" doc:"Number of users that the key created and that still exist"`
	Usernames []string `json:"usernames" doc:"Usernames of some of them, at most 20"`
	AppUsers  int      `json:"app_users" doc:"Number of app users that the key created and that still exist"`
}

const namedByKey = 20

// UsersCreatedByKey counts the users and app users that a key has created.
func UsersCreatedByKey(tx *Tx, key ID) (c CreatedByKey, err error) {
	c.Usernames = []string{}
	if c.Users, err = UserByKey.Count(tx, key); err != nil {
		return c, err
	}
	if c.AppUsers, err = AppUserByKey.Count(tx, key); err != nil {
		return c, err
	}
	for u, err := range UserByKey.All(tx, key) {
		if err != nil || len(c.Usernames) == namedByKey {
			return c, err
		}
		c.Usernames = append(c.Usernames, u.Username)
	}
	return c, nil
}
