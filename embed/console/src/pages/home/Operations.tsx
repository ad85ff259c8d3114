import { Flex } from 'antd'
import type { SystemHealth, SystemInfo } from '../../api/types'
import type { Failure } from '../../api/request'
import { useAccount } from '../../app/account'
import { Denials } from './Recent'
import { Health, Storage } from './Storage'
import { type Tile, Tiles } from './Tiles'
import { Traffic } from './Traffic'

type Props = { tiles: Tile[]; health: SystemHealth | undefined; info: SystemInfo | undefined; failure: Failure | undefined; unknown: Failure | undefined }

// Operations are the traffic and the state of the server.
export function Operations({ tiles, health, info, failure, unknown }: Props) {
  const { may } = useAccount()
  return (
    <>
      {may('system.monitor.stats') ? <Traffic tiles={tiles} /> : tiles.length > 0 && <Tiles tiles={tiles} />}
      <Flex wrap gap={16}>
        {may('system.monitor.auth') && <Denials />}
        {may('system.info') && <Storage health={health} info={info} failure={unknown} />}
        {may('system.info') && <Health health={health} failure={failure} />}
      </Flex>
    </>
  )
}
