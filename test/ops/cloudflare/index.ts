/** The whole fake of Cloudflare: what wrangler calls, and what clients are served. */
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { error, ok, type Routes, startApi } from './api.ts';
import { startEdge } from './edge.ts';
import { fakeWorkers } from './workers.ts';

export type Cloudflare = Awaited<ReturnType<typeof startCloudflare>>;

export async function startCloudflare() {
  const account = fakeWorkers(() => edge.load());
  const edge = await startEdge(account.workers, account.hosts);
  const api = await startApi({ ...d1Routes(edge.database), ...account.routes }, edge.visit);
  const close = () => Promise.all([api.close(), edge.close()]);
  return { ...api, ...edge, ...account, close };
}

/** Real databases behind the calls. https://developers.cloudflare.com/api/resources/d1/ */
function d1Routes(open: (id: string) => Promise<D1Database>): Routes {
  return {
    'GET /d1/database/:id': (_, id) => ok({ uuid: id, name: id }),
    'POST /d1/database/:id/query': async (request, id = '') => {
      const database = await open(id);
      const { sql }: { sql: string } = await request.json();
      const statements = splitSqlQuery(sql).map((each) => database.prepare(each));
      return database.batch(statements).then(ok, (problem) => {
        throw error(400, 7500, String(problem).replace(/^Error: D1_ERROR: /, ''));
      });
    },
  };
}
