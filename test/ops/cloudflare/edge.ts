/**
 * Serves what is deployed at the fake, in the real runtime: a request gets one of the versions of the worker at its
 * address, by their shares, or the one that it names.
 */
import { Miniflare, type WorkerOptions } from 'miniflare';
import type { Deployment, Script, Version } from './workers.ts';

/** An answered request: which version answered, and whether the request named that version. */
export type Served = { version: string; byName: boolean };

type Binding = NonNullable<WorkerOptions['config']['env']>[string];

const COMPATIBILITY_DATE = '2026-11-17';

/** The commands of a test follow each other faster than an operator's. */
const NO_LIMIT = { limit: 1_000_000, period: 10 as const };

export async function startEdge(
  scripts: Map<string, Script>,
  databases: string[],
  namespaces: string[],
) {
  const holder = worker('holder', 'export default { fetch: () => new Response() };', {
    ...Object.fromEntries(databases.map((id) => [id, { type: 'd1', id }])),
    ...Object.fromEntries(namespaces.map((id) => [id, { type: 'kv', id }])),
  });
  const options = { handleStructuredLogs: () => {} };
  const runtime = new Miniflare({ ...options, workers: [holder] });
  await runtime.ready;
  const served: Served[] = [];
  let loaded = '';
  let queue: Promise<unknown> = Promise.resolve();

  /** A change of what is loaded restarts the runtime, so it waits for the requests before it. */
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = queue.then(run);
    queue = result.catch(() => {});
    return result;
  }

  /** Loads the versions that the scripts serve now. Requests from now on wait for it. */
  const load = () =>
    inTurn(async () => {
      const wanted = [...scripts.values()].flatMap(({ versions, deployments }) => {
        const shares = deployments.slice(-2).flatMap((deployment) => deployment.versions);
        return versions.filter(({ id }) => shares.some(({ version_id }) => version_id === id));
      });
      const names = wanted.map(({ id }) => id).join();
      if (names === loaded) return;
      loaded = names;
      await runtime.setOptions({ ...options, workers: [holder, ...wanted.map(versionWorker)] });
    });

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
    const asset = version?.assets[pathname];
    const url = `https://${host}${pathname}${search}`;
    const response = asset
      ? new Response(Buffer.from(asset, 'base64'))
      : await run(id, url, request);
    served.push({ version: id, byName: named !== undefined });
    return response;
  }

  async function run(version: string, url: string, request: Request): Promise<Response> {
    const worker = await runtime.getWorker(version);
    const body = await request.text();
    const response = await worker.fetch(url, {
      method: request.method,
      headers: [...request.headers],
      redirect: 'manual',
      ...(body !== '' && { body }),
    });
    const { status } = response;
    const text = await response.text();
    return new Response(text === '' ? null : text, { status, headers: [...response.headers] });
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
  const header = request.headers.get('cloudflare-workers-version-overrides') ?? '';
  const named = /^([\w-]+)="([\w-]+)"$/.exec(header);
  return versions.find(({ version_id }) => named?.[1] === name && version_id === named[2])
    ?.version_id;
}

function versionByShare({ versions }: Deployment): string {
  let point = Math.random() * 100;
  const found = versions.find(({ percentage }) => {
    point -= percentage;
    return point < 0;
  });
  if (!found) throw new Error('the shares are less than 100 %');
  return found.version_id;
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
  return { config: { name, compatibilityDate: COMPATIBILITY_DATE, manifest, env } };
}
