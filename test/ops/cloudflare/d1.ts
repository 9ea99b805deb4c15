/** The fake's D1. https://developers.cloudflare.com/api/resources/d1/ */
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import * as z from 'zod';
import { error, json, ok, page, type Route } from './api.ts';

type Database = { uuid: string; name: string; read_replication: { mode: string } };

const Update = z.object({ read_replication: z.object({ mode: z.enum(['auto', 'disabled']) }) });

export type FakeD1 = { routes: Route[]; databases: Database[] };

/** `ids` are given to new databases; `open` gives the real database of an id. */
export function fakeD1(ids: string[], open: (id: string) => Promise<D1Database>): FakeD1 {
  const databases: Database[] = [];
  const find = (id: string) => databases.find(({ uuid }) => uuid === id);
  let bookmarks = 0;

  return {
    databases,
    routes: [
      [/^GET \/d1\/database$/, (call) => page(call, databases)],
      [
        /^POST \/d1\/database$/,
        (call) => {
          const { name } = json(call, z.object({ name: z.string() }));
          if (databases.some((each) => each.name === name)) return error(400, 7502, 'it exists');
          const uuid = ids[databases.length];
          if (!uuid) throw new Error('no database is left');
          const database = { uuid, name, read_replication: { mode: 'disabled' } };
          databases.push(database);
          return ok(database);
        },
      ],
      [
        /^GET \/d1\/database\/([^/]+)$/,
        (_, id = '') => found(find(id), (database) => ok(database)),
      ],
      [
        /^PUT \/d1\/database\/([^/]+)$/,
        (call, id = '') =>
          found(find(id), (database) => {
            Object.assign(database, json(call, Update));
            return ok(database);
          }),
      ],
      [
        /^GET \/d1\/database\/([^/]+)\/time_travel\/bookmark$/,
        (_, id = '') =>
          found(find(id), () => {
            bookmarks += 1;
            const number = String(bookmarks).padStart(8, '0');
            return ok({ bookmark: `${number}-00000001-00004e2f-${'0a'.repeat(16)}` });
          }),
      ],
      [
        /^POST \/d1\/database\/([^/]+)\/query$/,
        (call, id = '') =>
          found(find(id), async () => {
            const { sql } = json(call, z.object({ sql: z.string() }));
            const database = await open(id);
            try {
              const statements = splitSqlQuery(sql).map((each) => database.prepare(each));
              return ok(await database.batch(statements));
            } catch (failure) {
              return error(400, 7500, String(failure).replace(/^Error: D1_ERROR: /, ''));
            }
          }),
      ],
      // The statistics of `d1 info`: it does without.
      [/^POST \/graphql$/, () => error(404, 7003, 'none')],
    ],
  };
}

function found<T>(database: Database | undefined, use: (database: Database) => T) {
  return database ? use(database) : error(404, 7404, 'The database does not exist');
}
