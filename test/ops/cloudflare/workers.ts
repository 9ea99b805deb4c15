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

const NewDeployment = z.object({ versions: Shares, annotations: Annotations });
export type Deployment = z.infer<typeof NewDeployment> & { id: string; created_on: string };

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

const SPREAD_REQUESTS = 2;
const NO_CHANGE = { added: [], removed: [], updated: [], conflicting: [] };
const NO_SUBDOMAIN = { enabled: false, previews_enabled: false };

const Manifest = z.record(z.string(), z.object({ hash: z.string() }));
const Metadata = z.object({
  main_module: z.string(),
  bindings: z.array(z.looseObject({ type: z.string(), name: z.string() })).default([]),
  annotations: Annotations,
  /** The token of their upload is their manifest in base64. */
  assets: z.object({ jwt: z.string() }).default({ jwt: btoa('{}') }),
});
const Uploads = z.object({ manifest: Manifest });
const Origins = z.object({ origins: z.array(z.object({ hostname: z.string() })) });
const Crons = z.array(z.object({ cron: z.string() }));

/** `load` loads the uploaded versions into the runtime. */
export function fakeWorkers(scripts: Map<string, Script>, load: () => Promise<void>) {
  /** Content of assets in base64, by hash. */
  const contents = new Map<string, string>();

  function find(name?: string): Script {
    const script = scripts.get(name ?? '');
    if (!script) throw error(404, 10007, 'This Worker does not exist on your account.');
    return script;
  }

  async function upload(script: Script, request: Request): Promise<Version> {
    const fields = await request.formData();
    const metadata = Metadata.parse(JSON.parse(await text(fields.get('metadata'))));
    const code = await text(fields.get(metadata.main_module));
    const manifest = Manifest.parse(JSON.parse(atob(metadata.assets.jwt)));
    const contentOf = ({ hash }: { hash: string }) => contents.get(hash) ?? '';
    const assets = Object.entries(manifest).map(([path, file]) => [path, contentOf(file)]);
    const { annotations, bindings } = metadata;
    const described = { id: randomUUID(), createdOn: now(), annotations, code, bindings };
    const version = { ...described, assets: Object.fromEntries(assets) };
    script.versions.push(version);
    await load();
    return version;
  }

  function deploy(script: Script, versions: Shares, annotations = {}): Deployment {
    const deployment = { id: randomUUID(), created_on: now(), versions, annotations };
    script.deployments.push(deployment);
    script.unseen = SPREAD_REQUESTS;
    return deployment;
  }

  /** Answers always the same, for a worker that exists. */
  const always = (result: unknown) => (_: Request, name?: string) => ok(find(name) && result);

  const script = '/workers/scripts/:name';
  const routes: Routes = {
    'GET /workers/services/:name': (_, name = '') =>
      scripts.has(name)
        ? ok({ default_environment: { environment: 'production', script: { tag: 'tag' } } })
        : error(404, 10090, 'This service does not exist on your account.'),
    [`GET ${script}/secrets`]: always([]),
    [`GET ${script}/settings`]: always({ bindings: [] }),
    [`PATCH ${script}/script-settings`]: always({}),
    [`PUT ${script}`]: async (request, name = '') => {
      const none = { versions: [], deployments: [], unseen: 0, domains: [], crons: [] };
      const script = scripts.get(name) ?? { name, ...none };
      scripts.set(name, script);
      const { id } = await upload(script, request);
      deploy(script, [{ version_id: id, percentage: 100 }]);
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
      return ok(deploy(find(name), versions, annotations));
    },
    'GET /workers/workers/:name': always({ subdomain: NO_SUBDOMAIN }),
    [`POST ${script}/subdomain`]: always(NO_SUBDOMAIN),
    [`POST ${script}/domains/changeset`]: always(NO_CHANGE),
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
      const { manifest } = Uploads.parse(await request.json());
      const hashes = Object.values(manifest).map(({ hash }) => hash);
      const wanted = [...new Set(hashes)].filter((hash) => !contents.has(hash));
      const buckets = wanted.length > 0 ? [wanted] : [];
      return ok({ jwt: btoa(JSON.stringify(manifest)), buckets });
    },
    'POST /workers/assets/upload': async (request) => {
      for (const [hash, content] of await request.formData()) {
        contents.set(hash, await text(content));
      }
      return ok({ jwt: request.headers.get('authorization')?.slice('Bearer '.length) }, 201);
    },
  };
  return { routes, find, deploy };
}

/** Cloudflare lists no more than the ten newest. */
function newest<T>(list: T[]): T[] {
  return list.slice(-10).toReversed();
}

/** A version as the API shows it. */
function shown({ id, createdOn, annotations }: Version) {
  const resources = { script: {}, script_runtime: {}, bindings: [] };
  return { id, annotations, metadata: { created_on: createdOn }, resources };
}

let time = Date.now();
/** Ascending, as lists are sorted by it. */
function now(): string {
  time += 1;
  return new Date(time).toISOString();
}
