/** The smoke test of an environment: which key it takes, and how it cleans up after itself. */
import { environmentOfKey } from '../../src/keys/format.ts';
import { LOCAL_KEY } from '../local-store.ts';
import { runWrangler } from '../wrangler.ts';
import { type Client, createClient } from './client.ts';
import { query } from './database.ts';
import { type Check, smokeTest } from './smoke.ts';
import type { Added } from './smoke-writes.ts';
import { readTarget, type Target } from './target.ts';

/** The environment variable that holds the smoke test's own API key: never an argument. */
export const API_KEY_VARIABLE = 'SMOKE_API_KEY';

const HOUR_MS = 3_600_000;

export type Subject = {
  environment: Target['environment'] | 'local';
  /** What its links begin with. */
  baseUrl: string;
  /** Where it is asked; the origin of `baseUrl` unless told. */
  origin?: string;
  headers?: Record<string, string>;
  /** The version that must answer, where it matters which. */
  version?: string;
};

/** Runs the smoke test; in production nothing is added. */
export async function checkUp(subject: Subject, signal: AbortSignal): Promise<Check[]> {
  const { environment, baseUrl, version } = subject;
  return smokeTest({
    client: clientOf(subject, signal),
    apiKey: apiKey(environment),
    baseUrl,
    environment,
    ...(version && { version }),
    ...(environment !== 'production' && { remove: (added) => remove(environment, added) }),
  });
}

/** A client of it. */
export function clientOf(
  { baseUrl, origin = new URL(baseUrl).origin, headers }: Subject,
  signal: AbortSignal,
): Client {
  return createClient({ origin, signal, ...(headers && { headers }) });
}

/** The smoke test's key; the one that every local store knows, for a local one. */
export function apiKey(environment: Subject['environment']): string {
  const key = process.env[API_KEY_VARIABLE] || (environment === 'local' ? LOCAL_KEY : '');
  const problem = apiKeyProblem(environment, key);
  if (problem) throw new Error(problem);
  return key;
}

/** What is wrong with the smoke test's key, in words that do not show it. */
export function apiKeyProblem(
  environment: Subject['environment'],
  key = process.env[API_KEY_VARIABLE] ?? '',
): string | undefined {
  if (key === '') {
    return `the smoke test needs a key of ${environment} in the environment variable ${API_KEY_VARIABLE}`;
  }
  const found = environmentOfKey(key);
  if (found === environment) return undefined;
  return found
    ? `${API_KEY_VARIABLE} holds a key of ${found}, not of ${environment}`
    : `${API_KEY_VARIABLE} holds what is no API key: a character of it is wrong or missing`;
}

/** By the records of the idempotency keys: they hold the ids, also of what was added but not answered. */
async function remove(environment: Subject['environment'], added: Added): Promise<void> {
  const { name, petKeys, orderKeys, writes } = added;
  const records = (keys: string[]) =>
    `FROM idempotency_keys WHERE created_at > ${Date.now() - HOUR_MS} AND idempotency_key IN (${quoted(keys)})`;
  const ids = (keys: string[]) => `SELECT json_extract(answer, '$.id') ${records(keys)}`;
  const sql = `DELETE FROM orders WHERE id IN (${ids(orderKeys)});
    DELETE FROM pets WHERE name = '${name}' AND id IN (${ids(petKeys)});
    DELETE ${records([...petKeys, ...orderKeys, ...writes])}`;
  if (environment === 'local') {
    await runWrangler(['d1', 'execute', 'DB', '--local', '--json', '--command', sql]).catch(() => {
      throw new Error(`${name} is still there: its store is not the one of this folder`);
    });
  } else {
    await query(readTarget(environment), sql);
  }
}

/** Random ids of ours, and of the service: none has a quote in it. */
function quoted(texts: string[]): string {
  return texts.map((text) => `'${text.replaceAll("'", '')}'`).join(', ');
}
