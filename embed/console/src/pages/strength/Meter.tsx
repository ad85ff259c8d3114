import { useEffect, useState } from 'react'
import { get } from '../../api/request'
import { t } from '../../i18n'
import { type Level, type Strength, strengthOf } from './estimate'

// pause is how long typing rests before the strength is told, in milliseconds.
const pause = 250

const parts: Level[] = ['weak', 'fair', 'good', 'strong']
const colors: Record<Level, string> = {
  weak: 'light-dark(#cf1322, #ff7875)',
  fair: 'light-dark(#ad6800, #ffc069)',
  good: 'light-dark(#237804, #95de64)',
  strong: 'light-dark(#237804, #95de64)',
}

// useOwn returns texts that the user's password should not contain: those given, or else those of the account.
function useOwn(given?: string[]): string[] {
  const [own, setOwn] = useState<string[]>([])
  const asks = given === undefined
  useEffect(() => {
    if (!asks) return
    get('/admin/info', {}, { quiet: true }).then(
      ({ info }) => setOwn([info.username, info.nickname, info.email]),
      () => {}, // the estimate is a little too good
    )
  }, [asks])
  return given ?? own
}

// Meter shows how strong a password is. It is plain HTML, since the sign-in page uses it, too.
export function Meter({ password, shortest, own: given }: { password: string; shortest: number; own?: string[] }) {
  const own = useOwn(given)
  const [told, setTold] = useState<Strength>()
  const words = own.join('\n')
  useEffect(() => {
    const timer = setTimeout(() => setTold(strengthOf(password, words.split('\n'), shortest)), pause)
    return () => clearTimeout(timer)
  }, [password, words, shortest])
  if (!told) return null
  const reached = parts.indexOf(told.level)
  return (
    <>
      <div aria-hidden style={{ display: 'flex', gap: 4, margin: '8px 0 4px' }}>
        {parts.map((part, n) => (
          <span
            key={part}
            style={{ flex: 1, height: 4, borderRadius: 2, background: n <= reached ? colors[told.level] : 'light-dark(#00000026, #ffffff33)' }}
          />
        ))}
      </div>
      <span data-level={told.level}>
        {t(`strength.${told.level}`)} {told.hint && t(`strength.hint.${told.hint}`)}
      </span>
    </>
  )
}
