/**
 * The fake's workers: versions with their assets, deployments, triggers.
 * https://developers.cloudflare.com/api/resources/workers/
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { error, ok, type Routes, text } from './api.ts';

const Annotations = z.record(z.string(), z.string()).default({});

const Shares = z.array(z.object({ version_id: z.string(), percentage: z.number() }));
export type Shares = z.infer<typeof Shares>;

export type Version = {
  id: string;
  createdOn: string;
  annotations: Record<string, string>;
  /** The text of its main module. */
  code: string;
  bindings: { type: string; name: string; [setting: string]: unknown }[];
  /** The content of its assets in base64, by path. */
  assets: Record<string, string>;
};

export type Deployment = {
  id: string;
  created_on: string;
  versions: Shares;
  annotations: Record<string, string>;
};

export type Script = {
  name: string;
  /** The oldest first. */
  versions: Version[];
  deployments: Deployment[];
  /** How many requests do not see the newest deployment yet, as it takes a while to spread. */
  unseen: number;
  domains: string[];
  crons: string[];
};

type Asset = [path: string, hash: string];

const SPREAD_REQUESTS = 2;
const NO_SUBDOMAIN = { enabled: false, previews_enabled: false };

const Metadata = z.object({
  main_module: z.string(),
  bindings: z.array(z.looseObject({ type: z.string(), name: z.string() })).default([]),
  annotations: Annotations,
  assets: z.object({ jwt: z.string() }).default({ jwt: '' }),
});
const Manifest = z.object({ manifest: z.record(z.string(), z.object({ hash: z.string() })) });
const NewDeployment = z.object({ versions: Shares, annotations: Annotations });
const Origins = z.object({ origins: z.array(z.object({ hostname: z.string() })) });
const Crons = z.array(z.object({ cron: z.string() }));

/** `load` loads what the scripts serve into the runtime. */
export function fakeWorkers(scripts: Map<string, Script>, load: () => Promise<void>) {
  /** Content of assets in base64, by hash. */
  const contents = new Map<string, string>();
  /** By the token of the upload session. */
  const sessions = new Map<string, Asset[]>();

  function find(name: string | undefined): Script {
    const script = scripts.get(name ?? '');
    if (!script) throw error(404, 10007, 'This Worker does not exist on your account.');
    return script;
  }

  async function upload(script: Script, request: Request): Promise<Version> {
    const fields = await request.formData();
    const metadata = Metadata.parse(JSON.parse(await text(fields.get('metadata'))));
    const code = await text(fields.get(metadata.main_module));
    const assets = sessions.get(metadata.assets.jwt) ?? [];
    const version = {
      id: randomUUID(),
      createdOn: now(),
      annotations: metadata.annotations,
      code,
      bindings: metadata.bindings,
      assets: Object.fromEntries(assets.map(([path, hash]) => [path, contents.get(hash) ?? ''])),
    };
    script.versions.push(version);
    return version;
  }

  async function deploy(script: Script, versions: Shares, annotations = {}): Promise<Deployment> {
    const deployment = { id: randomUUID(), created_on: now(), versions, annotations };
    script.deployments.push(deployment);
    script.unseen = SPREAD_REQUESTS;
    await load();
    return deployment;
  }

  const script = '/workers/scripts/:name';
  const routes: Routes = {
    'GET /workers/services/:name': (_, name = '') =>
      scripts.has(name)
        ? ok({ default_environment: { environment: 'production', script: { tag: 'tag' } } })
        : error(404, 10090, 'This service does not exist on your account.'),
    [`GET ${script}/secrets`]: (_, name) => ok(find(name) && []),
    [`GET ${script}/settings`]: (_, name) => ok(find(name) && { bindings: [] }),
    [`PATCH ${script}/script-settings`]: (_, name) => ok(find(name) && {}),
    [`PUT ${script}`]: async (request, name = '') => {
      const none = { versions: [], deployments: [], unseen: 0, domains: [], crons: [] };
      const script = scripts.get(name) ?? { name, ...none };
      scripts.set(name, script);
      const { id } = await upload(script, request);
      await deploy(script, [{ version_id: id, percentage: 100 }]);
      return ok({ id: name, deployment_id: id.replaceAll('-', '') });
    },
    [`POST ${script}/versions`]: async (request, name) =>
      ok({ ...shown(await upload(find(name), request)), startup_time_ms: 1 }),
    [`GET ${script}/versions`]: (_, name) => ok({ items: newest(find(name).versions).map(shown) }),
    [`GET ${script}/versions/:id`]: (_, name, wanted) => {
      const version = find(name).versions.find(({ id }) => id === wanted);
      return version ? ok(shown(version)) : error(404, 10127, 'The version does not exist.');
    },
    [`GET ${script}/deployments`]: (_, name) => ok({ deployments: newest(find(name).deployments) }),
    [`POST ${script}/deployments`]: async (request, name) => {
      const { versions, annotations } = NewDeployment.parse(await request.json());
      return ok(await deploy(find(name), versions, annotations));
    },
    'GET /workers/workers/:name': (_, name) =>
      ok({ name: find(name).name, subdomain: NO_SUBDOMAIN }),
    [`POST ${script}/subdomain`]: (_, name) => ok(find(name) && NO_SUBDOMAIN),
    [`POST ${script}/domains/changeset`]: () =>
      ok({ added: [], removed: [], updated: [], conflicting: [] }),
    [`PUT ${script}/domains/records`]: async (request, name) => {
      const { origins } = Origins.parse(await request.json());
      find(name).domains = origins.map(({ hostname }) => hostname);
      return ok([]);
    },
    [`PUT ${script}/schedules`]: async (request, name) => {
      find(name).crons = Crons.parse(await request.json()).map(({ cron }) => cron);
      return ok({ schedules: [] });
    },
    [`POST ${script}/assets-upload-session`]: async (request) => {
      const jwt = randomUUID();
      const { manifest } = Manifest.parse(await request.json());
      const files = Object.entries(manifest).map(([path, { hash }]): Asset => [path, hash]);
      sessions.set(jwt, files);
      const wanted = files.map(([, hash]) => hash).filter((hash) => !contents.has(hash));
      return ok({ jwt, buckets: wanted.length > 0 ? [[...new Set(wanted)]] : [] });
    },
    'POST /workers/assets/upload': async (request) => {
      for (const [hash, content] of await request.formData()) {
        contents.set(hash, await text(content));
      }
      return ok({ jwt: [...sessions.keys()].at(-1) }, 201);
    },
  };
  return { routes, deploy };
}

/** Cloudflare lists no more than the ten newest. */
function newest<T>(list: T[]): T[] {
  return list.slice(-10).toReversed();
}

/** A version as the API shows it. */
function shown({ id, createdOn, annotations }: Version) {
  const metadata = { created_on: createdOn, author_email: 'a@b.test', source: 'api' };
  const resources = { script: {}, script_runtime: {}, bindings: [] };
  return { id, annotations, metadata, resources };
}

let last = 0;
/** Ascending, as lists are sorted by it. */
function now(): string {
  last = Math.max(last + 1, Date.now());
  return new Date(last).toISOString();
}
