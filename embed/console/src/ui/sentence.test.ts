import { expect, test } from 'vitest'
import { sentence } from './sentence'

test.each([
  ['these copies are on the disk of the data: both are lost together', 'These copies are on the disk of the data: both are lost together'],
  ['a target', 'A target'],
  ['server.public_url is not set', 'server.public_url is not set'],
  ['`reeve restore` takes it', '`reeve restore` takes it'],
  ['secret_key is missing', 'secret_key is missing'],
  ['offsite: no proven copy', 'offsite: no proven copy'],
  ['3 copies', '3 copies'],
  ['未生成副本', '未生成副本'],
  ['', ''],
])('%j begins as a sentence', (message, begins) => expect(sentence(message)).toBe(begins))
