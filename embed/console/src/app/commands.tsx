import { BulbOutlined, LogoutOutlined, PlusOutlined, QuestionCircleOutlined, SettingOutlined, TranslationOutlined, UserOutlined } from '@ant-design/icons'
import { type ReactNode, useEffect, useState } from 'react'
import { type NavigateFunction, useNavigate } from 'react-router'
import type { Listing } from '../api/paths'
import { request } from '../api/request'
import { signOut } from '../api/sign-out'
import type { SettingPage, UserPage } from '../api/types'
import { given, language, setLanguage, t } from '../i18n'
import { languages } from '../i18n/languages'
import { mode, type Mode, setMode } from '../ui/dark'
import { Icon } from '../ui/icons'
import { type Account, useAccount } from './account'
import { follow, type Place } from './menu'
import { TabMark } from './PageLink'
import { folded, hasWords } from '../ui/fold'

// Commands of the palette.

export type Group = 'recent' | 'pages' | 'actions' | 'users' | 'settings'

export type Command = { id: string; group: Group; title: string; hint?: string; icon: ReactNode; mark?: ReactNode; words?: string; run: () => void }

// useCommands returns the pages and commands available to the user.
export function useCommands(places: Place[], help: () => void, requests: () => void): Command[] {
  const account = useAccount()
  const navigate = useNavigate()
  return [...toPages(places, account, navigate), ...actions(account, navigate, help, requests)]
}

function toPages(places: Place[], { info }: Account, navigate: NavigateFunction): Command[] {
  const all: Place[] = [
    { key: '/', path: '/', title: t('home'), icon: 'HomeOutlined', under: '' },
    ...places,
    ...(info.acting ? [] : [{ key: '/account', path: '/account', title: t('account'), icon: 'UserOutlined', under: '' }]),
    { key: '/help', path: '/help', title: t('manual'), icon: 'BookOutlined', under: '' },
  ]
  return all.map(({ key, path, link, title, icon, under }) => ({
    id: key,
    group: 'pages',
    title,
    hint: under,
    words: path ?? link?.url,
    icon: <Icon name={icon} />,
    mark: link?.open === 'tab' && <TabMark />,
    run: () => void (link ? follow(link) : navigate(path ?? '/')),
  }))
}

function actions({ info, may }: Account, navigate: NavigateFunction, help: () => void, requests: () => void): Command[] {
  const modes: Mode[] = ['system', 'light', 'dark']
  const list: (Omit<Command, 'group'> | false)[] = [
    may('admin.list.create') && { id: 'new-user', title: t('palette.new_user'), icon: <PlusOutlined />, run: () => void navigate('/admin/list?new=1') },
    !info.acting && { id: 'password', title: t('password.change'), icon: <UserOutlined />, run: () => void navigate('/account/security#password') },
    ...modes
      .filter((m) => m !== mode())
      .map((m) => ({
        id: `mode-${m}`,
        title: `${t('mode')}: ${t(`mode.${m}`)}`,
        words: 'dark light theme',
        icon: <BulbOutlined />,
        run: () => setMode(m),
      })),
    ...Object.entries(languages)
      .filter(([code]) => code !== language)
      .map(([code, { change }]) => ({
        id: `language-${code}`,
        title: change,
        words: 'language english chinese zhongwen',
        icon: <TranslationOutlined />,
        run: () => setLanguage(code),
      })),
    { id: 'requests', title: t('requests'), words: 'api curl code', icon: <Icon name="ApiOutlined" />, run: requests },
    { id: 'help', title: t('help'), words: '?', icon: <QuestionCircleOutlined />, run: help },
    { id: 'out', title: t('sign_out'), words: 'logout sign out', icon: <LogoutOutlined />, run: () => void signOut() },
  ]
  return list.flatMap((action) => (action ? [{ ...action, group: 'actions' as const }] : []))
}

// matching returns the commands that contain every word, those that start with it first.
export function matching(commands: Command[], typed: string): Command[] {
  const words = folded(typed).split(' ').filter(Boolean)
  const rank = (title: string) => (title.startsWith(words[0] ?? '') ? 0 : title.includes(` ${words[0]}`) ? 1 : 2)
  return commands
    .filter((c) => hasWords(typed, `${c.title} ${c.hint ?? ''} ${c.words ?? ''}`))
    .map((c) => ({ c, rank: rank(folded(c.title)) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ c }) => c)
}

const few = 5

// useFound searches users and settings on the server after a pause in typing.
export function useFound(typed: string): { found: Command[]; asking: boolean } {
  const { may } = useAccount()
  const navigate = useNavigate()
  const [answer, setAnswer] = useState<{ to: string; found: Command[] }>({ to: '', found: [] })
  const question = typed.trim()
  const users = may('admin.list.query')
  const settings = may('system.setting.query')

  useEffect(() => {
    if (!question || !(users || settings)) return
    const asked = new AbortController()
    const ask = async <T,>(may: boolean, path: Listing<T>): Promise<T[]> =>
      may ? (await request<{ data: T[] }>('GET', path, { query: { keywordSearch: question, pageSize: few }, quiet: true, signal: asked.signal })).data : []
    const wait = setTimeout(() => {
      void Promise.allSettled([ask<UserPage['data'][number]>(users, '/admin/list'), ask<SettingPage['data'][number]>(settings, '/system/setting')]).then(
        ([people, values]) => {
          if (asked.signal.aborted) return
          const found: Command[] = []
          for (const user of people.status === 'fulfilled' ? people.value : []) {
            found.push({
              id: `user-${user.id}`,
              group: 'users',
              title: user.nickname || user.username,
              hint: user.username,
              icon: <UserOutlined />,
              run: () => void navigate(`/admin/list/${user.id}`),
            })
          }
          for (const setting of values.status === 'fulfilled' ? values.value : []) {
            found.push({
              id: `setting-${setting.id}`,
              group: 'settings',
              title: given(setting.title),
              hint: setting.key,
              icon: <SettingOutlined />,
              run: () => void navigate(`/system/setting?keywordSearch=${encodeURIComponent(setting.key)}`),
            })
          }
          setAnswer({ to: question, found })
        },
      )
    }, 200)
    return () => {
      clearTimeout(wait)
      asked.abort()
    }
  }, [question, users, settings, navigate])

  return { found: question ? answer.found : [], asking: question !== '' && (users || settings) && answer.to !== question }
}

const recent = 'reeve.recent'

// recents are the IDs of the last commands, newest first. Server results are not stored,
// as they may be confidential.
export function recents(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(recent) ?? '[]')
    return Array.isArray(kept) ? kept.map(String) : []
  } catch {
    return []
  }
}

export function remember({ id, group }: Command): void {
  if (group === 'users' || group === 'settings') return
  localStorage.setItem(recent, JSON.stringify([id, ...recents().filter((other) => other !== id)].slice(0, few)))
}
