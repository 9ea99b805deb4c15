/** The whole fake of Cloudflare: what wrangler calls, and what clients are served. */
import { startApi } from './api.ts';
import { fakeD1 } from './d1.ts';
import { startEdge } from './edge.ts';
import { fakeWorkers, type Script, type Shares } from './workers.ts';

/** The ids of the resources that the account has: those of staging, then those of production. */
export const DATABASES = [1, 2].map((n) => `${n}0000000-0000-4000-8000-000000000000`);
export const NAMESPACES = [1, 2].map((n) => String(n).repeat(32));

export type Cloudflare = Awaited<ReturnType<typeof startCloudflare>>;

export async function startCloudflare() {
  const scripts = new Map<string, Script>();
  const edge = await startEdge(scripts, DATABASES, NAMESPACES);
  const workers = fakeWorkers(scripts, edge.load);
  const databases = DATABASES.map((uuid, index) => ({ uuid, name: `database-${index}` }));
  const api = await startApi(
    { ...fakeD1(databases, edge.database), ...workers.routes },
    edge.visit,
  );

  function script(name: string): Script {
    const found = scripts.get(name);
    if (!found) throw new Error(`there is no worker ${name}`);
    return found;
  }

  return {
    ...api,
    ...edge,
    script,
    /** Deploys what was uploaded, as another operator would. */
    async deploy(name: string, versions: Shares, message: string) {
      await workers.deploy(script(name), versions, { 'workers/message': message });
    },
    async close() {
      await api.close();
      await edge.close();
    },
  };
}
