/** The options of `npm run keys`, and how their values are parsed. */
import { InvalidArgumentError, Option } from 'commander';
import { visible } from './records.ts';

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export const labelOption = new Option(
  '--label <text>',
  'the owner or purpose, up to 100 characters',
)
  .argParser((text: string) => {
    if (text.trim() !== '' && [...text].length <= 100 && visible(text) === text) return text;
    throw new InvalidArgumentError('It must be 1 to 100 characters that a terminal shows.');
  })
  .makeOptionMandatory();

export const expiresOption = new Option(
  '--expires <duration>',
  'how long the key is valid, such as 90d (default: for ever)',
).argParser(duration);

export const overlapOption = new Option('--overlap <duration>', 'how long the old key stays valid')
  .argParser(duration)
  .default(duration('24h'), '24h');

/** The milliseconds of a duration such as `15m`, `24h`, `90d`. */
function duration(text: string): number {
  const [, count, unit = ''] = /^([1-9][0-9]{0,4})([mhd])$/.exec(text) ?? [];
  if (count) return Number(count) * (UNITS[unit] ?? Number.NaN);
  throw new InvalidArgumentError('It must be a duration such as 15m, 24h or 90d, up to 99999d.');
}
