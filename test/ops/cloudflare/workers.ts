/**
 * The fake's workers: versions with their assets, deployments, settings, and which worker has which host name.
 * https://developers.cloudflare.com/api/resources/workers/
 */
import { randomUUID } from 'node:crypto';
import { error, ok, type Routes, text } from './api.ts';

type Annotations = Record<string, string>;
export type Shares = { version_id: string; percentage: number }[];
type NewDeployment = { versions: Shares; annotations?: Annotations };
type Binding = { name: string; type: string; text?: string; id?: string; namespace_id?: string };
type Metadata = { main_module: string; bindings?: Binding[]; annotations?: Annotations };

export type Deployment = NewDeployment & { id: string; author_email: string };
/** `code`: the text of its main module. */
export type Version = { id: string; code: string; bindings: Binding[]; annotations: Annotations };
/** Versions and deployments are in the order of their creation. */
export type Worker = {
  name: string;
  versions: Version[];
  deployments: Deployment[];
  /** How many requests do not see the newest deployment yet, as it takes a while to spread. */
  unseen: number;
  settings: Record<string, unknown>;
};

const NO_CHANGE = { added: [], removed: [], updated: [], conflicting: [] };
const NO_SUBDOMAIN = { enabled: false, previews_enabled: false };

/** `load` loads the uploaded versions into the runtime. */
export function fakeWorkers(load: () => Promise<void>) {
  const workers = new Map<string, Worker>();
  /** The worker that has each host name, by name. */
  const hosts = new Map<string, string>();
  /** Its own time: each thing is created a second after the one before. */
  let seconds = Date.UTC(2027, 0, 1) / 1000;
  const createdOn = () => new Date(++seconds * 1000).toISOString();

  function find(name = ''): Worker {
    const worker = workers.get(name);
    if (!worker) throw error(404, 10007, 'This Worker does not exist on your account.');
    return worker;
  }

  async function upload(worker: Worker, request: Request) {
    const fields = await request.formData();
    const metadata: Metadata = JSON.parse(await text(fields.get('metadata')));
    const code = await text(fields.get(metadata.main_module));
    const { annotations = {}, bindings = [] } = metadata;
    const version = { id: randomUUID(), created_on: createdOn(), annotations, code, bindings };
    worker.versions.push(version);
    await load();
    return version;
  }

  function deploy(name: string, versions: Shares, annotations = {}, author = 'me@animals.test') {
    const dates = { id: randomUUID(), created_on: createdOn() };
    const deployment = { ...dates, author_email: author, versions, annotations };
    const worker = find(name);
    worker.deployments.push(deployment);
    worker.unseen = 1;
    return deployment;
  }

  /** A version as the API shows it. */
  const shown = ({ id, annotations, bindings }: Version) => {
    const resources = { script: {}, script_runtime: {}, bindings };
    return { id, annotations, metadata: { created_on: createdOn() }, resources };
  };
  /** Cloudflare lists the ten newest, the newest first. */
  const listed = <T>(list: T[]): T[] => list.slice(-10).toReversed();
  const always = (result: unknown) => (_: Request, name?: string) => ok(find(name) && result);

  const script = '/workers/scripts/:name';
  const routes: Routes = {
    'GET /workers/services/:name': (_, name = '') =>
      workers.has(name)
        ? ok({ default_environment: { environment: 'production', script: { tag: 'tag' } } })
        : error(404, 10090, 'This service does not exist on your account.'),
    'GET /workers/workers/:name': always({ subdomain: NO_SUBDOMAIN }),
    [`GET ${script}/secrets`]: always([]),
    [`GET ${script}/settings`]: always({ bindings: [] }),
    [`PATCH ${script}/script-settings`]: async (request, name) => {
      Object.assign(find(name).settings, await request.json());
      return ok({});
    },
    [`PUT ${script}`]: async (request, name = '') => {
      const created = { name, versions: [], deployments: [], unseen: 0, settings: {} };
      const worker = workers.get(name) ?? created;
      workers.set(name, worker);
      const { id } = await upload(worker, request);
      deploy(name, [{ version_id: id, percentage: 100 }]);
      return ok({ id: name, deployment_id: id.replaceAll('-', '') });
    },
    [`POST ${script}/versions`]: async (request, name) =>
      ok({ ...shown(await upload(find(name), request)), startup_time_ms: 1 }),
    [`GET ${script}/versions`]: (_, name) => ok({ items: listed(find(name).versions).map(shown) }),
    [`GET ${script}/versions/:id`]: (_, name, wanted) => {
      const version = find(name).versions.find(({ id }) => id === wanted);
      return version ? ok(shown(version)) : error(404, 10127, 'The version does not exist.');
    },
    [`GET ${script}/deployments`]: (_, name) => ok({ deployments: listed(find(name).deployments) }),
    [`POST ${script}/deployments`]: async (request, name = '') => {
      const { versions, annotations }: NewDeployment = await request.json();
      return ok(deploy(name, versions, annotations));
    },
    [`POST ${script}/subdomain`]: always(NO_SUBDOMAIN),
    [`POST ${script}/domains/changeset`]: always(NO_CHANGE),
    // Without a terminal wrangler asks for `override_existing_origin`: the name is taken over.
    [`PUT ${script}/domains/records`]: async (request, name) => {
      const { origins }: { origins: { hostname: string }[] } = await request.json();
      for (const { hostname } of origins) hosts.set(hostname, find(name).name);
      return ok([]);
    },
    [`PUT ${script}/schedules`]: always({ schedules: [] }),
    [`POST ${script}/assets-upload-session`]: async (request) => {
      const { manifest }: { manifest: object } = await request.json();
      return ok({ jwt: btoa(JSON.stringify(manifest)), buckets: [] });
    },
  };
  return { routes, workers, hosts, find, deploy };
}
