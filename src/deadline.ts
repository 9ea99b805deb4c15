/**
 * The value of a promise, if it comes within `ms` milliseconds. What the promise stands for goes on:
 * neither D1 nor KV can be told to stop.
 *
 * @throws Error when time is up, or what the promise was rejected with.
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number, name: string): Promise<T> {
  const { promise: timeUp, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Error(`${name} did not answer within ${ms} ms`));
  const timer = setTimeout(late, ms);
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
