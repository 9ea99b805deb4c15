/** The whole fake of Cloudflare: what wrangler calls, and what clients are served. */
import { type Api, startApi } from './api.ts';
import { type FakeD1, fakeD1 } from './d1.ts';
import { type Served, startEdge } from './edge.ts';
import { type FakeKv, fakeKv } from './kv.ts';
import { fakeWorkers, type Script, type StoredDeployment } from './workers.ts';

export type Cloudflare = Api & {
  databases: FakeD1['databases'];
  namespace: FakeKv['namespace'];
  script(name: string): Script;
  /** Notes what a worker serves, and returns what makes it serve that again. */
  snapshot(name: string): () => Promise<void>;
  /** Deploys what was uploaded, as another operator would. */
  deploy(name: string, versions: StoredDeployment['versions'], message: string): Promise<void>;
  /** Has no such worker any more. */
  forget(name: string): void;
  /** The requests of all clients so far, also of our commands. */
  served: Served[];
  /** The loopback port of the edge: see `edge.ts`. */
  edgePort: number;
  database(id: string): Promise<D1Database>;
  kv(id: string): Promise<KVNamespace>;
};

export async function startCloudflare(): Promise<Cloudflare> {
  const workers = fakeWorkers((script, deployment) => edge.deploy(script, deployment));
  const edge = await startEdge(() => workers.scripts.values());
  const d1 = fakeD1(edge.databases, edge.database);
  const kv = fakeKv(edge.namespaces, async (id, name, value) => {
    await (await edge.namespace(id)).put(name, value);
  });
  const api = await startApi([...kv.routes, ...d1.routes, ...workers.routes]);
  function script(name: string): Script {
    const found = workers.scripts.get(name);
    if (!found) throw new Error(`there is no worker ${name}`);
    return found;
  }

  return {
    ...api,
    databases: d1.databases,
    namespace: kv.namespace,
    script,
    snapshot(name) {
      const own = script(name);
      const [versions, deployments] = [[...own.versions], [...own.deployments]];
      return async () => {
        Object.assign(own, { versions: [...versions], deployments: [...deployments] });
        const last = deployments.at(-1);
        if (last) await edge.deploy(own, last);
      };
    },
    async deploy(name, versions, message) {
      const annotations = { 'workers/message': message };
      await workers.deploy(script(name), versions, annotations);
    },
    forget: (name) => void workers.scripts.delete(name),
    served: edge.served,
    edgePort: edge.port,
    database: edge.database,
    kv: edge.namespace,
    async close() {
      await api.close();
      await edge.close();
    },
  };
}
