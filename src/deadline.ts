/** A promise did not settle in time. */
export class DeadlineError extends Error {}

/**
 * The value of a promise, if it comes within `ms` milliseconds. The work behind the promise goes on: neither
 * D1 nor KV can be told to stop.
 *
 * @throws DeadlineError when time is up, or the promise's rejection.
 */
export function withDeadline<T>(promise: Promise<T>, ms: number, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new DeadlineError(`${name} did not answer within ${ms} ms`));
    const timer = setTimeout(late, ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
