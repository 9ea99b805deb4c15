/** The options of `npm run keys`, and how their values are parsed. */
import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod/mini';

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** 36500 days. */
const MAX = 3_153_600_000_000;

export const labelOption = new Option(
  '--label <text>',
  'the owner or purpose, up to 100 characters',
)
  .argParser((text: string) => {
    const isLabel = text.trim() !== '' && [...text].length <= 100 && !/\p{Cc}/u.test(text);
    if (isLabel) return text;
    throw new InvalidArgumentError('It must be 1 to 100 characters, without control characters.');
  })
  .makeOptionMandatory();

export const expiresOption = new Option(
  '--expires <when>',
  'a duration (90d) or a date (2027-01-31: its end, UTC)',
).argParser((text: string) => {
  const isDate = z.iso.date().safeParse(text).success;
  const time = isDate ? Date.parse(`${text}T23:59:59.999Z`) : Date.now() + duration(text);
  if (time <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return new Date(time).toISOString();
});

export const overlapOption = new Option('--overlap <duration>', 'how long the old key stays valid')
  .argParser(duration)
  .default(duration('24h'), '24h');

/** The milliseconds of a duration such as `15m`, `24h`, `90d`. */
function duration(text: string): number {
  const [, count, unit = ''] = /^([0-9]+)([smhd])$/.exec(text) ?? [];
  const length = UNITS[unit];
  if (!count || !length)
    throw new InvalidArgumentError(
      'It must be a duration such as 15m, 24h or 7d. An expiry may also be a date such as 2027-01-31.',
    );
  const milliseconds = Number(count) * length;
  if (milliseconds > MAX) throw new InvalidArgumentError('It must be at most 36500d (100 years).');
  return milliseconds;
}
