package setup

import "reeve/store/kv"

// weight is the number of records that an operation is expected to change.
func (o *operation) weight() int {
	if o.Operation == "update" || o.losesValues() {
		return 2
	}
	return 4 // with its mark, and a secret, a permission or a delivery position
}

// losesValues reports whether an operation deletes a custom field. Its values are removed as soon as
// the transaction has ended, and undoing the job can't bring them back.
func (o *operation) losesValues() bool { return o.Operation == "delete" && o.Kind == "custom field" }

// jobRecords is the number of records of its job that a step changes.
const jobRecords = 2

// partsOf divides operations into steps that one transaction can apply. Deletions of custom fields are
// the last operations, and in one step, so that no field is deleted if a step fails.
func partsOf(all []operation) (parts []*step) {
	var part *step
	weight := 0
	for i, op := range all {
		next := op.weight()
		if op.losesValues() && (i == 0 || !all[i-1].losesValues()) {
			next = next*(len(all)-i) + jobRecords // with the ones after it
		}
		if part == nil || weight+next > kv.MaxRecordsPerWrite {
			part, weight = &step{}, 0
			if op.losesValues() { // whose weight is exact
				weight = jobRecords
			}
			parts = append(parts, part)
		}
		part.Operations = append(part.Operations, op)
		weight += op.weight()
	}
	return parts
}
