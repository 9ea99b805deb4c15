/** Parses times and durations in arguments. */

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const DURATION = /^([0-9]{1,6})([smhd])$/;

/** The milliseconds of a duration such as `1s`, `15m`, `24h`, `90d`, or `undefined` if it is invalid. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * UNITS[unit as keyof typeof UNITS];
}

/**
 * The time of an expiry: a duration from now, or a date, which means the end of that day in UTC. `undefined` if it is
 * invalid.
 */
export function parseExpiry(text: string, now = Date.now()): Date | undefined {
  const duration = parseDuration(text);
  if (duration !== undefined) return new Date(now + duration);
  const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)
    ? new Date(`${text}T23:59:59.999Z`)
    : undefined;
  // `new Date` converts 30 February to 2 March.
  return day && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
    ? day
    : undefined;
}
