/** The real runtime, with the versions that were uploaded to the fake, and the resources of its account. */
import { Miniflare, type WorkerOptions } from 'miniflare';
import type { Uploaded, Version } from './workers.ts';

type Binding = NonNullable<WorkerOptions['config']['env']>[string];

/** The commands of a test follow each other faster than an operator's. */
const NO_LIMIT = { limit: 1_000_000, period: 10 as const };

const RESOURCES = Object.fromEntries(
  ['staging', 'production'].flatMap((name): [string, Binding][] => [
    [`database-of-${name}`, { type: 'd1', id: `database-of-${name}` }],
    [`api-keys-of-${name}`, { type: 'kv', id: `api-keys-of-${name}` }],
  ]),
);

export function startRuntime() {
  const holder = worker('holder', 'export default { fetch() {} };', RESOURCES);
  const withVersions = (versions: Version[]) => ({
    handleStructuredLogs: () => {},
    workers: [holder, ...versions.map(versionWorker)],
  });
  const runtime = new Miniflare(withVersions([]));
  return {
    load: (versions: Version[]) => runtime.setOptions(withVersions(versions)),
    version: (id: string) => runtime.getWorker(id),
    database: (id: string) => runtime.getD1Database(id, 'holder'),
    namespace: (id: string) => runtime.getKVNamespace(id, 'holder'),
    close: () => runtime.dispose(),
  };
}

/** A version as a worker of the runtime, with the bindings that it was uploaded with. */
function versionWorker({ id, code, resources: { bindings } }: Version): WorkerOptions {
  const env = bindings.map((binding) => [binding.name, runtimeBinding(binding, id)] as const);
  return worker(id, code.replace(/^\/\/# source.*/m, ''), Object.fromEntries(env));
}

function runtimeBinding(binding: Uploaded, version: string): Binding {
  const { type, text = '', id = '', namespace_id: namespace = '' } = binding;
  if (type === 'plain_text') return { type: 'text', value: text };
  if (type === 'd1') return { type: 'd1', id };
  if (type === 'kv_namespace') return { type: 'kv', id: namespace };
  if (type === 'ratelimit') return { type: 'rate-limit', namespace, simple: NO_LIMIT };
  if (type === 'version_metadata') return { type: 'json', value: { id: version } };
  throw new Error(`no such binding here: ${type}`);
}

function worker(name: string, contents: string, env: Record<string, Binding>): WorkerOptions {
  const modules = { 'index.js': { type: 'esm' as const, contents } };
  const manifest = { mainModule: 'index.js', modules };
  return { config: { name, compatibilityDate: '2026-11-17', manifest, env } };
}
