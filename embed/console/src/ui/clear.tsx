import { CloseCircleFilled } from '@ant-design/icons'
import { t } from '../i18n'

// clear is the button in a field that empties it, with a name for those who do not see it.
export const clear = () => ({ clearIcon: <CloseCircleFilled aria-label={t('clear')} /> })
