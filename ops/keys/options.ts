/** Parses the options of `npm run keys`. */
import { InvalidArgumentError } from 'commander';
import { API_KEY, visible } from '../command/command-line.ts';

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Returns the label if it is not empty, short enough, all visible, and no API key: labels are
 * stored and listed.
 */
export function parseLabel(text: string): string {
  if (text.search(API_KEY) >= 0) throw new InvalidArgumentError('It must not contain an API key.');
  if (text.trim() !== '' && [...text].length <= 100 && visible(text) === text) return text;
  throw new InvalidArgumentError('It must be 1 to 100 characters that a terminal shows.');
}

/** The end, in ISO 8601, of a duration that begins now, such as `15m`, `24h` or `90d`. */
export function timeAfter(duration: string): string {
  const [, count, unit = ''] = /^([1-9][0-9]{0,4})([mhd])$/.exec(duration) ?? [];
  const unitMs = UNITS[unit];
  if (unitMs) return new Date(Date.now() + Number(count) * unitMs).toISOString();
  throw new InvalidArgumentError('It must be 1 to 99999 with m, h or d, such as 15m, 24h or 90d.');
}
