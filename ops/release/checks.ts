/** What a release refuses, computed from what was read. */
import { type Deployment, sharesOf } from './cloudflare.ts';

/** What changes only on request: the worker that answers at BASE_URL, a resource, routes that lack its host. */
export const DIFFERENCES = ['worker', 'database', 'keys', 'address'] as const;
type Bound = { worker: string; database: unknown; keys: unknown };
type Next = Bound & { routes: string; baseUrl: string };

/** How a release differs from what is served, other than allowed. */
export function differences(served: Bound, next: Next, allowed: string[]): string[] {
  const { host } = new URL(next.baseUrl);
  const before = { ...served, address: host };
  const after = { ...next, address: next.routes.includes(`"${host}`) ? host : next.routes };
  return DIFFERENCES.filter((name) => before[name] !== after[name] && !allowed.includes(name)).map(
    (name) => `${name}: served is ${before[name]}, the release has ${after[name]}`,
  );
}

/** The version that serves all requests. @throws Error with the command that ends any other state. */
export function onlyVersion(environment: string, newest?: Deployment): string {
  const first = `npm run release -- first --env ${environment}`;
  if (!newest) throw new Error(`${environment} has no worker: ${first}`);
  const [share, ...others] = newest.shares;
  if (share && others.length === 0) return share.version_id;
  const back = newest.note ? 'unfinished' : '<version>';
  const end = `If nobody is at it: npm run release -- rollback ${back} --env ${environment}`;
  throw new Error(`${environment} serves ${sharesOf(newest)}: a release is unfinished. ${end}`);
}

export const PASSED = 'passed its tests';
/** Whether a version passed its tests, as far as the listed deployments, the newest first, show. */
export function testResult(version: string, deployments: Deployment[]): string {
  for (const { note, shares } of deployments) {
    if (note?.release === 'failed' && note.replaces === version) return 'failed its tests';
    if (note?.passed && shares[0]?.version_id === version) return PASSED;
  }
  return 'is not known to have passed its tests';
}
