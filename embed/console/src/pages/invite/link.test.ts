import { expect, test } from 'vitest'
import { csv } from './link'

const link = {
  user_id: 1,
  username: 'ann',
  nickname: 'Ann',
  email: 'ann@example.org',
  url: 'https://reeve.example.org/link/x',
  expires_at: '2026-01-02T03:04:05Z',
}

test('links are a CSV file that spreadsheets read', () => {
  expect(csv([link])).toBe('\uFEFFusername,nickname,email,link,expires_at\r\nann,Ann,ann@example.org,https://reeve.example.org/link/x,2026-01-02T03:04:05Z\r\n')
  expect(csv([])).toBe('\uFEFFusername,nickname,email,link,expires_at\r\n')
})

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ['\tx', "'\tx"],
  ['\rx', `"'\rx"`],
  ["'x", "''x"],
  ['a=1', 'a=1'],
  ['Lee, Ann', '"Lee, Ann"'],
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ['two\nlines', '"two\nlines"'],
])('the name %j is the cell %j', (nickname, cell) => {
  expect(
    csv([{ ...link, nickname }])
      .split(',')
      .slice(5, -3)
      .join(','),
  ).toBe(cell)
})
