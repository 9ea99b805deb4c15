/** Ways to read a page of animals from D1 as JSON, over and over: see ../pages.ts. */
import { selectPets } from '../../src/pets/queries.ts';

export type Task = { way: string; limit: number; runs: number };
export type Outcome = { rowsRead: number; text: string };

type Way = (db: D1Database, limit: number) => Promise<Outcome>;

const JSON_OF_PET = `json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)`;
const FROM = 'FROM pets WHERE id >= ?1 ORDER BY id';

export const WAYS: Record<string, Way> = {
  /** As the store does it. */
  'one row, put together by SQLite': async (db, limit) => {
    const { results, meta } = await selectPets(db, { from: 0n, status: undefined, limit });
    return { rowsRead: meta.rows_read, text: results[0]?.pets ?? '' };
  },
  'one row, cut to the limit by a window function': async (db, limit) => {
    const { results, meta } = await db
      .prepare(
        `SELECT '[' || group_concat(pet, ',') FILTER (WHERE place <= ?2) || ']' AS pets
         FROM (SELECT row_number() OVER (ORDER BY id) AS place, ${JSON_OF_PET} AS pet
               ${FROM} LIMIT ?2 + 1)`,
      )
      .bind(0, limit)
      .all<{ pets: string }>();
    return { rowsRead: meta.rows_read, text: results[0]?.pets ?? '' };
  },
  'one row, ordered within the aggregate': async (db, limit) => {
    const { results, meta } = await db
      .prepare(
        `SELECT '[' || group_concat(pet, ',' ORDER BY id) || ']' AS pets
         FROM (SELECT id, ${JSON_OF_PET} AS pet ${FROM} LIMIT ?2)`,
      )
      .bind(0, limit)
      .all<{ pets: string }>();
    return { rowsRead: meta.rows_read, text: results[0]?.pets ?? '' };
  },
  'a row for each animal, JSON by SQLite': async (db, limit) => {
    const { results, meta } = await db
      .prepare(`SELECT CAST(id AS TEXT) AS pet_id, ${JSON_OF_PET} AS pet ${FROM} LIMIT ?2`)
      .bind(0, limit + 1)
      .all<{ pet_id: string; pet: string }>();
    const pets = results.slice(0, limit).map(({ pet }) => pet);
    return { rowsRead: meta.rows_read, text: `[${pets.join(',')}]` };
  },
  'a row for each animal, JSON by JavaScript (loses digits past 2^53)': async (db, limit) => {
    const { results, meta } = await db
      .prepare(`SELECT id, name, category_id AS categoryId, status ${FROM} LIMIT ?2`)
      .bind(0, limit + 1)
      .all();
    return { rowsRead: meta.rows_read, text: JSON.stringify(results.slice(0, limit)) };
  },
};

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { way, limit, runs } = await request.json<Task>();
    let outcome: Outcome | undefined;
    for (let run = 0; run < runs; run += 1) outcome = await WAYS[way]?.(env.DB, limit);
    return Response.json(outcome);
  },
};
