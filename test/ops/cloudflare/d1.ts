/** The fake's D1: real databases behind the calls. https://developers.cloudflare.com/api/resources/d1/ */
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import * as z from 'zod';
import { error, ok, type Routes } from './api.ts';

const BOOKMARK = `00000001-00000001-00004e2f-${'0a'.repeat(16)}`;

const Query = z.object({ sql: z.string() });

/** The databases with these ids and names; `open` gives the real one. */
export function fakeD1(
  databases: { uuid: string; name: string }[],
  open: (id: string) => Promise<D1Database>,
): Routes {
  function find(id: string | undefined) {
    const found = databases.find(({ uuid }) => uuid === id);
    if (!found) throw error(404, 7404, 'The database does not exist');
    return found;
  }

  return {
    'GET /d1/database/:id': (_, id) => ok(find(id)),
    'GET /d1/database/:id/time_travel/bookmark': () => ok({ bookmark: BOOKMARK }),
    'POST /d1/database/:id/query': async (request, id) => {
      const database = await open(find(id).uuid);
      const { sql } = Query.parse(await request.json());
      const statements = splitSqlQuery(sql).map((each) => database.prepare(each));
      return database.batch(statements).then(ok, (problem) => {
        throw error(400, 7500, String(problem).replace(/^Error: D1_ERROR: /, ''));
      });
    },
  };
}
