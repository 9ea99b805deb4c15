/** Watches, in Cloudflare's log, whether the new version has a larger share of 5xx than the old one. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Endpoint, request } from '../command/request.ts';
import { type Store, testReads } from './smoke.ts';

/** The number of requests with one status and version. */
type Count = { value: number; groups: { key: string; value: unknown }[] };

/** @throws Error if the token may not read the log. */
export async function readLog(api: Endpoint, from: number, to: number): Promise<Count[]> {
  const query = JSON.parse(await readFile('docs/alerts/share-of-5xx.json', 'utf8'));
  const body = { ...query, timeframe: { from, to } };
  const { result } = await request(api, 'POST /workers/observability/telemetry/query', 200, body);
  return result.calculations.flatMap(({ aggregates }: { aggregates: Count[] }) => aggregates);
}

/** The requests of a version, and those with a 5xx among them. */
function sum(counts: Count[], version: string) {
  let requests = 0;
  let errors = 0;
  for (const { groups, value } of counts) {
    const group = new Map(groups.map((each) => [each.key, each.value]));
    if (group.get('$workers.scriptVersion.id') !== version) continue;
    requests += value;
    if (Number(group.get('status')) >= 500) errors += value;
  }
  return { requests, errors };
}

/**
 * Tests a version every 15 s, and compares it with the old one.
 *
 * @throws Error if its share of 5xx is more than twice that of the old one. One 5xx alone may be chance.
 */
export async function watch(
  api: Endpoint,
  store: Store,
  oldVersion: string,
  seconds: number,
  signal: AbortSignal,
) {
  const start = Date.now();
  let report = '';
  for (let passed = 0; passed < seconds; passed += 15) {
    await testReads(store);
    await pause(15_000, undefined, { signal });
    const counts = await readLog(api, start, Date.now());
    const next = sum(counts, store.version);
    const old = sum(counts, oldVersion);
    report = `5xx / requests: new ${next.errors} / ${next.requests}, old ${old.errors} / ${old.requests}`;
    if (next.errors > 1 + (2 * next.requests * old.errors) / Math.max(old.requests, 1))
      throw new Error(report);
    if (next.requests === 0) report = 'No request of the new version was logged.';
  }
  console.log(report);
}
