/**
 * A fake of the parts of Cloudflare's API that set an environment up and release to it through
 * wrangler: the login, workers and their hosts, versions, deployments, databases (SQLite) and KV.
 * Its answers and the JSON of the requests must have the form that Cloudflare's own SDK gives them
 * (cloudflare-api.schema.json). It also answers as a deployed worker does to a smoke test.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { serve } from '@hono/node-server';
import { Ajv } from 'ajv';
import { Hono, type HonoRequest } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Version } from '../../ops/command/deployed.ts';
import schema from './cloudflare-api.schema.json' with { type: 'json' };

export const ACCOUNT = 'a'.repeat(32);
const TOKEN = 'fake-api-token';
/** Adds the schema's defaults: members that Cloudflare always sends and no command reads. */
const ajv = new Ajv({ allErrors: true, useDefaults: true });

type Shares = { version_id: string; percentage: number }[];
/** Versions and deployments are in the order of their creation. */
type Worker = {
  versions: Version[];
  deployments: { versions: Shares }[];
  atWorkersDev: boolean;
};
/** Without a type: the schema checks it. */
type Json = ReturnType<typeof JSON.parse>;
/** Gets the parameters of the path and of the query. */
type Handle = (parameters: Json, body: Json) => unknown;

export type Cloudflare = Awaited<ReturnType<typeof startCloudflare>>;

/** Starts the fake. */
export async function startCloudflare() {
  const workers = new Map<string, Worker>();
  /** The worker of each host. */
  const hosts = new Map<string, string>();
  const databases: { uuid: string; name: string; sqlite: DatabaseSync }[] = [];
  const namespaces: { id: string; title: string; values: Map<string, Json> }[] = [];
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
    before: (_line: string): unknown => undefined,
    /** As `before`, after a call has taken effect. */
    after: (_line: string): unknown => undefined,
    /** Whether each host has DNS records already. */
    hasRecords: false,
  };
  function find(name = '') {
    return workers.get(name) ?? fail(404, 10007, 'This Worker does not exist on your account.');
  }

  function addVersion(name: string, { bindings, annotations = {} }: Json) {
    // Wrangler sends the id of a database under its old name.
    for (const each of bindings) if (each.type === 'd1') each.database_id ??= each.id;
    const version: Version = { id: randomUUID(), annotations, resources: { bindings } };
    find(name).versions.push(version);
    return version;
  }

  /** Gives all versions another binding. */
  function replaceBinding(worker: string, name: string) {
    for (const { resources } of find(worker).versions) {
      const others = resources.bindings.filter((each) => each.name !== name);
      resources.bindings = [...others, { name, type: 'plain_text', text: 'other' }];
    }
  }

  function deploy(name: string | undefined, versions: Shares) {
    const deployment = { id: randomUUID(), versions };
    find(name).deployments.push(deployment);
    return deployment;
  }

  /** Adds a worker whose first version serves. */
  function addWorker(name: string, metadata: Json) {
    workers.set(name, { versions: [], deployments: [], atWorkersDev: false });
    deploy(name, toAll(addVersion(name, metadata).id));
  }

  function valuesOf(namespaceId = '') {
    const namespace = namespaces.find(({ id }) => id === namespaceId);
    return namespace?.values ?? fail(404, 10013, 'The namespace does not exist.');
  }

  /** Creates what a set-up creates, for the ids and hosts of `setUpText` (clone.ts). */
  function seed(env: 'staging' | 'production', tag: string) {
    const name = `animal-store-${env}`;
    const uuid = `${env}-database-1`;
    const namespace_id = `${env}-api-keys-1`;
    const host = `${env === 'staging' ? 'staging.' : ''}api.animal-store.test`;
    const sqlite = new DatabaseSync(':memory:');
    sqlite.exec('CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT, applied_at TEXT)');
    sqlite
      .prepare('INSERT INTO d1_migrations (name) SELECT value FROM json_each(?)')
      .run(JSON.stringify(readdirSync('migrations')));
    databases.push({ uuid, name, sqlite });
    namespaces.push({ id: namespace_id, title: name, values: new Map() });
    hosts.set(host, name);
    const bindings = [
      { name: 'DB', type: 'd1', database_id: uuid },
      { name: 'API_KEYS', type: 'kv_namespace', namespace_id },
      { name: 'BASE_URL', type: 'plain_text', text: `https://${host}/v1` },
    ];
    addWorker(name, { bindings, annotations: { 'workers/tag': tag } });
  }

  /** The results of the operations. https://developers.cloudflare.com/api/ */
  const operations: Record<string, Handle | object> = {
    'GET /user': {},
    'GET /user/tokens/verify': {},
    // As for a token that may not read them.
    'GET /memberships': () => fail(403, 10000, 'Unauthorized'),
    'GET /accounts': [{ id: ACCOUNT, name: 'Anna' }],
    'GET /accounts/:account/workers/scripts': () => Array.from(workers.keys(), (id) => ({ id })),
    'GET /accounts/:account/workers/domains': () =>
      Array.from(hosts, ([hostname, service]) => ({ hostname, service })),
    'GET /accounts/:account/workers/subdomain': { subdomain: 'anna' },
    'GET /accounts/:account/workers/services/:name': ({ name }) => {
      find(name);
      return { default_environment: { script: {} } };
    },
    'GET /accounts/:account/workers/workers/:name': ({ name }) => ({
      name,
      subdomain: { enabled: find(name).atWorkersDev },
    }),
    'POST /accounts/:account/workers/scripts/:name/assets-upload-session': {
      jwt: 'a-jwt',
      buckets: [],
    },
    'PUT /accounts/:account/workers/scripts/:name': ({ name }, { metadata }) => {
      addWorker(name, metadata);
      return { id: name };
    },
    'GET /accounts/:account/workers/scripts/:name/secrets': ({ name }) => {
      find(name);
      return [];
    },
    'POST /accounts/:account/workers/scripts/:name/subdomain': ({ name }, { enabled }) => {
      find(name).atWorkersDev = enabled;
      return { enabled };
    },
    'PUT /accounts/:account/workers/scripts/:name/schedules': (_, schedules) => ({ schedules }),
    'PATCH /accounts/:account/workers/scripts/:name/script-settings': {},
    'POST /accounts/:account/workers/scripts/:name/versions': ({ name }, { metadata }) => {
      const version = addVersion(name, metadata);
      unread.add(version.id);
      return version;
    },
    'GET /accounts/:account/workers/scripts/:name/versions/:id': ({ name, id }) => {
      // For some seconds, Cloudflare may not know it.
      if (unread.delete(id)) fail(404, 100146, 'The version does not exist.');
      return find(name).versions.find((version) => version.id === id);
    },
    // The newest first.
    'GET /accounts/:account/workers/scripts/:name/deployments': ({ name }) => ({
      deployments: find(name).deployments.toReversed(),
    }),
    'POST /accounts/:account/workers/scripts/:name/deployments': (
      { name, force },
      { versions },
    ) => {
      if (state.hasChangedSecrets && !force)
        fail(400, 10220, 'The following secrets have changed: WRITES_STOPPED');
      return deploy(name, versions);
    },
    'POST /accounts/:account/workers/scripts/:name/domains/changeset': (_, added) => ({
      added,
      removed: [],
      updated: [],
      conflicting: state.hasRecords ? added : [],
    }),
    // The hosts that the deployment does not name are dropped. With `override_existing_origin`,
    // which wrangler sends without a terminal, a host is taken over.
    'PUT /accounts/:account/workers/scripts/:name/domains/records': ({ name }, { origins }) => {
      for (const [host, worker] of hosts) if (worker === name) hosts.delete(host);
      for (const { hostname } of origins) hosts.set(hostname, name);
      return [];
    },
    'POST /accounts/:account/d1/database': (_, { name }) => {
      const uuid = randomUUID();
      databases.push({ uuid, name, sqlite: new DatabaseSync(':memory:') });
      return { uuid, name };
    },
    'GET /accounts/:account/d1/database': () => databases.map(({ uuid, name }) => ({ uuid, name })),
    'GET /accounts/:account/d1/database/:uuid': { version: 'production' },
    'POST /accounts/:account/d1/database/:uuid/query': (parameters, { sql }) => {
      const database = databases.find(({ uuid }) => uuid === parameters.uuid);
      const { sqlite } = database ?? fail(404, 7404, 'The database does not exist.');
      const isRead = /^\s*SELECT/i.test(sql);
      if (!isRead) sqlite.exec(sql);
      const results = isRead ? sqlite.prepare(sql).all() : [];
      return [{ results, success: true }];
    },
    'GET /accounts/:account/d1/database/:uuid/time_travel/bookmark': { bookmark: 'a-bookmark' },
    'POST /accounts/:account/storage/kv/namespaces': (_, { title }) => {
      const id = randomUUID().replaceAll('-', '');
      namespaces.push({ id, title, values: new Map() });
      return { id, title };
    },
    'GET /accounts/:account/storage/kv/namespaces': () =>
      namespaces.map(({ id, title }) => ({ id, title })),
    'GET /accounts/:account/storage/kv/namespaces/:id/keys': ({ id }) =>
      Array.from(valuesOf(id), ([name, { metadata }]) => ({ name, metadata })),
    'POST /accounts/:account/storage/kv/namespaces/:id/bulk/get': ({ id }, { keys }) => ({
      values: Object.fromEntries(keys.map((key: string) => [key, valuesOf(id).get(key)?.value])),
    }),
    'GET /accounts/:account/storage/kv/namespaces/:id/values/:key': ({ id, key }) =>
      new Response(valuesOf(id).get(key)?.value),
    'PUT /accounts/:account/storage/kv/namespaces/:id/values/:key': ({ id, key }, entry) => {
      valuesOf(id).set(key, entry);
      return {};
    },
  };

  function validate(operation: string, part: 'body' | 'result', value: unknown) {
    const definition = Object(schema.operations)[operation]?.[part];
    if (definition && ajv.validate({ ...definition, $defs: schema.$defs }, value)) return;
    problems.push(`${operation}: ${ajv.errorsText()}: ${JSON.stringify(value)}`);
  }

  const app = new Hono();
  for (const [operation, handle] of Object.entries(operations)) {
    const [method = '', path = ''] = operation.split(' ');
    app.on(method, path, async ({ req }) => {
      const account = req.param('account') ?? ACCOUNT;
      if (req.header('authorization') !== `Bearer ${TOKEN}` || account !== ACCOUNT)
        fail(403, 10000, 'Authentication error');
      const json = req.header('content-type')?.includes('json') ? await req.text() : '';
      if (json) validate(operation, 'body', JSON.parse(json));
      const line = `${method} ${req.path} ${json}${new URL(req.url).search}`;
      const instead = state.before(line);
      if (instead instanceof Response) return instead;
      const body = json ? JSON.parse(json) : await readForm(req);
      const parameters = { ...req.query(), ...req.param() };
      const result = typeof handle === 'function' ? handle(parameters, body) : handle;
      if (result instanceof Response) return result;
      validate(operation, 'result', result);
      const later = state.after(line);
      return later instanceof Response ? later : ok(result);
    });
  }
  app.all('/hosts/:host/v1/:path{.+}', async ({ req }) => {
    const { host, path } = req.param();
    const { versions = [] } = find(hosts.get(host)).deployments.at(-1) ?? {};
    const asked = req.header('cloudflare-workers-version-overrides') ?? '';
    const pinned = versions.find((share) => asked.includes(share.version_id));
    const { version_id, percentage } = pinned ?? versions.at(-1) ?? {};
    state.before(`${req.method} /${path} ${percentage}%`);
    if (path === 'health') return Response.json({ version: version_id });
    if (req.header('authorization') === 'Bearer x') return Response.json({}, { status: 401 });
    if (req.method === 'DELETE') return new Response(null, { status: 204 });
    return Response.json({ id: 1 }, { status: req.method === 'POST' ? 201 : 200 });
  });
  app.notFound(({ req }) => fail(404, 7003, `No route for ${req.path}`));
  const { fetch } = app;
  const server = serve({ fetch, hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false });
  await once(server, 'listening');
  /** Environment variables that send wrangler here, and the requests of a smoke test. */
  const env = {
    CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${Object(server.address()).port}`,
    CLOUDFLARE_API_TOKEN: TOKEN,
    NODE_OPTIONS: `--import=${new URL('fake-preload.mjs', import.meta.url)}`,
  };
  return {
    hosts,
    databases,
    namespaces,
    problems,
    env,
    state,
    find,
    replaceBinding,
    deploy,
    seed,
    close: () => server.close(),
  };
}

/** The fields of a form, which may be files. */
async function readForm(req: HonoRequest) {
  const { value, metadata } = await req.parseBody<Record<string, string | File>>();
  const json = await new Response(metadata).text();
  return { value: await new Response(value).text(), metadata: JSON.parse(json || '{}') };
}

/** The shares of a version that gets all requests. */
export function toAll(version_id = ''): Shares {
  return [{ version_id, percentage: 100 }];
}

export function ok(result: unknown) {
  return Response.json({ success: true, errors: [], result });
}

/** Ends a call with an error. */
export function fail(status: 400 | 403 | 404 | 429 | 500, code: number, message: string): never {
  const res = Response.json({ success: false, errors: [{ code, message }] });
  throw new HTTPException(status, { res });
}
