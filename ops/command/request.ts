/** Requests to a store and to Cloudflare's API. */
import http from 'node:http';

// As wrangler does: the requests go to the proxy that HTTPS_PROXY names. Node.js before 24.14
// cannot.
http.setGlobalProxyFromEnv?.();

export type Endpoint = {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string;
  /** Names the version that answers, whatever its share is: `worker="version"`. */
  override?: string;
  /** Ends a request. */
  signal?: AbortSignal | undefined;
};

/**
 * Sends a request, such as `GET /pets`. Returns the body.
 *
 * @throws Error unless the status is the expected one.
 */
export async function request(
  { baseUrl, apiKey, override, signal }: Endpoint,
  line: string,
  expected: number,
  body?: object,
) {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${apiKey}`,
      // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
      ...(override && { 'cloudflare-workers-version-overrides': override }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.any([AbortSignal.timeout(30_000), ...(signal ? [signal] : [])]),
  }).catch((cause: Error) => {
    // The last cause of "fetch failed" says what failed. If all addresses of a host fail, it has a
    // code alone.
    let reason = cause;
    while (reason.cause instanceof Error) reason = reason.cause;
    const problem = reason.message || Object(reason).code;
    throw new Error(`${method} ${baseUrl}${path}: ${problem}`, { cause });
  });
  const text = await response.text();
  if (response.status === expected) return text ? JSON.parse(text) : {};
  // Cloudflare may repeat the whole request before the reason.
  throw new Error(`${line}: ${response.status}, not ${expected}: ${text.slice(-300)}`);
}
