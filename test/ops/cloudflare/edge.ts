/**
 * Serves what is deployed at the fake, in the real runtime: a request gets one of the versions of the worker at its
 * host, by their shares, or the one that it names.
 */
import { Miniflare, type WorkerOptions } from 'miniflare';
import type { Deployment, Version, Worker } from './workers.ts';

type Binding = NonNullable<WorkerOptions['config']['env']>[string];

/** The commands of a test follow each other faster than an operator's. */
const NO_LIMIT = { limit: 1_000_000, period: 10 as const };
/** The resources of the account. */
const RESOURCES: Record<string, Binding> = {};
for (const name of ['staging', 'production', 'other']) {
  RESOURCES[`database-of-${name}`] = { type: 'd1', id: `database-of-${name}` };
  RESOURCES[`api-keys-of-${name}`] = { type: 'kv', id: `api-keys-of-${name}` };
}

export async function startEdge(workers: Map<string, Worker>, hosts: Map<string, string>) {
  const holder = workerOf('holder', 'export default { fetch() {} };', RESOURCES);
  const options = { handleStructuredLogs: () => {} };
  const runtime = new Miniflare({ ...options, workers: [holder] });
  await runtime.ready;
  /** The answered requests of clients, by version; those that named a version are marked. */
  const served: string[] = [];
  /** The versions that answer requests for animals with a 500. */
  const broken = new Set<string>();
  let queue: Promise<unknown> = Promise.resolve();

  /** Loading a version restarts the runtime, so it waits for the requests before it. */
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = queue.then(run);
    queue = result.catch(() => {});
    return result;
  }

  async function answer(request: Request): Promise<Response> {
    const host = request.headers.get('x-fake-host') ?? '';
    const found = workers.get(hosts.get(host) ?? '');
    const deployment = found?.deployments.at(found.unseen > 0 ? -2 : -1) ?? found?.deployments[0];
    // A host name without an owner does not exist; one whose owner is no worker here has another origin.
    if (!hosts.has(host)) return new Response('', { headers: { 'x-fake': 'none' } });
    if (!found || !deployment) return new Response('another origin');
    found.unseen -= 1;
    const override = request.headers.get('cloudflare-workers-version-overrides');
    const isNamed = (id: string) => override === `${found.name}="${id}"`;
    const named = deployment.versions.find((each) => isNamed(each.version_id));
    const id = named?.version_id ?? byShare(deployment);
    served.push(named ? `${id} by name` : id);
    const { pathname, search } = new URL(request.url);
    if (broken.has(id) && pathname.startsWith('/v1/pets')) return new Response('', { status: 500 });
    const body = await request.text();
    const init = { method: request.method, headers: [...request.headers], ...(body && { body }) };
    const worker = await runtime.getWorker(id);
    const response = await worker.fetch(`https://${host}${pathname}${search}`, init);
    const [status, headers] = [response.status, [...response.headers]];
    return new Response((await response.text()) || null, { status, headers });
  }

  return {
    served,
    broken,
    database: (id: string) => runtime.getD1Database(id, 'holder'),
    namespace: (id: string) => runtime.getKVNamespace(id, 'holder'),
    /** Answers a client's request for `X-Fake-Host`. */
    visit: (request: Request) => inTurn(() => answer(request)),
    /** Loads the uploaded versions. Requests from now on wait for it. */
    load() {
      const versions = [...workers.values()].flatMap((worker) => worker.versions);
      const all = [holder, ...versions.map(versionWorker)];
      return inTurn(() => runtime.setOptions({ ...options, workers: all }));
    },
    close: () => runtime.dispose(),
  };
}

function byShare({ versions: [first, second] }: Deployment): string {
  const isFirst = Math.random() * 100 < (first?.percentage ?? 0);
  return (isFirst ? first : second)?.version_id ?? '';
}

/** A version as a worker of the runtime, with the bindings that it was uploaded with. */
function versionWorker({ id, code, bindings }: Version): WorkerOptions {
  const env = bindings.map((binding) => [binding.name, runtimeBinding(binding, id)] as const);
  return workerOf(id, code.replace(/^\/\/# source.*/m, ''), Object.fromEntries(env));
}

function runtimeBinding(binding: Version['bindings'][number], version: string): Binding {
  const { type, text = '', id = '', namespace_id: namespace = '' } = binding;
  if (type === 'plain_text') return { type: 'text', value: text };
  if (type === 'd1') return { type: 'd1', id };
  if (type === 'kv_namespace') return { type: 'kv', id: namespace };
  if (type === 'ratelimit') return { type: 'rate-limit', namespace, simple: NO_LIMIT };
  if (type === 'version_metadata') return { type: 'json', value: { id: version } };
  throw new Error(`no such binding here: ${type}`);
}

function workerOf(name: string, contents: string, env: Record<string, Binding>) {
  const modules = { 'index.js': { type: 'esm' as const, contents } };
  const manifest = { mainModule: 'index.js', modules };
  return { config: { name, compatibilityDate: '2026-11-17', manifest, env } };
}
