/** The options of `npm run keys`, and how their values are parsed. */
import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod/mini';

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const labelOption = new Option(
  '--label <text>',
  'the owner or purpose, up to 100 characters',
)
  .argParser((text: string) => {
    if (text.trim() !== '' && [...text].length <= 100) return text;
    throw new InvalidArgumentError('It must be 1 to 100 characters.');
  })
  .makeOptionMandatory();

export const expiresOption = new Option(
  '--expires <when>',
  'a duration (90d) or a date (2027-01-31: its end, UTC)',
).argParser((text: string) => {
  const isDate = z.iso.date().safeParse(text).success;
  const time = new Date(isDate ? `${text}T23:59:59.999Z` : Date.now() + duration(text));
  if (time.getTime() > Date.now()) return time.toISOString();
  throw new InvalidArgumentError('It must be in the future.');
});

export const overlapOption = new Option('--overlap <duration>', 'how long the old key stays valid')
  .argParser(duration)
  .default(duration('24h'), '24h');

/** The milliseconds of a duration such as `15m`, `24h`, `90d`. */
function duration(text: string): number {
  const [, count, unit = ''] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  const length = UNITS[unit];
  if (count && length) return Number(count) * length;
  throw new InvalidArgumentError(
    'It must be a duration such as 15m, 24h or 7d. An expiry may also be a date such as 2027-01-31.',
  );
}
