import { Button } from 'antd'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import type { Realm } from './realm'
import type { Chosen, People } from './usePeople'

type Props = { realm: Realm; people: Pick<People<never>, 'removeAll' | 'signOutAll'>; none: boolean; of: Chosen }

// EndAndDelete has the actions on selected people of either realm that end something.
export function EndAndDelete({ realm, people, none, of }: Props) {
  const { may } = useAccount()
  return (
    <>
      {may('system.session.delete') && (
        <Button disabled={none} onClick={() => void people.signOutAll(of)}>
          {t('sessions.end')}
        </Button>
      )}
      {may(`${realm.access}.delete`) && (
        <Button disabled={none} onClick={() => void people.removeAll(of)}>
          {t('delete')}
        </Button>
      )}
    </>
  )
}
