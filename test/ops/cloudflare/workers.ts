/**
 * The fake's workers: versions, deployments, triggers.
 * https://developers.cloudflare.com/api/resources/workers/
 */
import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Answer, type Call, error, form, json, ok, type Route, text } from './api.ts';
import { fakeAssets } from './assets.ts';

const Binding = z.looseObject({ type: z.string(), name: z.string() });
export type Binding = z.infer<typeof Binding>;

const Annotations = z.record(z.string(), z.string()).default({});

export type StoredVersion = {
  id: string;
  createdOn: string;
  annotations: Record<string, string>;
  /** The text of its main module. */
  code: string;
  sha256: string;
  compatibilityDate: string;
  bindings: Binding[];
  /** The content of its assets, by path. */
  assets: Record<string, Buffer>;
};

export type StoredDeployment = {
  id: string;
  created_on: string;
  versions: { version_id: string; percentage: number }[];
  annotations: Record<string, string>;
};

export type Script = {
  name: string;
  /** The oldest first. */
  versions: StoredVersion[];
  deployments: StoredDeployment[];
  workersDev: boolean;
  domains: string[];
  crons: string[];
};

export type FakeWorkers = {
  routes: Route[];
  scripts: Map<string, Script>;
  deploy(
    script: Script,
    versions: StoredDeployment['versions'],
    annotations?: Record<string, string>,
  ): Promise<StoredDeployment>;
};

const SUBDOMAIN = 'fake-account';

const Metadata = z.object({
  main_module: z.string(),
  bindings: z.array(Binding),
  compatibility_date: z.string(),
  annotations: Annotations,
  assets: z.object({ jwt: z.string() }).optional(),
});

const Origins = z.object({ origins: z.array(z.object({ hostname: z.string() })) });
const Crons = z.array(z.object({ cron: z.string() }));

const NewDeployment = z.object({
  versions: z.array(z.object({ version_id: z.string(), percentage: z.number() })),
  annotations: Annotations,
});

/** `onDeployment` is called, and waited for, before a deployment counts. */
export function fakeWorkers(
  onDeployment: (script: Script, deployment: StoredDeployment) => Promise<void>,
): FakeWorkers {
  const scripts = new Map<string, Script>();
  const assets = fakeAssets();

  const withScript =
    (handle: (script: Script, call: Call, ...groups: string[]) => Answer | Promise<Answer>) =>
    (call: Call, name = '', ...groups: string[]) => {
      const script = scripts.get(name);
      return script ? handle(script, call, ...groups) : notFound();
    };

  async function store(script: Script, call: Call): Promise<StoredVersion> {
    const fields = await form(call);
    const metadata = Metadata.parse(JSON.parse(await text(fields.get('metadata'))));
    const code = await text(fields.get(metadata.main_module));
    const version: StoredVersion = {
      id: randomUUID(),
      createdOn: now(),
      annotations: metadata.annotations,
      code,
      sha256: createHash('sha256').update(code).digest('hex'),
      compatibilityDate: metadata.compatibility_date,
      bindings: metadata.bindings,
      assets: assets.of(metadata.assets?.jwt ?? ''),
    };
    script.versions.push(version);
    return version;
  }

  async function deploy(
    script: Script,
    versions: StoredDeployment['versions'],
    annotations: Record<string, string> = {},
  ): Promise<StoredDeployment> {
    const deployment = { id: randomUUID(), created_on: now(), versions, annotations };
    await onDeployment(script, deployment);
    script.deployments.push(deployment);
    return deployment;
  }

  return {
    scripts,
    deploy,
    routes: [
      [/^GET \/workers\/subdomain$/, () => ok({ subdomain: SUBDOMAIN })],
      [
        /^GET \/workers\/services\/([^/]+)$/,
        (_, name = '') =>
          scripts.has(name)
            ? ok({ default_environment: { environment: 'production', script: { tag: 'tag' } } })
            : error(404, 10090, 'This service does not exist on your account.'),
      ],
      [/^GET \/workers\/scripts\/([^/]+)\/secrets$/, withScript(() => ok([]))],
      [/^GET \/workers\/scripts\/([^/]+)\/settings$/, withScript(() => ok({ bindings: [] }))],
      [/^PATCH \/workers\/scripts\/([^/]+)\/script-settings$/, withScript(() => ok({}))],
      [
        /^PUT \/workers\/scripts\/([^/]+)$/,
        async (call, name = '') => {
          const script = scripts.get(name) ?? newScript(name);
          const version = await store(script, call);
          await deploy(script, [{ version_id: version.id, percentage: 100 }]);
          scripts.set(name, script);
          return ok({ id: name, deployment_id: version.id.replaceAll('-', '') });
        },
      ],
      [
        /^POST \/workers\/scripts\/([^/]+)\/versions$/,
        withScript(async (script, call) =>
          ok({ ...shown(await store(script, call)), startup_time_ms: 1 }),
        ),
      ],
      [
        /^GET \/workers\/scripts\/([^/]+)\/versions$/,
        withScript(({ versions }) => ok({ items: versions.slice(-10).toReversed().map(shown) })),
      ],
      [
        /^GET \/workers\/scripts\/([^/]+)\/versions\/([^/]+)$/,
        withScript(({ versions }, _, wanted) => {
          const version = versions.find(({ id }) => id === wanted);
          return version ? ok(shown(version)) : error(404, 10127, 'The version does not exist.');
        }),
      ],
      [
        /^GET \/workers\/scripts\/([^/]+)\/deployments$/,
        withScript(({ deployments }) => ok({ deployments: deployments.slice(-10).toReversed() })),
      ],
      [
        /^POST \/workers\/scripts\/([^/]+)\/deployments$/,
        withScript(async (script, call) => {
          const { versions, annotations } = json(call, NewDeployment);
          return ok(await deploy(script, versions, annotations));
        }),
      ],
      [
        /^GET \/workers\/workers\/([^/]+)$/,
        withScript(({ name, workersDev }) =>
          ok({ name, subdomain: { enabled: workersDev, previews_enabled: false } }),
        ),
      ],
      [
        /^POST \/workers\/scripts\/([^/]+)\/subdomain$/,
        withScript((script, call) => {
          const { enabled } = json(call, z.object({ enabled: z.boolean() }));
          script.workersDev = enabled;
          return ok({ enabled, previews_enabled: false });
        }),
      ],
      [
        /^POST \/workers\/scripts\/([^/]+)\/domains\/changeset$/,
        withScript(() => ok({ added: [], removed: [], updated: [], conflicting: [] })),
      ],
      [
        /^PUT \/workers\/scripts\/([^/]+)\/domains\/records$/,
        withScript((script, call) => {
          const { origins } = json(call, Origins);
          script.domains = origins.map(({ hostname }) => hostname);
          return ok([]);
        }),
      ],
      [
        /^PUT \/workers\/scripts\/([^/]+)\/schedules$/,
        withScript((script, call) => {
          script.crons = json(call, Crons).map(({ cron }) => cron);
          return ok({ schedules: [] });
        }),
      ],
      ...assets.routes,
    ],
  };
}

export function workersDevHost({ name }: Script): string {
  return `${name}.${SUBDOMAIN}.workers.dev`;
}

function newScript(name: string): Script {
  return { name, versions: [], deployments: [], workersDev: false, domains: [], crons: [] };
}

/** A version as the API shows it. */
function shown({ id, createdOn, annotations }: StoredVersion) {
  return {
    id,
    annotations,
    metadata: { created_on: createdOn, author_email: 'a@b.test', source: 'api' },
    resources: { script: {}, script_runtime: {}, bindings: [] },
  };
}

function notFound(): Answer {
  return error(404, 10007, 'This Worker does not exist on your account.');
}

let last = 0;
/** Ascending, as lists are sorted by it. */
function now(): string {
  last = Math.max(last + 1, Date.now());
  return new Date(last).toISOString();
}
