/** A store as its clients see it, and which version of the worker answers them. */
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { createAnimalStore } from '../../client/src/index.ts';

export type Store = {
  environment: string;
  /** Ends in `/v1`; links begin with it. */
  baseUrl: string;
  apiKey: string;
  headers?: Record<string, string>;
  /** The version that must answer, where it matters which. */
  version?: string;
  signal?: AbortSignal;
};

/** Consecutive responses that are required, because a deployment takes time to spread over Cloudflare's network. */
const ANSWERS_IN_A_ROW = 5;

/**
 * The same store, asked for one version by name, whatever the share of that version.
 * https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
 */
export function byVersion(store: Store, worker: string, version: string): Store {
  const headers = { 'Cloudflare-Workers-Version-Overrides': `${worker}="${version}"` };
  return { ...store, version, headers };
}

/** `fetch` with the store's headers. */
export function fetchFrom({ headers: own, signal }: Store): typeof fetch {
  return (input, init = {}) => {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...own };
    return fetch(input, { ...(signal && { signal }), ...init, headers });
  };
}

/** A client of the store, which retries after rate limiting and brief network errors. */
export function clientOf(store: Store, fetch = fetchFrom(store)) {
  const { baseUrl, apiKey, signal } = store;
  return createAnimalStore({ baseUrl, apiKey, fetch, signal });
}

const Health = z.object({
  status: z.string(),
  environment: z.string(),
  version: z.string().optional(),
});

/** Checks that the store is healthy, and which environment and version answers. */
export async function checkHealth(store: Store): Promise<void> {
  // Not `/v1/health`, which version 1.0.0 does not have.
  const signal = AbortSignal.timeout(10_000);
  const response = await fetchFrom(store)(new URL('/health', store.baseUrl), { signal });
  expect('status of /health', response.status, 200);
  const health = Health.parse(await response.json());
  expect('health', health.status, 'ok');
  expect('environment', health.environment, store.environment);
  if (store.version) expect('version', health.version, store.version);
}

/** Waits until the version of a store answers. @throws Error when it has not in time. */
export async function waitForVersion(store: Store, limitSeconds = 60): Promise<void> {
  const end = Date.now() + limitSeconds * 1000;
  for (let answers = 0; answers < ANSWERS_IN_A_ROW; ) {
    const cause = await checkHealth(store).catch((error: Error) => error);
    answers = cause ? 0 : answers + 1;
    store.signal?.throwIfAborted();
    if (cause && Date.now() > end) {
      const what = `version ${store.version} has not answered within ${limitSeconds} s`;
      throw new Error(`${what}: ${messageOf(cause)}`, { cause });
    }
    if (cause) await pause(500);
  }
}

/** @throws Error naming what differs. */
export function expect(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
