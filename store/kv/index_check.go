package kv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// samples is the number of random records that CheckIndexes compares per collection.
const samples = 500

// CheckIndexes returns an error for every index whose keys depend on JSON members that it does
// not declare: sorting by it would be wrong, because a sort decodes only the declared members.
// It compares random records. fill receives a pointer to a record and sets its fields to random
// values. CheckIndexes is for the tests of a schema.
func (s *Schema) CheckIndexes(fill func(record any)) error {
	var err error
	for _, t := range s.Tables {
		err = errors.Join(err, t.table().checkIndexes(fill))
	}
	return err
}

func (c *collection) checkIndexes(fill func(record any)) error {
	wrong, seen := map[string]bool{}, map[string]bool{}
	for range samples {
		sample, stored := c.new(), c.new()
		fill(sample)
		payload, err := json.Marshal(sample)
		if err == nil {
			err = json.Unmarshal(payload, stored)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}

		for _, x := range c.indexes {
			keys, err := x.keysIn(payload)
			wrong[x.bucket] = wrong[x.bucket] || err != nil ||
				!slices.EqualFunc(keys, x.keys(stored), bytes.Equal)
			seen[x.bucket] = seen[x.bucket] || len(keys) > 0
		}
	}

	var errs error
	for _, x := range c.indexes {
		if wrong[x.bucket] {
			errs = errors.Join(errs,
				fmt.Errorf("index %s reads more than the members %v: declare the others", x.bucket,
					x.reads))
		}
		if !seen[x.bucket] {
			errs = errors.Join(errs, fmt.Errorf("no sample has a key in index %s", x.bucket))
		}
	}

	return errs
}
