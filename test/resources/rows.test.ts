/** Rows that operations read and write, which D1 bills. They do not depend on the size of the store. */
import { expect, test } from 'vitest';
import type { Attempt, Database } from '../../src/d1/database.ts';
import * as orders from '../../src/orders/queries.ts';
import * as pets from '../../src/pets/queries.ts';
import { seedStore } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const REX = { name: 'Rex', categoryId: 3n, status: 'sold' } as const;

const keyed = (operation: string, key: string) => ({
  ...{ client: 'client', operation, key, bodyHash: 'hash', requestId: key },
});
const first = (requestId: string): Attempt => ({ requestId, number: 1 });
const second = (requestId: string): Attempt => ({ requestId, number: 2 });

type Rows = { read: number; written: number };

/** In order, each in the store that the ones before leave. */
const WRITES: Record<string, Rows & { run: (db: Database) => Promise<unknown> }> = {
};

/** The database, and the rows of the statements that run in it. */
function countRows(db: D1Database): { db: Database; rows: Rows } {
  return
}
