/** Parses the arguments of `npm run keys`. */
import { InvalidArgumentError } from 'commander';
import * as z from 'zod/mini';

const UNITS = new Map(Object.entries({ s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }));

/** The milliseconds of a duration such as `1s`, `15m`, `24h`, `90d`. */
export function duration(text: string): number {
  const ms = milliseconds(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('It must be a duration such as 15m, 24h or 7d.');
}

/** The time of an expiry: a duration from now, or a date, which means the end of that day in UTC. */
export function expiry(text: string): Date {
  const ms = milliseconds(text);
  if (ms === undefined && !z.iso.date().safeParse(text).success)
    throw new InvalidArgumentError(
      'It must be a duration such as 90d, or a date such as 2027-01-31.',
    );
  const expires = new Date(ms === undefined ? `${text}T23:59:59.999Z` : Date.now() + ms);
  if (expires.getTime() <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return expires;
}

export function label(text: string): string {
  const length = [...text].length;
  if (text.trim() !== '' && length <= 100 && !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(text))
    return text;
  throw new InvalidArgumentError('It must be 1 to 100 characters without control characters.');
}

function milliseconds(text: string): number | undefined {
  const [, count, unit = ''] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  const factor = UNITS.get(unit);
  return factor === undefined ? undefined : Number(count) * factor;
}
