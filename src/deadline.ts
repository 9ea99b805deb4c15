export class DeadlineError extends Error {}

/** For calls that may never settle. D1 and KV calls cannot be aborted, so the work continues. */
export function withDeadline<T>(promise: Promise<T>, ms: number, name: string): Promise<T> {
  // Not Promise.race or finally, which take more CPU time.
  return new Promise((resolve, reject) => {
    const expire = () => reject(new DeadlineError(`${name} did not respond within ${ms} ms`));
    const timer = setTimeout(expire, ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
