import { address, type Query } from '../../api/request'

// activity is the page of the change log with a filter.
export const activity = (filter: Query): string => address('/system/audit', filter)
