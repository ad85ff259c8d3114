package store

import (
	"cmp"
	"slices"

	"reeve/store/kv"
)

// DeptsUpwards sorts departments by descending depth, so that each is before its ancestors.
func DeptsUpwards(tx *Tx, ids []ID) []ID {
	return upwards(PolicyCache.Get(tx).depts, deptParent, ids)
}

// PermissionsUpwards sorts permissions by descending depth, so that each is before its
// ancestors.
func PermissionsUpwards(tx *Tx, ids []ID) []ID {
	return upwards(PolicyCache.Get(tx).permissions, permissionParent, ids)
}

func upwards[T any](records *kv.RecordMap[T], parent func(*T) ID, ids []ID) []ID {
	depth := map[ID]int{}
	for _, id := range ids {
		for v, steps := records.Get(id), 0; v != nil &&
			steps <= kv.MaxDepth; v, steps = records.Get(parent(v)), steps+1 {
			depth[id] = steps
		}
	}
	return slices.SortedStableFunc(slices.Values(ids), func(a, b ID) int {
		return cmp.Compare(depth[b], depth[a])
	})
}
