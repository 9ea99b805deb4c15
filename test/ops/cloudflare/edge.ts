/**
 * Serves what is deployed at the fake, in the real runtime: who asks for an address gets one of the versions of
 * its worker, by their shares, by the key of the request, or by name.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHarness } from 'wrangler';
import { configOf, type Slot } from './slot.ts';
import { type Script, type StoredDeployment, workersDevHost } from './workers.ts';

/** What this many scripts can be given. */
const DATABASES = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
const NAMESPACES = ['1'.repeat(32), '2'.repeat(32)];
const SCRIPTS = ['animal-store-staging', 'animal-store-production'];
/** Versions of a deployment, and of the one before until it has spread. */
const SLOTS = [0, 1, 2];
/** Until then a deployment is not seen by requests. */
const SPREAD_MS = 300;

/** A request that was answered. `override`: by the version that it asked for by name. */
export type Served = {
  script: string;
  host: string;
  version: string;
  override: boolean;
  path: string;
  status: number;
};

export type Edge = {
  databases: string[];
  namespaces: string[];
  database(id: string): Promise<D1Database>;
  namespace(id: string): Promise<KVNamespace>;
  /** Loads the versions of a deployment, which takes a while to be seen. */
  deploy(script: Script, deployment: StoredDeployment): Promise<void>;
  served: Served[];
  /** The port on the loopback interface, for `X-Fake-Host: <address>`. */
  port: number;
  close(): Promise<void>;
};

/** What both the runtime's responses and Node's are. */
type Answered = {
  status: number;
  headers: Iterable<[string, string]>;
  arrayBuffer(): Promise<ArrayBuffer>;
};
type Active = { deployment: StoredDeployment; from: number };

export async function startEdge(scripts: () => Iterable<Script>): Promise<Edge> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const slots: Slot[] = SCRIPTS.flatMap((script) =>
    SLOTS.map((number) => ({ name: `${script}-${number}`, script })),
  );
  const placeholder = join(folder, 'placeholder.js');
  await writeFile(placeholder, 'export default { fetch: () => new Response() };');
  const holder = {
    name: 'holder',
    main: placeholder,
    compatibility_date: '2026-11-17',
    d1_databases: DATABASES.map((id) => ({
      binding: `D1_${id}`,
      database_name: id,
      database_id: id,
    })),
    kv_namespaces: NAMESPACES.map((id) => ({ binding: `KV_${id}`, id })),
  };
  const workers = () => ({
    root: folder,
    workers: [
      { config: holder },
      ...slots.map((slot) => ({ config: configOf(slot, folder, placeholder) })),
    ],
  });
  const server = createTestHarness(workers());
  await server.listen();

  const active = new Map<string, Active[]>();
  const served: Served[] = [];
  let loading = Promise.resolve();

  /** The deployment that requests see now. */
  const current = (script: string) =>
    active.get(script)?.findLast(({ from }) => from <= Date.now())?.deployment;

  async function load(script: Script, deployment: StoredDeployment): Promise<void> {
    const needed = [current(script.name), deployment].flatMap(
      (each) => each?.versions.map(({ version_id }) => version_id) ?? [],
    );
    const own = slots.filter((slot) => slot.script === script.name);
    let changed = false;
    for (const { version_id } of deployment.versions) {
      if (own.some(({ version }) => version?.id === version_id)) continue;
      const slot = own.find(({ version }) => !version || !needed.includes(version.id));
      const version = script.versions.find(({ id }) => id === version_id);
      if (!slot || !version) throw new Error(`nowhere to load ${version_id}`);
      await writeFile(
        join(folder, `${version.id}.js`),
        version.code.replace(/^\/\/# source.*/m, ''),
      );
      slot.version = version;
      changed = true;
    }
    if (changed) await server.update(workers());
    const known = active.get(script.name) ?? [];
    active.set(script.name, [...known, { deployment, from: Date.now() + SPREAD_MS }]);
  }

  async function answer(request: IncomingMessage, body: Buffer): Promise<Answered> {
    const host = String(request.headers['x-fake-host']);
    const script = [...scripts()].find(
      (each) => each.domains.includes(host) || (each.workersDev && workersDevHost(each) === host),
    );
    const deployment = script && current(script.name);
    if (!script || !deployment) return new Response(`nothing at ${host}`, { status: 530 });
    const named = /^([\w-]+)="([\w-]+)"$/.exec(
      String(request.headers['cloudflare-workers-version-overrides']),
    );
    const wanted = named?.[1] === script.name ? named[2] : undefined;
    const override = deployment.versions.some(({ version_id }) => version_id === wanted);
    const key = request.headers['cloudflare-workers-version-key'];
    const version = override && wanted ? wanted : byShare(deployment, key);
    const slot = slots.find((each) => each.version?.id === version);
    if (!slot?.version) throw new Error(`version ${version} is not loaded`);
    const path = request.url ?? '/';
    const asset = slot.version.assets[path];
    await loading;
    const response = asset
      ? new Response(new Uint8Array(asset))
      : await server.getWorker(slot.name).fetch(`https://${host}${path}`, {
          ...(request.method && { method: request.method }),
          headers: headersOf(request),
          ...(body.length > 0 && { body: new Uint8Array(body) }),
        });
    served.push({ script: script.name, host, version, override, path, status: response.status });
    return response;
  }

  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answered = await answer(request, Buffer.concat(chunks)).catch(
      (failure) => new Response(String(failure), { status: 599 }),
    );
    const headers = Object.fromEntries(
      [...answered.headers].filter(([name]) => !/^content-(enc|len)/.test(name)),
    );
    response.writeHead(answered.status, headers);
    response.end(Buffer.from(await answered.arrayBuffer()));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const address = http.address();

  return {
    databases: DATABASES,
    namespaces: NAMESPACES,
    served,
    port: typeof address === 'object' && address ? address.port : 0,
    database: async (id) => (await server.getWorker('holder').getEnv())[`D1_${id}`],
    namespace: async (id) => (await server.getWorker('holder').getEnv())[`KV_${id}`],
    deploy(script, deployment) {
      const loaded = load(script, deployment);
      loading = loaded.catch(() => {});
      return loaded;
    },
    async close() {
      await new Promise((resolve) => http.close(resolve));
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}

function byShare({ versions }: StoredDeployment, key: unknown): string {
  // The same key gets the same version, and a version that has it keeps it as its share grows.
  const point =
    typeof key === 'string' ? Number.parseInt(key.slice(0, 8), 16) / 2 ** 32 : Math.random();
  let sum = 0;
  for (const { version_id, percentage } of versions) {
    sum += percentage;
    if (point * 100 < sum) return version_id;
  }
  throw new Error('the shares are less than 100 %');
}

function headersOf(request: IncomingMessage): [string, string][] {
  return Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' && !/^(host|connection|content-length|x-fake-host)$/.test(name)
      ? [[name, value]]
      : [],
  );
}
