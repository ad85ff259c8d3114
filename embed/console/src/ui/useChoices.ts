import { useGet } from './useGet'

type Kind = 'role' | 'filter_role' | 'dept' | 'permission' | 'app_role' | 'app_permission' | 'file_group' | 'flag_role' | 'flag_dept' | 'flag_app_role'

// useChoices loads what a form offers for the ID of another record; the permission to save the form is enough. No request is
// made while on is false.
export function useChoices(of: Kind, on = true) {
  return useGet(on ? '/admin/choice' : '', { of }).data?.data
}
