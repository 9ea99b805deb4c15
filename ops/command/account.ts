/**
 * An account at Cloudflare's API, for what wrangler does not return as JSON:
 * https://developers.cloudflare.com/api/
 */
import type { DeployedEnvironment } from './command-line.ts';
import { readJson } from './deployed.ts';
import { request } from './request.ts';

export type Account = Awaited<ReturnType<typeof openAccount>>;

/**
 * Returns a function that sends a request, such as `GET /workers/scripts`, and returns the result.
 *
 * @throws Error if wrangler has no token.
 */
export async function openAccount(env: DeployedEnvironment, id: string) {
  const { token } = await readJson<{ token?: string }>(env, ['auth', 'token']);
  if (!token)
    throw new Error('use CLOUDFLARE_API_TOKEN or npx wrangler login, not a global API key');
  const api = process.env.CLOUDFLARE_API_BASE_URL ?? 'https://api.cloudflare.com/client/v4';
  const endpoint = { baseUrl: `${api}/accounts/${id}`, apiKey: token };
  return async (line: string, body?: object) => (await request(endpoint, line, 200, body)).result;
}

/** The worker that has a host. */
export async function readOwner(account: Account, host: string): Promise<string | undefined> {
  const domains: { hostname: string; service: string }[] = await account('GET /workers/domains');
  return domains.find(({ hostname }) => hostname === host)?.service;
}
