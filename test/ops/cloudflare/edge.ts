/**
 * Serves what is deployed at the fake, in the real runtime: a request gets one of the versions of the worker at its
 * address, by their shares, or the one that it names.
 */
import { Miniflare, type WorkerOptions } from 'miniflare';
import type { Deployment, Script, Version } from './workers.ts';

/** An answered request: which version answered, and whether the request named that version. */
export type Served = { version: string; byName: boolean };

type Binding = NonNullable<WorkerOptions['config']['env']>[string];

/** The commands of a test follow each other faster than an operator's. */
const NO_LIMIT = { limit: 1_000_000, period: 10 as const };

/** The resources of the account, by their ids. */
const RESOURCES: Record<string, Binding> = {};
for (const environment of ['staging', 'production']) {
  RESOURCES[`database-of-${environment}`] = { type: 'd1', id: `database-of-${environment}` };
  RESOURCES[`api-keys-of-${environment}`] = { type: 'kv', id: `api-keys-of-${environment}` };
}

export async function startEdge(scripts: Map<string, Script>) {
  const holder = worker('holder', 'export default { fetch() {} };', RESOURCES);
  const options = { handleStructuredLogs: () => {} };
  const runtime = new Miniflare({ ...options, workers: [holder] });
  await runtime.ready;
  const served: Served[] = [];
  let queue: Promise<unknown> = Promise.resolve();

  /** Loading a version restarts the runtime, so it waits for the requests before it. */
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = queue.then(run);
    queue = result.catch(() => {});
    return result;
  }

  /** Loads the uploaded versions. Requests from now on wait for it. */
  const load = () => {
    const versions = [...scripts.values()].flatMap((script) => script.versions);
    const workers = [holder, ...versions.map(versionWorker)];
    return inTurn(() => runtime.setOptions({ ...options, workers }));
  };

  async function answer(request: Request): Promise<Response> {
    const host = request.headers.get('x-fake-host') ?? '';
    const script = [...scripts.values()].find(({ domains }) => domains.includes(host));
    if (!script) return new Response(`nothing at ${host}`, { status: 530 });
    const deployment = script.deployments.at(script.unseen > 0 ? -2 : -1);
    script.unseen -= 1;
    if (!deployment) return new Response('nothing deployed yet', { status: 530 });
    const named = versionByName(request, script, deployment);
    const id = named ?? versionByShare(deployment);
    const version = script.versions.find((each) => each.id === id);
    const { pathname, search } = new URL(request.url);
    served.push({ version: id, byName: named !== undefined });
    const asset = version?.assets[pathname];
    if (asset) return new Response(Buffer.from(asset, 'base64'));
    const worker = await runtime.getWorker(id);
    const body = await request.text();
    const response = await worker.fetch(`https://${host}${pathname}${search}`, {
      method: request.method,
      headers: [...request.headers],
      ...(body !== '' && { body }),
    });
    const headers = [...response.headers];
    return new Response((await response.text()) || null, { status: response.status, headers });
  }

  return {
    served,
    database: (id: string) => runtime.getD1Database(id, 'holder'),
    namespace: (id: string) => runtime.getKVNamespace(id, 'holder'),
    /** Answers a client's request for `X-Fake-Host`. */
    visit: (request: Request) => inTurn(() => answer(request)),
    load,
    close: () => runtime.dispose(),
  };
}

function versionByName(request: Request, { name }: Script, { versions }: Deployment) {
  const header = request.headers.get('cloudflare-workers-version-overrides');
  return versions.find(({ version_id }) => header === `${name}="${version_id}"`)?.version_id;
}

function versionByShare({ versions }: Deployment): string {
  let point = Math.random() * 100;
  const found = versions.find(({ percentage }) => {
    point -= percentage;
    return point < 0;
  });
  return found?.version_id ?? '';
}

/** A version as a worker of the runtime, with the bindings that it was uploaded with. */
function versionWorker({ id, code, bindings }: Version): WorkerOptions {
  const env = bindings.map((binding) => [binding.name, runtimeBinding(binding, id)] as const);
  return worker(id, code.replace(/^\/\/# source.*/m, ''), Object.fromEntries(env));
}

function runtimeBinding(binding: Version['bindings'][number], version: string): Binding {
  const { type, text, id, namespace_id } = binding;
  const namespace = String(namespace_id);
  if (type === 'plain_text') return { type: 'text', value: String(text) };
  if (type === 'd1') return { type: 'd1', id: String(id) };
  if (type === 'kv_namespace') return { type: 'kv', id: namespace };
  if (type === 'ratelimit') return { type: 'rate-limit', namespace, simple: NO_LIMIT };
  if (type === 'version_metadata') return { type: 'json', value: { id: version } };
  throw new Error(`no such binding here: ${type}`);
}

function worker(name: string, contents: string, env: Record<string, Binding>) {
  const modules = { 'index.js': { type: 'esm' as const, contents } };
  const manifest = { mainModule: 'index.js', modules };
  return { config: { name, compatibilityDate: '2026-11-17', manifest, env } };
}
