import { expect, test } from 'vitest';
import { parseDuration, parseExpiry } from '../../ops/keys/times.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

test.each([
  ['1s', 1_000],
  ['15m', 900_000],
  ['24h', 86_400_000],
  ['90d', 7_776_000_000],
  ['0s', 0],
])('%s is a duration', (text, ms) => expect(parseDuration(text)).toBe(ms));

test.each(['', '90', 'd', '1.5h', '-1d', '1 d', '1D', '1y', '4w', '1h30m', ' 1h', '9999999d'])(
  '%j is not a duration',
  (text) => expect(parseDuration(text)).toBeUndefined(),
);

test.each([
  ['90d', '2027-02-18T12:00:00.000Z'],
  ['2027-01-31', '2027-01-31T23:59:59.999Z'],
  ['2028-02-29', '2028-02-29T23:59:59.999Z'],
])('%s is an expiry', (text, time) => expect(parseExpiry(text, NOW)?.toISOString()).toBe(time));

test.each([
  '2027-02-29',
  '2027-02-30',
  '2027-13-01',
  '2027-1-1',
  '27-01-01',
  '2027-01-31T00:00',
  'never',
  '',
])('%j is not an expiry', (text) => expect(parseExpiry(text, NOW)).toBeUndefined());
