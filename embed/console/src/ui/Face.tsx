import { useState } from 'react'

type Props = { of: { username: string; nickname: string; avatar_url: string }; size?: number }

// hueOf returns the hue of an initial, the same for a username everywhere.
const hueOf = (username: string) => [...username].reduce((sum, c) => (sum * 31 + (c.codePointAt(0) ?? 0)) % 360, 0)

// Face is a person's photo, or else their initial. It is hidden from screen readers, since
// the name is beside it.
export function Face({ of, size = 32 }: Props) {
  const [failed, setFailed] = useState('') // URL of the photo that failed to load
  const photo = of.avatar_url && of.avatar_url !== failed
  const look = { width: size, height: size, fontSize: Math.round(size * 0.42), '--hue': hueOf(of.username) }
  return (
    <span className="face" aria-hidden style={look}>
      {photo ? <img src={of.avatar_url} alt="" onError={() => setFailed(of.avatar_url)} /> : [...(of.nickname || of.username)][0]?.toUpperCase()}
    </span>
  )
}
