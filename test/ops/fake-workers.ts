/**
 * The fake's workers and databases: versions, deployments, settings, and which worker has which host name.
 * https://developers.cloudflare.com/api/resources/workers/
 */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { error, ok } from './cloudflare-api.ts';

type Shares = { version_id: string; percentage: number }[];
type Deployment = { id: string; versions: Shares };
export type Uploaded = { name: string; type: string } & Record<string, string>;
type Metadata = { main_module: string; bindings: Uploaded[]; annotations?: Record<string, string> };
/** As the API shows it. `code`: the text of its main module. */
export type Version = {
  id: string;
  code: string;
  annotations: Record<string, string>;
  resources: { bindings: Uploaded[] };
};
/** Versions and deployments are in the order of their creation. */
export type Worker = {
  name: string;
  versions: Version[];
  deployments: Deployment[];
  settings: Record<string, unknown>;
};

/** What other calls find of a worker: nothing that wrangler changes or asks about. */
const NOTHING = { bindings: [], added: [], removed: [], updated: [], conflicting: [] };

export function fakeWorkers() {
  const workers = new Map<string, Worker>();
  const hosts = new Map<string, Worker>();
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
    const worker = workers.get(name) ?? { name, versions: [], deployments: [], settings: {} };
    workers.set(name, worker);
    const { id } = await upload(worker, await req.formData());
    deploy(name, [{ version_id: id, percentage: 100 }]);
    return ok({ id: name, deployment_id: id.replaceAll('-', '') });
  });
  routes.get(`${script}/secrets`, () => ok([]));
  routes.all(`${script}/:call{settings|subdomain|schedules|domains/changeset}`, () => ok(NOTHING));
  routes.patch(`${script}/script-settings`, async ({ req }) => {
    Object.assign(find(req.param('name')).settings, await req.json());
    return ok({});
  });
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
    for (const { hostname } of origins) hosts.set(hostname, find(req.param('name')));
    return ok([]);
  });
  // https://developers.cloudflare.com/api/resources/d1/. No migration is ever recorded as applied.
  routes.post('/d1/database/:id/query', () =>
    ok([{ results: [], success: true, meta: { duration: 0 } }]),
  );
  return { routes, hosts, find };
}
