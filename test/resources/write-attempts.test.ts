/** The table `write_attempts`: the responses of writes that the service may repeat, and the fence of late attempts. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Attempt, Database } from '../../src/d1/database.ts';
import { changeOrder, insertOrderOnce } from '../../src/orders/queries.ts';
import { changePet, removePet } from '../../src/pets/queries.ts';
import { startStore } from '../store.ts';

const store = startStore();

async function listed(): Promise<string[]> {
  return [(await store.fetch('/v1/pets')).text, (await store.fetch('/v1/store/orders')).text];
}

const keyed = { keyHash: 'k', bodyHash: 'hash', requestId: 'request' };
const attempt = (number: number): Attempt => ({ requestId: 'request', number });

type Run = (
  db: Database,
  attempt: Attempt,
) => Promise<D1Result<{ response?: string | null; json?: string | null }>>;

const CLOSE = "UPDATE orders SET status = 'cancelled'; UPDATE pets SET status = 'available'";
const APPROVE = "UPDATE orders SET status = 'approved'";

/** Each of these is refused, because the animal 2 has the placed order 1, until the statements allow it. */
describe.each<[name: string, Run, allow: string]>([
  ['updatePet', (db, attempt) => changePet(db, 2n, { status: 'sold' }, attempt), CLOSE],
  ['deletePet', (db, attempt) => removePet(db, 2n, attempt), CLOSE],
  ['placeOrder with a key', (db, attempt) => insertOrderOnce(db, 2n, keyed, attempt), CLOSE],
  ['updateOrder', (db, attempt) => changeOrder(db, 1n, 'delivered', attempt), APPROVE],
])('%s', (_, run, allow) => {
  beforeEach(() =>
    store.exec(
      `INSERT INTO pets VALUES (2, 'Max', 3, 'pending');
       INSERT INTO orders VALUES (1, 2, 'placed', '2026-11-20T09:30:00.000Z')`,
    ),
  );

  test('returns the response of its first attempt, also after another change', async () => {
    const { DB } = await store.bindings();
    await store.exec(allow);
    const [first] = (await run(DB, attempt(1))).results;
    await store.exec("UPDATE orders SET status = 'cancelled'; UPDATE pets SET name = 'Other'");
    const before = await listed();
    const [second] = (await run(DB, attempt(2))).results;
    expect(first?.response ?? first?.json).toEqual(expect.any(String));
    expect([second?.response, second?.json]).toEqual([first?.response, first?.json]);
    expect(await listed()).toEqual(before);
  });

  // attempt 1  sent ── reported as failed                       executed late: changes nothing
  // attempt 2                             refused
  // other                                          allows it
  test('changes nothing if it is executed after a later attempt was refused; the next attempt succeeds', async () => {
    const { DB } = await store.bindings();
    await run(DB, attempt(2));
    await store.exec(allow);
    const before = await listed();
    await run(DB, attempt(1));
    expect(await listed()).toEqual(before);
    const [third] = (await run(DB, attempt(3))).results;
    expect(third?.response ?? third?.json).toEqual(expect.any(String));
  });
});
