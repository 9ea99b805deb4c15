/** The whole fake of Cloudflare: what wrangler calls, and what clients are served. */
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import * as z from 'zod';
import { error, ok, type Routes, startApi } from './api.ts';
import { startEdge } from './edge.ts';
import { fakeWorkers, type Script, type Shares } from './workers.ts';

export type Cloudflare = Awaited<ReturnType<typeof startCloudflare>>;

export async function startCloudflare() {
  const scripts = new Map<string, Script>();
  const edge = await startEdge(scripts);
  const workers = fakeWorkers(scripts, edge.load);
  const api = await startApi({ ...d1Routes(edge.database), ...workers.routes }, edge.visit);

  return {
    ...api,
    ...edge,
    script: workers.find,
    /** Deploys what was uploaded, as another operator would. */
    deploy(name: string, versions: Shares, message: string) {
      workers.deploy(workers.find(name), versions, { 'workers/message': message });
    },
    async close() {
      await api.close();
      await edge.close();
    },
  };
}

/** Real databases behind the calls. https://developers.cloudflare.com/api/resources/d1/ */
function d1Routes(open: (id: string) => Promise<D1Database>): Routes {
  return {
    'GET /d1/database/:id': (_, id) => ok({ uuid: id, name: id }),
    'GET /d1/database/:id/time_travel/bookmark': () => ok({ bookmark: 'before' }),
    'POST /d1/database/:id/query': async (request, id = '') => {
      const database = await open(id);
      const { sql } = z.object({ sql: z.string() }).parse(await request.json());
      const statements = splitSqlQuery(sql).map((each) => database.prepare(each));
      return database.batch(statements).then(ok, (problem) => {
        throw error(400, 7500, String(problem).replace(/^Error: D1_ERROR: /, ''));
      });
    },
  };
}
