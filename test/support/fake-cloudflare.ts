/**
 * A fake of the parts of Cloudflare's API that set an environment up and release to it through wrangler: the login, workers
 * and their hosts, versions, deployments, databases (SQLite) and KV namespaces. It also answers as a deployed worker does to a
 * smoke test. https://developers.cloudflare.com/api/
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';

export const ACCOUNT = 'a'.repeat(32);

type Shares = { version_id: string; percentage: number }[];
type Deployment = { versions: Shares };
type Binding = { name: string; text?: string };
type Metadata = { main_module: string; bindings: Binding[]; annotations?: Record<string, string> };
/** As the API shows it. `code`: the text of its main module. */
type Version = {
  id: string;
  code: string;
  annotations: Record<string, string>;
  resources: { bindings: Binding[] };
};
/** Versions and deployments are in the order of their creation. */
type Worker = { versions: Version[]; deployments: Deployment[] };
type Database = { uuid: string; name: string; sql: string[]; sqlite: DatabaseSync };
type Namespace = { id: string; title: string; values: Map<string, string> };

export type Cloudflare = Awaited<ReturnType<typeof startCloudflare>>;

/** Starts the fake. */
export async function startCloudflare() {
  const workers = new Map<string, Worker>();
  /** The worker of each host, and those that workers.dev serves. */
  const hosts = new Map<string, string>();
  const atWorkersDev = new Set<string>();
  const databases: Database[] = [];
  const namespaces: Namespace[] = [];
  const state = {
    /** Whether migrations fail inside a response that is a success, as D1 can answer. */
    failsMigrations: false,
    /**
     * Called when a call has taken effect, before it is answered, with its method, path and JSON: `POST /…/deployments {…}`. Of a
     * request to a worker, with the share of the version that answers: `GET /health 10%`. What it returns is the answer instead.
     */
    onCall: (_line: string): Response | undefined => undefined,
  };
  /** The animal of the smoke test. */
  let pet = {};

  function find(name: string) {
    const worker = workers.get(name);
    if (!worker) throw error(404, 10007, 'This Worker does not exist on your account.');
    return worker;
  }

  async function upload(worker: Worker, fields: FormData) {
    const field = (name: string) => new Response(fields.get(name));
    const metadata = await field('metadata').json<Metadata>();
    const { bindings, annotations = {}, main_module } = metadata;
    const version = {
      id: randomUUID(),
      code: await field(main_module).text(),
      annotations,
      resources: { script: {}, script_runtime: {}, bindings },
      metadata: { created_on: new Date().toISOString() },
    };
    worker.versions.push(version);
    return version;
  }

  function deploy(name: string, versions: Shares, annotations = {}) {
    const created_on = new Date().toISOString();
    const deployment = { id: randomUUID(), created_on, versions, annotations };
    find(name).deployments.push(deployment);
    return deployment;
  }

  const script = '/workers/scripts/:name';
  const routes = new Hono();
  routes.get('/workers/subdomain', () => ok({ subdomain: 'anna' }));
  routes.get('/workers/:kind{services|workers}/:name', ({ req }) => {
    find(req.param('name'));
    return ok({ default_environment: { script: {} }, subdomain: {} });
  });
  routes.post(`${script}/assets-upload-session`, () => ok({ jwt: 'a-jwt', buckets: [] }));
  routes.put(script, async ({ req }) => {
    const name = req.param('name');
    const fields = await req.formData();
    const worker = { versions: [], deployments: [] };
    workers.set(name, worker);
    const { id } = await upload(worker, fields);
    deploy(name, [{ version_id: id, percentage: 100 }]);
    return ok({ id: name });
  });
  routes.get(`${script}/secrets`, () => ok([]));
  routes.post(`${script}/subdomain`, async ({ req }) => {
    const { enabled } = await req.json<{ enabled: boolean }>();
    if (enabled) atWorkersDev.add(req.param('name'));
    return ok({ enabled });
  });
  routes.all(`${script}/:call{schedules|domains/changeset}`, () =>
    ok({ added: [], removed: [], updated: [], conflicting: [] }),
  );
  routes.patch(`${script}/script-settings`, () => ok({}));
  routes.post(`${script}/versions`, async ({ req }) => {
    return ok(await upload(find(req.param('name')), await req.formData()));
  });
  routes.get(`${script}/versions/:id`, ({ req }) => {
    const { versions } = find(req.param('name'));
    return ok(versions.find(({ id }) => id === req.param('id')));
  });
  // The newest first.
  routes.get(`${script}/deployments`, ({ req }) =>
    ok({ deployments: find(req.param('name')).deployments.toReversed() }),
  );
  routes.post(`${script}/deployments`, async ({ req }) => {
    const { versions, annotations } = await req.json<Deployment & { annotations?: object }>();
    return ok(deploy(req.param('name'), versions, annotations));
  });
  // Without a terminal wrangler asks for `override_existing_origin`: the name is taken over.
  routes.put(`${script}/domains/records`, async ({ req }) => {
    const { origins } = await req.json<{ origins: { hostname: string }[] }>();
    for (const { hostname } of origins) hosts.set(hostname, req.param('name'));
    return ok([]);
  });
  // https://developers.cloudflare.com/api/resources/d1/
  routes.post('/d1/database', async ({ req }) => {
    const { name } = await req.json<{ name: string }>();
    if (databases.some((database) => database.name === name))
      throw error(400, 7502, 'A database with this name exists.');
    const uuid = randomUUID();
    databases.push({ uuid, name, sql: [], sqlite: new DatabaseSync(':memory:') });
    return ok({ uuid, name });
  });
  routes.get('/d1/database', () => ok(databases.map(({ uuid, name }) => ({ uuid, name }))));
  routes.post('/d1/database/:uuid/query', async ({ req }) => {
    const { sql } = await req.json<{ sql: string }>();
    const database = databases.find(({ uuid }) => uuid === req.param('uuid'));
    if (!database) throw error(404, 7404, 'The database does not exist.');
    const isRead = /^\s*SELECT/i.test(sql);
    const success = isRead || !(state.failsMigrations && sql.includes('INSERT INTO'));
    const results = isRead ? database.sqlite.prepare(sql).all() : [];
    if (success && !isRead) {
      database.sqlite.exec(sql);
      database.sql.push(sql);
    }
    return ok([{ results, success, meta: { duration: 0 } }]);
  });
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
  // Wrangler reads pages until one is empty.
  routes.get(kv, ({ req }) =>
    ok(req.query('page') === '2' ? [] : namespaces.map(({ id, title }) => ({ id, title }))),
  );
  routes.put(`${kv}/:id/values/:key`, async ({ req }) => {
    const fields = await req.formData();
    const namespace = namespaces.find(({ id }) => id === req.param('id'));
    namespace?.values.set(req.param('key'), await new Response(fields.get('value')).text());
    return ok({});
  });

  const app = new Hono();
  app.use(`/accounts/*`, async (c, next) => {
    const isJson = c.req.header('content-type')?.includes('json');
    const json = isJson ? await c.req.raw.clone().text() : '';
    await next();
    const answer = state.onCall(`${c.req.method} ${c.req.path} ${json}`);
    if (answer) c.res = answer;
  });
  app.all('/hosts/:host/v1/:path{.+}', async ({ req }) => {
    const { host, path } = req.param();
    const name = hosts.get(host) ?? host.replace('.anna.workers.dev', '');
    const { versions = [] } = find(name).deployments.at(-1) ?? {};
    const asked = req.header('cloudflare-workers-version-overrides') ?? '';
    const ranked = versions.toSorted((a, b) => b.percentage - a.percentage);
    const { version_id, percentage } =
      versions.find((share) => asked.includes(share.version_id)) ?? ranked[0] ?? {};
    const answer = state.onCall(`${req.method} /${path} ${percentage}%`);
    if (answer) return answer;
    if (path === 'health') return Response.json({ version: version_id });
    if (req.header('authorization') === 'Bearer x') return Response.json({}, { status: 401 });
    if (req.method === 'DELETE') return new Response(null, { status: 204 });
    if (req.method !== 'GET') pet = { id: 1, ...pet, ...(await req.json()) };
    return Response.json(pet, { status: req.method === 'POST' ? 201 : 200 });
  });
  app.get('/user', () => ok({ email: 'anna@animals.test' }));
  app.get('/user/tokens/verify', () => ok({ status: 'active' }));
  // As for a token that may not read them.
  app.get('/memberships', () => error(403, 10000, 'Unauthorized').getResponse());
  app.get('/accounts', () => ok([{ id: ACCOUNT, name: 'Anna' }]));
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
    CLOUDFLARE_API_TOKEN: 'fake-api-token',
    NODE_OPTIONS: `--import="data:text/javascript,const f=fetch;globalThis.fetch=(u,i)=>f(u.replace('https:/','${url}/hosts'),i)"`,
  };
  return {
    hosts,
    atWorkersDev,
    databases,
    namespaces,
    env,
    state,
    find,
    deploy,
    close: () => server.close(),
  };
}

function ok(result: unknown) {
  return Response.json({ success: true, result });
}

export function error(status: 400 | 403 | 404 | 500, code: number, message: string) {
  const res = Response.json({ success: false, errors: [{ code, message }] });
  return new HTTPException(status, { res });
}
