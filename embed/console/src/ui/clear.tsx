import { CloseCircleFilled } from '@ant-design/icons'
import { t } from '../i18n'

// clear is a field's clear button with an accessible name.
export const clear = () => ({ clearIcon: <CloseCircleFilled aria-label={t('clear')} /> })
