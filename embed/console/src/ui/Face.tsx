import { useState } from 'react'

type Props = { of: { username: string; nickname: string; avatar_url: string }; size?: number }

// Face is a person's photo, or else their initial. It is hidden from screen readers, since
// the name is beside it.
export function Face({ of, size = 32 }: Props) {
  const [failed, setFailed] = useState('') // URL of the photo that failed to load
  return (
    <span className="face" aria-hidden style={{ width: size, height: size, fontSize: Math.round(size * 0.42) }}>
      {of.avatar_url && of.avatar_url !== failed ? (
        <img src={of.avatar_url} alt="" onError={() => setFailed(of.avatar_url)} />
      ) : (
        [...(of.nickname || of.username)][0]?.toUpperCase()
      )}
    </span>
  )
}
