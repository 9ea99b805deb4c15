/** A client of the store as the release commands are one: patient with rate limits, exact with numbers. */

/** Long enough for a slow answer (the store gives up after 5 s), short enough to notice none. */
const TIMEOUT_MS = 10_000;
const RATE_LIMITED_RETRIES = 3;

export type Client = {
  /**
   * Sends a request to a path, such as `/v1/pets`. One that is rate limited is sent again, later.
   *
   * @throws Error when there is no answer.
   */
  send(path: string, init?: ClientRequest): Promise<Answer>;
};

export type ClientRequest = { method?: string; headers?: Record<string, string>; body?: string };

/** `body` is parsed JSON whose integers are `bigint`, or `undefined` when it is no JSON. */
export type Answer = { status: number; headers: Headers; body: unknown };

export type ClientOptions = {
  /** Such as `http://localhost:8787`. */
  origin: string;
  /** Headers of every request. */
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

/**
 * Asks for one version of a worker, whatever its share.
 * https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
 */
export function overrideHeader(worker: string, version: string): Record<string, string> {
  return { 'Cloudflare-Workers-Version-Overrides': `${worker}="${version}"` };
}

/**
 * Requests with the same key are answered by the same version for as long as a deployment lasts.
 * https://developers.cloudflare.com/workers/versions-and-deployments/gradual-deployments/version-affinity/
 */
export function affinityHeader(key: string): Record<string, string> {
  return { 'Cloudflare-Workers-Version-Key': key };
}

export function createClient({ origin, headers, signal }: ClientOptions): Client {
  return {
    async send(path, init = {}) {
      const url = `${origin}${path}`;
      for (let attempt = 0; ; attempt += 1) {
        const {
          status,
          headers: received,
          text,
        } = await exchange(url, {
          ...init,
          headers: { ...headers, ...init.headers },
          ...(signal && { signal }),
        });
        if (status !== 429 || attempt === RATE_LIMITED_RETRIES) {
          return { status, headers: received, body: parse(text) };
        }
        const wait = Number(received.get('retry-after')) || 1;
        await pause(wait * 1000, signal);
      }
    },
  };
}

/** @throws Error naming the request and why there is no answer; the signal's reason when it is aborted. */
async function exchange(
  url: string,
  { signal, ...init }: ClientRequest & { signal?: AbortSignal },
) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      ...init,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`${init.method ?? 'GET'} ${url}: ${reason(error)}`);
  }
}

/** Waits, unless the signal is aborted: then it throws the signal's reason. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Fetch's own message is `fetch failed`; its cause says why. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_, value, context?: { source: string }) =>
      typeof value === 'number' && context && /^-?[0-9]+$/.test(context.source)
        ? BigInt(context.source)
        : value,
    );
  } catch {
    return undefined;
  }
}
