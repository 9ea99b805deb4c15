/**
 * A fake of the parts of Cloudflare's API that set an environment up and release to it through wrangler: the login, workers
 * and their hosts, versions, deployments, databases (SQLite) and KV. Its answers and the JSON of the requests must have the form
 * that Cloudflare's own SDK gives them (cloudflare-api.schema.json). It also answers as a deployed worker does to a smoke test.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { serve } from '@hono/node-server';
import { Ajv } from 'ajv';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { routePath } from 'hono/route';
import schema from './cloudflare-api.schema.json' with { type: 'json' };

export const ACCOUNT = 'a'.repeat(32);
const TOKEN = 'fake-api-token';
const ajv = new Ajv({ allErrors: true });

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
type Namespace = { id: string; title: string; values: Map<string, Value> };
type Value = { value: string; metadata: unknown };
type Envelope = { errors: object[]; result?: unknown };
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
  /** The versions that nobody has read. */
  const unread = new Set<string>();
  const problems: string[] = [];
  const state = {
    /** Whether a secret has changed since the served version: Cloudflare deploys only if forced. */
    hasChangedSecrets: false,
    /**
     * Called before a call takes effect, with its method, path and JSON: `POST /…/deployments {…}`. Of a request to a worker, with
     * the share of the version that answers: `GET /health 0%`. What it returns is the answer, and then the call has no effect.
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

  async function upload(worker: Worker, fields: FormData) {
    const field = new Response(fields.get('metadata'));
    const { bindings, annotations } = await field.json<Metadata>();
    // Wrangler sends D1's id under its old name.
    for (const each of bindings) if (each.type === 'd1') each.database_id = each.id;
    return addVersion(worker, bindings, annotations);
  }

  function addVersion(worker: Worker, bindings: Binding[], annotations = {}) {
    const version = {
      id: randomUUID(),
      annotations,
      resources: { script: {}, script_runtime: {}, bindings },
      metadata: { created_on: now() },
    };
    worker.versions.push(version);
    return version;
  }

  function deploy(name: string, versions: Shares) {
    const fixed = { source: 'wrangler', strategy: 'percentage' };
    const deployment = { id: randomUUID(), created_on: now(), ...fixed, versions };
    find(name).deployments.push(deployment);
    return deployment;
  }

  /** Creates what a set-up creates, for the ids and hosts of `setUpText` (clone.ts). */
  function seed(env: 'staging' | 'production', tag: string) {
    const name = `animal-store-${env}`;
    const uuid = `${env}-database-1`;
    const keysId = `${env}-api-keys-1`;
    const host = `${env === 'staging' ? 'staging.' : ''}api.animal-store.test`;
    const sqlite = new DatabaseSync(':memory:');
    sqlite.exec('CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT, applied_at TEXT)');
    for (const file of readdirSync('migrations'))
      sqlite.prepare('INSERT INTO d1_migrations (name) VALUES (?)').run(file);
    databases.push({ uuid, name, sqlite });
    namespaces.push({ id: keysId, title: `${env}-animal-store-api-keys`, values: new Map() });
    hosts.set(host, name);
    const worker = { versions: [], deployments: [] };
    workers.set(name, worker);
    const bindings = [
      { name: 'DB', type: 'd1', database_id: uuid },
      { name: 'API_KEYS', type: 'kv_namespace', namespace_id: keysId },
      { name: 'BASE_URL', type: 'plain_text', text: `https://${host}/v1` },
    ];
    const { id } = addVersion(worker, bindings, { 'workers/tag': tag });
    deploy(name, toAll(id));
  }

  const script = '/workers/scripts/:name';
  const routes = new Hono();
  routes.get('/workers/scripts', () => ok(Array.from(workers.keys(), (id) => ({ id }))));
  routes.get('/workers/domains', () =>
    ok(
      Array.from(hosts, ([hostname, service]) => ({
        id: hostname,
        cert_id: '1',
        environment: 'production',
        hostname,
        service,
        zone_id: '1',
        zone_name: hostname,
      })),
    ),
  );
  routes.get('/workers/subdomain', () => ok({ subdomain: 'anna' }));
  routes.get('/workers/services/:name', ({ req }) => {
    find(req.param('name'));
    return ok({ default_environment: { script: {} } });
  });
  routes.get('/workers/workers/:name', ({ req }) => {
    const name = req.param('name');
    find(name);
    return ok({
      ...{ id: name, name, created_on: now(), updated_on: now() },
      ...{ logpush: false, observability: {}, references: {}, tags: [], tail_consumers: [] },
      subdomain: { enabled: atWorkersDev.has(name), previews_enabled: false },
    });
  });
  routes.post(`${script}/assets-upload-session`, () => ok({ jwt: 'a-jwt', buckets: [] }));
  routes.put(script, async ({ req }) => {
    const name = req.param('name');
    const fields = await req.formData();
    const worker = { versions: [], deployments: [] };
    workers.set(name, worker);
    const { id } = await upload(worker, fields);
    deploy(name, toAll(id));
    return ok({ id: name, startup_time_ms: 7 });
  });
  routes.get(`${script}/secrets`, ({ req }) => {
    find(req.param('name'));
    return ok([]);
  });
  routes.post(`${script}/subdomain`, async ({ req }) => {
    const { enabled } = await req.json<{ enabled: boolean }>();
    if (enabled) atWorkersDev.add(req.param('name'));
    return ok({ enabled, previews_enabled: false });
  });
  routes.put(`${script}/schedules`, async ({ req }) => ok({ schedules: await req.json() }));
  routes.patch(`${script}/script-settings`, () => ok({}));
  routes.post(`${script}/versions`, async ({ req }) => {
    const version = await upload(find(req.param('name')), await req.formData());
    unread.add(version.id);
    return ok(version);
  });
  routes.get(`${script}/versions/:id`, ({ req }) => {
    const { name, id } = req.param();
    if (unread.delete(id)) throw error(404, 100146, 'The version does not exist.');
    return ok(find(name).versions.find((version) => version.id === id));
  });
  // The newest first.
  routes.get(`${script}/deployments`, ({ req }) =>
    ok({ deployments: find(req.param('name')).deployments.toReversed() }),
  );
  routes.post(`${script}/deployments`, async ({ req }) => {
    const { versions } = await req.json<Deployment>();
    if (state.hasChangedSecrets && !req.query('force'))
      throw error(400, 10220, 'The following secrets have changed: WRITES_STOPPED');
    return ok(deploy(req.param('name'), versions));
  });
  routes.post(`${script}/domains/changeset`, async ({ req }) => {
    const added = await req.json<object[]>();
    return ok({ added, removed: [], updated: [], conflicting: state.hasRecords ? added : [] });
  });
  // The hosts that the deployment does not name are dropped. With `override_existing_origin`, which wrangler sends without a
  // terminal, a host is taken over.
  routes.put(`${script}/domains/records`, async ({ req }) => {
    const { origins } = await req.json<{ origins: { hostname: string }[] }>();
    const name = req.param('name');
    for (const [host, worker] of hosts) if (worker === name) hosts.delete(host);
    for (const { hostname } of origins) hosts.set(hostname, name);
    return ok([]);
  });
  // https://developers.cloudflare.com/api/resources/d1/
  routes.post('/d1/database', async ({ req }) => {
    const { name } = await req.json<{ name: string }>();
    if (databases.some((database) => database.name === name))
      throw error(400, 7502, 'A database with this name exists.');
    const uuid = randomUUID();
    databases.push({ uuid, name, sqlite: new DatabaseSync(':memory:') });
    return ok({ uuid, name });
  });
  routes.get('/d1/database', () => ok(databases.map(({ uuid, name }) => ({ uuid, name }))));
  routes.post('/d1/database/:uuid/query', async ({ req }) => {
    const { sql } = await req.json<{ sql: string }>();
    const database = databases.find(({ uuid }) => uuid === req.param('uuid'));
    if (!database) throw error(404, 7404, 'The database does not exist.');
    const isRead = /^\s*SELECT/i.test(sql);
    if (!isRead) database.sqlite.exec(sql);
    return answerQuery(true, isRead ? database.sqlite.prepare(sql).all() : []);
  });
  routes.get('/d1/database/:uuid/time_travel/bookmark', () => ok({ bookmark: 'a-bookmark' }));
  routes.get('/d1/database/:uuid', ({ req }) =>
    ok({ uuid: req.param('uuid'), name: 'DB', version: 'production' }),
  );

  const kv = '/storage/kv/namespaces';
  routes.post(kv, async ({ req }) => {
    const { title } = await req.json<{ title: string }>();
    if (namespaces.some((namespace) => namespace.title === title))
      throw error(400, 10014, 'A namespace with this title exists.');
    const id = randomUUID().replaceAll('-', '');
    namespaces.push({ id, title, values: new Map() });
    return ok({ id, title });
  });
  routes.get(kv, () => ok(namespaces.map(({ id, title }) => ({ id, title }))));
  const valuesOf = (id: string) => {
    const namespace = namespaces.find((each) => each.id === id);
    if (!namespace) throw error(404, 10013, 'The namespace does not exist.');
    return namespace.values;
  };
  routes.get(`${kv}/:id/keys`, ({ req }) => {
    const values = [...valuesOf(req.param('id'))];
    return ok(values.map(([name, { metadata }]) => ({ name, metadata })));
  });
  routes.post(`${kv}/:id/bulk/get`, async ({ req }) => {
    const { keys } = await req.json<{ keys: string[] }>();
    const values = valuesOf(req.param('id'));
    return ok({ values: Object.fromEntries(keys.map((key) => [key, values.get(key)?.value])) });
  });
  routes.get(`${kv}/:id/values/:key`, ({ req }) => {
    const { id, key } = req.param();
    return new Response(valuesOf(id).get(key)?.value);
  });
  routes.put(`${kv}/:id/values/:key`, async ({ req }) => {
    const { id, key } = req.param();
    const fields = await req.formData();
    const value = await new Response(fields.get('value')).text();
    valuesOf(id).set(key, { value, metadata: JSON.parse(String(fields.get('metadata'))) });
    return ok({});
  });

  const app = new Hono();
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
  app.use(async (c, next) => {
    if (c.req.header('authorization') !== `Bearer ${TOKEN}`)
      return error(403, 10000, 'Authentication error').getResponse();
    const json = isJson(c.req.raw) ? await c.req.raw.clone().text() : '';
    const line = `${c.req.method} ${c.req.path} ${json}`;
    const instead = state.before(line);
    if (!instead) await next();
    const answer = instead ?? state.after(line);
    if (answer) c.res = answer;
    const operation = `${c.req.method} ${routePath(c, -1).replace(`/accounts/${ACCOUNT}`, '')}`;
    const { body, result } = (schema.operations as Operations)[operation] ?? {};
    if (json) validate(operation, body, JSON.parse(json));
    if (!isJson(c.res)) return undefined;
    const answered = await c.res.clone().json<Envelope>();
    for (const each of answered.errors) validate(operation, schema.$defs.error, each);
    if (c.res.ok) validate(operation, result, answered.result);
    return undefined;
  });

  function validate(operation: string, part: object | undefined, value: unknown) {
    const isValid = part && ajv.validate({ ...part, $defs: schema.$defs }, value);
    if (!isValid) problems.push(`${operation}: ${ajv.errorsText()}: ${JSON.stringify(value)}`);
  }
  app.get('/user', () => ok({ id: '1', email: 'anna@animals.test' }));
  app.get('/user/tokens/verify', () => ok({ id: '1', status: 'active' }));
  // As for a token that may not read them.
  app.get('/memberships', () => error(403, 10000, 'Unauthorized').getResponse());
  app.get('/accounts', () => ok([{ id: ACCOUNT, name: 'Anna', type: 'standard' }]));
  app.route(`/accounts/${ACCOUNT}`, routes);
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
    env,
    problems,
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

/** D1's answer. It can say inside a successful response that the statements failed. */
export function answerQuery(success: boolean, results: object[] = []) {
  return ok([{ results, success, meta: { duration: 0 } }]);
}

const isJson = ({ headers }: Request | Response) => headers.get('content-type')?.includes('json');

const now = () => new Date().toISOString();

function ok(result: unknown) {
  return Response.json({ success: true, errors: [], result });
}

export function error(status: 400 | 403 | 404 | 429 | 500, code: number, message: string) {
  const res = Response.json({ success: false, errors: [{ code, message }] });
  return new HTTPException(status, { res });
}
