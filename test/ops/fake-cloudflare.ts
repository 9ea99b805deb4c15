/**
 * A fake of the part of Cloudflare's API that a release calls through wrangler: versions, deployments, settings, and which
 * worker has which host name. It checks the token, and records its calls. https://developers.cloudflare.com/api/
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';

const TOKEN = 'fake-api-token';

type Shares = { version_id: string; percentage: number }[];
type Deployment = { id: string; versions: Shares };
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
export type Worker = { versions: Version[]; deployments: Deployment[] };

/** What other calls find of a worker: nothing that wrangler changes or asks about. */
const NOTHING = { bindings: [], added: [], removed: [], updated: [], conflicting: [] };

type Options = {
  /** Routes that answer before those of this fake. */
  routesBefore?: Hono;
  /** Called when a call has taken effect, before it is answered. */
  onAnswer?: (call: string) => unknown;
};

/** Starts the fake. */
export async function startCloudflare({ routesBefore, onAnswer }: Options = {}) {
  /** The calls so far, such as `GET /accounts/…`; with the shares of a deployment, the first words of a query. */
  const calls: string[] = [];
  const workers = new Map<string, Worker>();
  const hosts = new Map<string, string>();
  /** Its own time: each thing is created a second after the one before. */
  let seconds = Date.UTC(2027, 0, 1) / 1000;
  const createdOn = () => new Date(++seconds * 1000).toISOString();

  function find(name: string): Worker {
    const worker = workers.get(name);
    if (!worker) throw error(404, 10007, 'This Worker does not exist on your account.');
    return worker;
  }

  async function upload(worker: Worker, fields: FormData): Promise<Version> {
    const field = (name: string) => new Response(fields.get(name));
    const metadata = await field('metadata').json<Metadata>();
    const { bindings, annotations = {}, main_module } = metadata;
    const resources = { script: {}, script_runtime: {}, bindings };
    const dates = { metadata: { created_on: createdOn() }, startup_time_ms: 1 };
    const code = await field(main_module).text();
    const version = { id: randomUUID(), code, annotations, resources, ...dates };
    worker.versions.push(version);
    return version;
  }

  function deploy(name: string, versions: Shares, annotations = {}) {
    const dates = { id: randomUUID(), created_on: createdOn() };
    const deployment = { ...dates, author_email: 'me@animals.test', versions, annotations };
    find(name).deployments.push(deployment);
    return deployment;
  }

  const script = '/workers/scripts/:name';
  const routes = new Hono();
  routes.get('/workers/:kind{services|workers}/:name', ({ req }) => {
    find(req.param('name'));
    const environment = { environment: 'production', script: { tag: 'tag' } };
    return ok({ default_environment: environment, subdomain: {} });
  });
  routes.post(`${script}/assets-upload-session`, async ({ req }) => {
    const { manifest } = await req.json<{ manifest: object }>();
    return ok({ jwt: btoa(JSON.stringify(manifest)), buckets: [] });
  });
  routes.put(script, async ({ req }) => {
    const name = req.param('name');
    const worker = { versions: [], deployments: [] };
    workers.set(name, worker);
    const { id } = await upload(worker, await req.formData());
    deploy(name, [{ version_id: id, percentage: 100 }]);
    return ok({ id: name, deployment_id: id.replaceAll('-', '') });
  });
  routes.get(`${script}/secrets`, () => ok([]));
  routes.all(`${script}/:call{settings|subdomain|schedules|domains/changeset}`, () => ok(NOTHING));
  routes.patch(`${script}/script-settings`, () => ok({}));
  routes.post(`${script}/versions`, async ({ req }) => {
    return ok(await upload(find(req.param('name')), await req.formData()));
  });
  routes.get(`${script}/versions/:id`, ({ req }) => {
    const version = find(req.param('name')).versions.find(({ id }) => id === req.param('id'));
    if (!version) throw error(404, 10127, 'The version does not exist.');
    return ok(version);
  });
  // The ten newest, the newest first.
  routes.get(`${script}/deployments`, ({ req }) =>
    ok({ deployments: find(req.param('name')).deployments.slice(-10).toReversed() }),
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
  // https://developers.cloudflare.com/api/resources/d1/. No migration is ever recorded as applied.
  routes.post('/d1/database/:id/query', () =>
    ok([{ results: [], success: true, meta: { duration: 0 } }]),
  );

  const app = new Hono().use(async ({ req }, next) => {
    if (req.header('authorization') !== `Bearer ${TOKEN}`)
      throw error(401, 9109, 'Invalid access token');
    const path = decodeURIComponent(req.path);
    const call = `${req.method} ${path}${summary(path, await req.text())}`;
    calls.push(call);
    await next();
    await onAnswer?.(call);
  });
  if (routesBefore) app.route('/', routesBefore);
  app.route('/accounts/:account', routes);
  app.notFound(({ req }) => error(404, 7003, `No route for ${req.path}`).getResponse());
  const started = Promise.withResolvers<AddressInfo>();
  const options = { fetch: app.fetch, hostname: '127.0.0.1', port: 0 };
  const server = serve({ ...options, overrideGlobalObjects: false }, started.resolve);
  const { port } = await started.promise;
  /** Environment variables that send wrangler here. */
  const env = {
    CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}`,
    CLOUDFLARE_API_TOKEN: TOKEN,
  };
  const close = () => new Promise((resolve) => server.close(resolve));
  return { env, calls, workers, hosts, find, close };
}

export function ok(result: unknown): Response {
  return Response.json({ success: true, errors: [], messages: [], result, result_info: {} });
}

export function error(status: 400 | 401 | 403 | 404, code: number, message: string): HTTPException {
  const errors = [{ code, message }];
  const res = Response.json({ success: false, errors, messages: [], result: null });
  return new HTTPException(status, { res });
}

/** What tells a deployment or a query from others in `calls`. */
function summary(path: string, body: string): string {
  const shares = [...body.matchAll(/"percentage":(\d+)/g)].map(([, share]) => share);
  if (path.endsWith('/deployments') && shares.length > 0) return ` ${shares.join('/')}`;
  if (!path.endsWith('/query')) return '';
  const sql = /"sql":"(.*?)("|$)/.exec(body)?.[1] ?? '';
  return ` ${sql.split(/(?:\\[nt]|\s)+/, 5).join(' ')}`;
}
