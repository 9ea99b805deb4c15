/** An account at Cloudflare's API, for what wrangler does not return as JSON: https://developers.cloudflare.com/api/ */
import type { DeployedEnvironment } from './command-line.ts';
import { readJson } from './deployed.ts';
import { type Endpoint, request } from './request.ts';

/** @throws Error if wrangler has no token. */
export async function openAccount(env: DeployedEnvironment, id: string): Promise<Endpoint> {
  const { token } = await readJson<{ token?: string }>(env, ['auth', 'token']);
  if (!token)
    throw new Error('use CLOUDFLARE_API_TOKEN or npx wrangler login, not a global API key');
  const api = process.env.CLOUDFLARE_API_BASE_URL ?? 'https://api.cloudflare.com/client/v4';
  return { baseUrl: `${api}/accounts/${id}`, apiKey: token };
}

/** The worker that has a host. */
export async function readOwner(account: Endpoint, host: string): Promise<string | undefined> {
  type Domain = { hostname: string; service: string };
  const { result } = await request(account, 'GET /workers/domains', 200);
  return result.find(({ hostname }: Domain) => hostname === host)?.service;
}
