import type { CustomFieldForms } from '../../api/types'
import { useGet } from '../../ui/useGet'

const none: CustomFieldForms = { users: [], app_users: [], own: [] }

// useForms returns the custom fields that the user can read; none until they are loaded.
export function useForms(): CustomFieldForms {
  return useGet('/system/field-form').data ?? none
}
