/**
 * A fake of the parts of Cloudflare's API that set an environment up and release to it through wrangler: the login, workers
 * and their hosts, versions, deployments, logs, databases (SQLite) and KV namespaces.
 * https://developers.cloudflare.com/api/
 */
import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import type { Duplex } from 'node:stream';
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
type Database = { uuid: string; sql: string[]; sqlite: DatabaseSync };
type Namespace = { id: string; values: Map<string, string> };

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
    /** Whether connections of tails are refused. */
    refusesTails: false,
    /** Whether calls that create a tail get no answer. */
    holdsTails: false,
    /** The number of tails that are connected, or not answered. */
    tails: 0,
    /** Called when a deployment has taken effect, before the call is answered. */
    onDeploy: () => {},
  };
  const tailSockets = new Set<Duplex>();

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
    const deployment = deploy(req.param('name'), versions, annotations);
    state.onDeploy();
    return ok(deployment);
  });
  // Without a terminal wrangler asks for `override_existing_origin`: the name is taken over.
  routes.put(`${script}/domains/records`, async ({ req }) => {
    const { origins } = await req.json<{ origins: { hostname: string }[] }>();
    for (const { hostname } of origins) hosts.set(hostname, req.param('name'));
    return ok([]);
  });
  routes.post(`${script}/tails`, async ({ req }) => {
    if (state.holdsTails) {
      state.tails += 1;
      await once(req.raw.signal, 'abort');
      state.tails -= 1;
    }
    const url = new URL(req.url.replace('http', 'ws')).origin;
    return ok({ id: 'tail', url, expires_at: '2027-01-01T06:00:00Z' });
  });
  routes.delete(`${script}/tails/tail`, () => ok(null));
  // https://developers.cloudflare.com/api/resources/d1/
  routes.post('/d1/database', async ({ req }) => {
    const { name } = await req.json<{ name: string }>();
    const uuid = randomUUID();
    databases.push({ uuid, sql: [], sqlite: new DatabaseSync(':memory:') });
    return ok({ uuid, name });
  });
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
  routes.get('/d1/database/:uuid/time_travel/bookmark', () => ok({ bookmark: 'a-bookmark' }));

  const kv = '/storage/kv/namespaces';
  routes.post(kv, async ({ req }) => {
    const { title } = await req.json<{ title: string }>();
    const id = randomUUID().replaceAll('-', '');
    namespaces.push({ id, values: new Map() });
    return ok({ id, title });
  });
  routes.put(`${kv}/:id/values/:key`, async ({ req }) => {
    const fields = await req.formData();
    const namespace = namespaces.find(({ id }) => id === req.param('id'));
    namespace?.values.set(req.param('key'), await new Response(fields.get('value')).text());
    return ok({});
  });

  const app = new Hono();
  app.get('/user/tokens/verify', () => ok({ status: 'active' }));
  // As for a token that may not read them.
  app.get('/memberships', () => error(403, 10000, 'Unauthorized').getResponse());
  app.get('/accounts', () => ok([{ id: ACCOUNT }]));
  app.route(`/accounts/${ACCOUNT}`, routes);
  app.notFound(({ req }) => error(404, 7003, `No route for ${req.path}`).getResponse());
  const started = Promise.withResolvers<AddressInfo>();
  const options = { fetch: app.fetch, hostname: '127.0.0.1', port: 0 };
  const server = serve({ ...options, overrideGlobalObjects: false }, started.resolve);
  const { port } = await started.promise;
  server.on('upgrade', ({ headers }: IncomingMessage, socket: Duplex) => {
    if (state.refusesTails) return void socket.destroy();
    tailSockets.add(socket);
    state.tails += 1;
    socket.on('close', () => {
      tailSockets.delete(socket);
      state.tails -= 1;
    });
    // A socket reports its end only while it is read.
    socket.on('end', () => socket.end());
    socket.on('data', (frame: Buffer) => {
      if (frame[0] === PING) socket.write(pongFrame(frame));
    });
    socket.write(handshake(headers['sec-websocket-key'] ?? ''));
  });
  /** Sends an event, and what a worker has logged for it, to all tails. */
  function send(event: object, logs: object[]) {
    const frame = textFrame(JSON.stringify({ event, logs, exceptions: [] }));
    for (const socket of tailSockets) socket.write(frame);
  }
  /** Sends a request that has logged a line. */
  function log(line: string) {
    const request = { url: 'https://api.animals.test/v1/pets', method: 'POST' };
    send({ request }, [{ level: 'log', message: [line] }]);
  }
  /** Says that Cloudflare drops events, in words of our own. */
  function overload() {
    send({ type: 'overload', message: `Dropping ${'events '.repeat(20)}` }, []);
  }
  /** Cuts the connections of all tails, and refuses new ones. */
  function cutTails() {
    state.refusesTails = true;
    for (const socket of tailSockets) socket.destroy();
  }
  /** Environment variables that send wrangler here. */
  const env = {
    CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}`,
    CLOUDFLARE_API_TOKEN: 'fake-api-token',
  };
  const close = () => {
    cutTails();
    server.close();
  };
  return {
    hosts,
    atWorkersDev,
    databases,
    namespaces,
    env,
    state,
    find,
    log,
    overload,
    cutTails,
    close,
  };
}

function ok(result: unknown) {
  return Response.json({ success: true, result });
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2 */
function handshake(key: string) {
  const accept = hash('sha1', `${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64');
  const headers = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}`;
  return `HTTP/1.1 101 Switching Protocols\r\n${headers}\r\nSec-WebSocket-Protocol: trace-v1\r\n\r\n`;
}

/** A text of 126 to 65535 bytes. https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
function textFrame(text: string) {
  const head = Buffer.from([0x81, 126, 0, 0]);
  head.writeUInt16BE(Buffer.byteLength(text), 2);
  return Buffer.concat([head, Buffer.from(text)]);
}

/** The first byte of a ping, and of its answer. https://www.rfc-editor.org/rfc/rfc6455#section-5.5.2 */
const PING = 0x89;
const PONG = 0x8a;

/** The answer to a ping of at most 125 bytes, which a client masks: the same bytes. Without it, wrangler counts the connection as lost. */
function pongFrame(ping: Buffer) {
  const mask = ping.subarray(2, 6);
  const content = ping.subarray(6).map((byte, i) => byte ^ Number(mask[i % 4]));
  return Buffer.concat([Buffer.from([PONG, content.length]), content]);
}

function error(status: 403 | 404, code: number, message: string) {
  const res = Response.json({ success: false, errors: [{ code, message }] });
  return new HTTPException(status, { res });
}
