package store

import (
	"encoding/binary"
	"encoding/json"

	"reeve/store/kv"
)

// LogCheckpoint is the policy at one entry of the change log. Each segment of the log has one, so
// that what a user was allowed to do at an earlier time can be computed from it and from the
// entries between.
type LogCheckpoint struct {
	Seq         uint64        `json:"seq"` // number of the last entry before it
	At          Time          `json:"at"`
	Permissions []*Permission `json:"permissions"`
	Roles       []*Role       `json:"roles"`
	Depts       []*Dept       `json:"depts"`
	// Users has for each user, in ascending order of ID: the difference of the ID to the one
	// before, the department, 1 or 0 for enabled or not, the number of roles, and the roles, as
	// uvarints.
	Users []byte `json:"users"`
}

// logCheckpoint returns the JSON of a LogCheckpoint of now.
func logCheckpoint(tx *Tx) ([]byte, error) {
	c := LogCheckpoint{Seq: tx.LogEnd(), At: tx.Now()}
	if err := collect(tx, Permissions, &c.Permissions); err != nil {
		return nil, err
	}
	if err := collect(tx, Roles, &c.Roles); err != nil {
		return nil, err
	}
	if err := collect(tx, Depts, &c.Depts); err != nil {
		return nil, err
	}

	last := ID(0)
	for u, err := range Users.All(tx) {
		if err != nil {
			return nil, err
		}

		c.Users = binary.AppendUvarint(c.Users, uint64(u.ID-last))
		c.Users = binary.AppendUvarint(c.Users, uint64(u.DeptID))
		enabled := uint64(0)
		if u.Status {
			enabled = 1
		}

		c.Users = binary.AppendUvarint(c.Users, enabled)
		c.Users = binary.AppendUvarint(c.Users, uint64(len(u.RoleIDs)))
		for _, role := range u.RoleIDs {
			c.Users = binary.AppendUvarint(c.Users, uint64(role))
		}

		last = u.ID
	}

	return json.Marshal(c)
}

// collect appends all records of a collection to a list.
func collect[T any](tx *Tx, c *kv.Collection[T], to *[]*T) error {
	for v, err := range c.All(tx) {
		if err != nil {
			return err
		}
		*to = append(*to, v)
	}
	return nil
}

// CheckpointUser is the part of a checkpoint about a user.
type CheckpointUser struct {
	ID, DeptID ID
	Enabled    bool
	RoleIDs    []ID
}

// EachUser calls yield for the users of a checkpoint until it returns false. It returns false if
// the list is damaged.
func (c *LogCheckpoint) EachUser(yield func(CheckpointUser) bool) (sound bool) {
	rest, sound, last := c.Users, true, ID(0)
	next := func() uint64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			sound = false
			return 0
		}
		rest = rest[size:]
		return n
	}
	for len(rest) > 0 && sound {
		u := CheckpointUser{ID: last + ID(next()), DeptID: ID(next()), Enabled: next() == 1}
		for n := next(); n > 0 && sound; n-- {
			u.RoleIDs = append(u.RoleIDs, ID(next()))
		}
		if last = u.ID; sound && !yield(u) {
			break
		}
	}

	return sound
}
