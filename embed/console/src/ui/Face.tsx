import { useState } from 'react'

type Props = { of: { username: string; nickname: string; avatar_url: string }; size?: number }

// Face is somebody's picture, or else the first letter of their name. It says nothing to
// those who do not see it: the name stands beside it.
export function Face({ of, size = 32 }: Props) {
  const [failed, setFailed] = useState('') // the picture that could not be had
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
