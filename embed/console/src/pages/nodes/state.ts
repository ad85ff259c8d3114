import type { EtcdMember, NodeState } from '../../api/types'

const farBehind = 1000 // entries, from which the health is degraded
const fullQuota = 0.8 // share of the quota, from which it is

// late reports whether a node is so far behind that the health is degraded.
export const late = (node: Pick<NodeState, 'behind'>): boolean => node.behind >= farBehind

// full reports whether the database of a member has almost reached its quota.
export const full = ({ bytes, quota_bytes }: Pick<EtcdMember, 'bytes' | 'quota_bytes'>): boolean => quota_bytes > 0 && bytes >= fullQuota * quota_bytes

// mark is how the configuration of a node compares with that of the node that answers.
export const mark = ({ differs, reported_at }: Pick<NodeState, 'differs' | 'reported_at'>): 'differs' | 'equal' | 'unknown' =>
  differs.length ? 'differs' : reported_at ? 'equal' : 'unknown'
