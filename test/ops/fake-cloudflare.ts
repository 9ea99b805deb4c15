/**
 * A fake of the parts of Cloudflare's API that set an environment up and release to it through
 * wrangler: the login, workers and their hosts, versions, deployments, databases (SQLite) and KV.
 * Its answers and the JSON of the requests must have the form that Cloudflare's own SDK gives them
 * (cloudflare-api.schema.json). It also answers as a deployed worker does to a smoke test.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { serve } from '@hono/node-server';
import { Ajv } from 'ajv';
import { Hono, type HonoRequest } from 'hono';
import { HTTPException } from 'hono/http-exception';
import schema from './cloudflare-api.schema.json' with { type: 'json' };

export const ACCOUNT = 'a'.repeat(32);
/** Valid as an API token, and as a global API key. */
export const TOKEN = 'fake-api-token';
/** Adds the schema's defaults: members that Cloudflare always sends and no command reads. */
const ajv = new Ajv({ allErrors: true, useDefaults: true });

type Shares = { version_id: string; percentage: number }[];
type Deployment = { versions: Shares };
type Binding = { name: string; type: string; [field: string]: unknown };
type Metadata = { bindings: Binding[]; annotations?: Record<string, string> };
/** As the API shows it. */
type Version = {
  id: string;
  annotations: Record<string, string>;
  resources: { bindings: Binding[] };
};
/** Versions and deployments are in the order of their creation. */
type Worker = { versions: Version[]; deployments: Deployment[] };
type Database = { uuid: string; name: string; sqlite: DatabaseSync };
type Value = { value: string; metadata: unknown };
type Namespace = { id: string; title: string; values: Map<string, Value> };
/** With the parameters of all paths. */
type Call = HonoRequest<'/:account/:name/:id/:key/:uuid'>;
type Operations = Record<string, { body?: object; result?: object }>;

export type Cloudflare = Awaited<ReturnType<typeof startCloudflare>>;

/** Starts the fake. */
export async function startCloudflare() {
  const workers = new Map<string, Worker>();
  /** The worker of each host, and those that workers.dev serves. */
  const hosts = new Map<string, string>();
  const atWorkersDev = new Set<string>();
  const databases: Database[] = [];
  const namespaces: Namespace[] = [];
  /** The uploaded versions that nobody has asked for. */
  const unread = new Set<string>();
  /** The answers and requests that do not have the form of the schema. */
  const problems: string[] = [];
  const state = {
    /** Whether a secret has changed since the served version: Cloudflare deploys only if forced. */
    hasChangedSecrets: false,
    /**
     * Called before a call takes effect, with its method, path, JSON and query: `POST /…/deployments {…}`.
     * Of a request to a worker, with the share of the version that answers: `GET /health 0%`. What
     * it returns is the answer, and then the call has no effect.
     */
    before: (_line: string): Response | undefined => undefined,
    /** As `before`, after a call has taken effect. */
    after: (_line: string): Response | undefined => undefined,
    /** Whether each host has DNS records already. */
    hasRecords: false,
  };
  /** The animal of the smoke test. */
  let pet = {};

  function find(name = '') {
    const worker = workers.get(name);
    if (!worker) throw error(404, 10007, 'This Worker does not exist on your account.');
    return worker;
  }

  async function upload(worker: Worker, req: Call) {
    const field = new Response((await req.formData()).get('metadata'));
    const { bindings, annotations } = await field.json<Metadata>();
    // Wrangler sends the id of a database under its old name.
    for (const each of bindings) if (each.type === 'd1') each.database_id = each.id;
    return addVersion(worker, bindings, annotations);
  }

  function addVersion(worker: Worker, bindings: Binding[], annotations = {}) {
    const version = { id: randomUUID(), annotations, resources: { bindings } };
    worker.versions.push(version);
    return version;
  }

  function deploy(name: string | undefined, versions: Shares) {
    const deployment = { id: randomUUID(), versions };
    find(name).deployments.push(deployment);
    return deployment;
  }

  function addWorker(name = '') {
    const worker = { versions: [], deployments: [] };
    workers.set(name, worker);
    return worker;
  }

  function valuesOf(req: Call) {
    const namespace = namespaces.find(({ id }) => id === req.param('id'));
    if (!namespace) throw error(404, 10013, 'The namespace does not exist.');
    return namespace.values;
  }

  /** Creates what a set-up creates, for the ids and hosts of `setUpText` (clone.ts). */
  function seed(env: 'staging' | 'production', tag: string) {
    const name = `animal-store-${env}`;
    const uuid = `${env}-database-1`;
    const namespace_id = `${env}-api-keys-1`;
    const host = `${env === 'staging' ? 'staging.' : ''}api.animal-store.test`;
    const sqlite = new DatabaseSync(':memory:');
    sqlite.exec('CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT, applied_at TEXT)');
    for (const file of readdirSync('migrations'))
      sqlite.prepare('INSERT INTO d1_migrations (name) VALUES (?)').run(file);
    databases.push({ uuid, name, sqlite });
    namespaces.push({ id: namespace_id, title: name, values: new Map() });
    hosts.set(host, name);
    const bindings = [
      { name: 'DB', type: 'd1', database_id: uuid },
      { name: 'API_KEYS', type: 'kv_namespace', namespace_id },
      { name: 'BASE_URL', type: 'plain_text', text: `https://${host}/v1` },
    ];
    const { id } = addVersion(addWorker(name), bindings, { 'workers/tag': tag });
    deploy(name, toAll(id));
  }

  /** The results of the operations. https://developers.cloudflare.com/api/ */
  const operations: Record<string, (req: Call) => unknown> = {
    'GET /user': () => ({}),
    'GET /user/tokens/verify': () => ({}),
    // As for a token that may not read them.
    'GET /memberships': () => error(403, 10000, 'Unauthorized').getResponse(),
    'GET /accounts': () => [{ id: ACCOUNT, name: 'Anna' }],
    'GET /accounts/:account/workers/scripts': () => Array.from(workers.keys(), (id) => ({ id })),
    'GET /accounts/:account/workers/domains': () =>
      Array.from(hosts, ([hostname, service]) => ({ hostname, service })),
    'GET /accounts/:account/workers/subdomain': () => ({ subdomain: 'anna' }),
    'GET /accounts/:account/workers/services/:name': (req) => {
      find(req.param('name'));
      return { default_environment: { script: {} } };
    },
    'GET /accounts/:account/workers/workers/:name': (req) => {
      const { name } = req.param();
      find(name);
      return { name, subdomain: { enabled: atWorkersDev.has(name) } };
    },
    'POST /accounts/:account/workers/scripts/:name/assets-upload-session': () => ({
      jwt: 'a-jwt',
      buckets: [],
    }),
    'PUT /accounts/:account/workers/scripts/:name': async (req) => {
      const name = req.param('name');
      const { id } = await upload(addWorker(name), req);
      deploy(name, toAll(id));
      return { id: name };
    },
    'GET /accounts/:account/workers/scripts/:name/secrets': (req) => {
      find(req.param('name'));
      return [];
    },
    'POST /accounts/:account/workers/scripts/:name/subdomain': async (req) => {
      const { enabled } = await req.json<{ enabled: boolean }>();
      if (enabled) atWorkersDev.add(req.param('name'));
      return { enabled };
    },
    'PUT /accounts/:account/workers/scripts/:name/schedules': async (req) => ({
      schedules: await req.json(),
    }),
    'PATCH /accounts/:account/workers/scripts/:name/script-settings': () => ({}),
    'POST /accounts/:account/workers/scripts/:name/versions': async (req) => {
      const version = await upload(find(req.param('name')), req);
      unread.add(version.id);
      return version;
    },
    'GET /accounts/:account/workers/scripts/:name/versions/:id': (req) => {
      const { name, id } = req.param();
      // For some seconds, Cloudflare may not know it.
      if (unread.delete(id)) throw error(404, 100146, 'The version does not exist.');
      return find(name).versions.find((version) => version.id === id);
    },
    // The newest first.
    'GET /accounts/:account/workers/scripts/:name/deployments': (req) => ({
      deployments: find(req.param('name')).deployments.toReversed(),
    }),
    'POST /accounts/:account/workers/scripts/:name/deployments': async (req) => {
      const { versions } = await req.json<Deployment>();
      if (state.hasChangedSecrets && !req.query('force'))
        throw error(400, 10220, 'The following secrets have changed: WRITES_STOPPED');
      return deploy(req.param('name'), versions);
    },
    'POST /accounts/:account/workers/scripts/:name/domains/changeset': async (req) => {
      const added = await req.json<object[]>();
      return { added, removed: [], updated: [], conflicting: state.hasRecords ? added : [] };
    },
    // The hosts that the deployment does not name are dropped. With `override_existing_origin`,
    // which wrangler sends without a terminal, a host is taken over.
    'PUT /accounts/:account/workers/scripts/:name/domains/records': async (req) => {
      const { origins } = await req.json<{ origins: { hostname: string }[] }>();
      const { name } = req.param();
      for (const [host, worker] of hosts) if (worker === name) hosts.delete(host);
      for (const { hostname } of origins) hosts.set(hostname, name);
      return [];
    },
    'POST /accounts/:account/d1/database': async (req) => {
      const { name } = await req.json<{ name: string }>();
      const uuid = randomUUID();
      databases.push({ uuid, name, sqlite: new DatabaseSync(':memory:') });
      return { uuid, name };
    },
    'GET /accounts/:account/d1/database': () => databases.map(({ uuid, name }) => ({ uuid, name })),
    'GET /accounts/:account/d1/database/:uuid': () => ({ version: 'production' }),
    'POST /accounts/:account/d1/database/:uuid/query': async (req) => {
      const { sql } = await req.json<{ sql: string }>();
      const database = databases.find(({ uuid }) => uuid === req.param('uuid'));
      if (!database) throw error(404, 7404, 'The database does not exist.');
      const isRead = /^\s*SELECT/i.test(sql);
      if (!isRead) database.sqlite.exec(sql);
      const results = isRead ? database.sqlite.prepare(sql).all() : [];
      return [{ results, success: true }];
    },
    'GET /accounts/:account/d1/database/:uuid/time_travel/bookmark': () => ({
      bookmark: 'a-bookmark',
    }),
    'POST /accounts/:account/storage/kv/namespaces': async (req) => {
      const { title } = await req.json<{ title: string }>();
      const id = randomUUID().replaceAll('-', '');
      namespaces.push({ id, title, values: new Map() });
      return { id, title };
    },
    'GET /accounts/:account/storage/kv/namespaces': () =>
      namespaces.map(({ id, title }) => ({ id, title })),
    'GET /accounts/:account/storage/kv/namespaces/:id/keys': (req) =>
      Array.from(valuesOf(req), ([name, { metadata }]) => ({ name, metadata })),
    'POST /accounts/:account/storage/kv/namespaces/:id/bulk/get': async (req) => {
      const { keys } = await req.json<{ keys: string[] }>();
      const values = valuesOf(req);
      return { values: Object.fromEntries(keys.map((key) => [key, values.get(key)?.value])) };
    },
    'GET /accounts/:account/storage/kv/namespaces/:id/values/:key': (req) =>
      new Response(valuesOf(req).get(req.param('key'))?.value),
    'PUT /accounts/:account/storage/kv/namespaces/:id/values/:key': async (req) => {
      const fields = await req.formData();
      const value = await new Response(fields.get('value')).text();
      const metadata: unknown = JSON.parse(String(fields.get('metadata')));
      valuesOf(req).set(req.param('key'), { value, metadata });
      return {};
    },
  };

  function validate(operation: string, part: 'body' | 'result', value: unknown) {
    const definition = (schema.operations as Operations)[operation]?.[part];
    if (definition && ajv.validate({ ...definition, $defs: schema.$defs }, value)) return;
    problems.push(`${operation}: ${ajv.errorsText()}: ${JSON.stringify(value)}`);
  }

  const app = new Hono();
  for (const [operation, handle] of Object.entries(operations)) {
    const [method = '', path = ''] = operation.split(' ');
    app.on(method, path, async ({ req }) => {
      const account = req.param('account') ?? ACCOUNT;
      const { authorization = '', 'x-auth-key': globalKey = authorization } = req.header();
      if (globalKey.replace('Bearer ', '') !== TOKEN || account !== ACCOUNT)
        throw error(403, 10000, 'Authentication error');
      const json = req.header('content-type')?.includes('json') ? await req.text() : '';
      if (json) validate(operation, 'body', JSON.parse(json));
      const line = `${method} ${req.path} ${json}${new URL(req.url).search}`;
      const instead = state.before(line);
      if (instead) return instead;
      const result = await handle(req);
      if (result instanceof Response) return result;
      validate(operation, 'result', result);
      return state.after(line) ?? ok(result);
    });
  }
  app.all('/hosts/:host/v1/:path{.+}', async ({ req }) => {
    const { host, path } = req.param();
    const { versions = [] } = find(hosts.get(host)).deployments.at(-1) ?? {};
    const asked = req.header('cloudflare-workers-version-overrides') ?? '';
    const pinned = versions.find((share) => asked.includes(share.version_id));
    const { version_id, percentage } = pinned ?? versions.at(-1) ?? {};
    const answer = state.before(`${req.method} /${path} ${percentage}%`);
    if (answer) return answer;
    if (path === 'health') return Response.json({ version: version_id });
    if (req.header('authorization') === 'Bearer x') return Response.json({}, { status: 401 });
    if (req.method === 'DELETE') return new Response(null, { status: 204 });
    if (req.method !== 'GET') pet = { id: 1, ...pet, ...(await req.json()) };
    return Response.json(pet, { status: req.method === 'POST' ? 201 : 200 });
  });
  app.notFound(({ req }) => error(404, 7003, `No route for ${req.path}`).getResponse());
  const started = Promise.withResolvers<AddressInfo>();
  const options = { fetch: app.fetch, hostname: '127.0.0.1', port: 0 };
  const server = serve({ ...options, overrideGlobalObjects: false }, started.resolve);
  const { port } = await started.promise;
  const url = `http://127.0.0.1:${port}`;
  /** Environment variables that send wrangler here, and the requests of a smoke test. */
  const env = {
    CLOUDFLARE_API_BASE_URL: url,
    CLOUDFLARE_API_TOKEN: TOKEN,
    NODE_OPTIONS: `--import=${new URL('fake-preload.mjs', import.meta.url)}`,
  };
  return {
    hosts,
    atWorkersDev,
    databases,
    namespaces,
    problems,
    env,
    state,
    find,
    deploy,
    seed,
    close: () => server.close(),
  };
}

/** The shares of a version that gets all requests. */
export function toAll(version_id = ''): Shares {
  return [{ version_id, percentage: 100 }];
}

export function ok(result: unknown) {
  return Response.json({ success: true, errors: [], result });
}

export function error(status: 400 | 403 | 404 | 429 | 500, code: number, message: string) {
  const res = Response.json({ success: false, errors: [{ code, message }] });
  return new HTTPException(status, { res });
}
