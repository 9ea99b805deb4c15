/** Steps that tests share: the rows that a test begins with, requests, and what the database holds after them. */
import { expect } from 'vitest';
import { createOf, type Described, withIds } from './contract.ts';
import { withNewName } from './new-name.ts';
import type { Reply, Store } from './store.ts';

type Id = number | bigint;
type Pet = { id?: Id; name?: string; categoryId?: Id; status?: string | null };
type Order = { id?: Id; petId: Id; status: string };

/** The steps of a test file, with its store. */
export function stepsOf(store: Store) {
  const insert = (table: string, row: Record<string, Id | string | null>) => {
    const values = Object.values(row).map((value) =>
      typeof value === 'string' ? `'${value}'` : String(value),
    );
    return store.exec(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${values})`);
  };

  const steps = {
    /** Inserts an animal, by default with a new name. The first one without an `id` has the id 1. */
    insertPet({ categoryId = 3, ...row }: Pet) {
      return insert('pets', { ...withNewName({ name: 'Rex' }), category_id: categoryId, ...row });
    },

    /** Inserts an order. The first one without an `id` has the id 1. */
    insertOrder({ petId, ...row }: Order) {
      return insert('orders', { pet_id: petId, ...row });
    },

    updatePet(id: Id, patch: unknown) {
      return store.send('PATCH', `/v1/pets/${id}`, patch);
    },

    deletePet(id: Id) {
      return store.fetch(`/v1/pets/${id}`, { method: 'DELETE' });
    },

    updateOrder(id: Id, status: string) {
      return store.send('PATCH', `/v1/store/orders/${id}`, { status });
    },

    /**
     * Inserts the rows that the bodies in the description refer to, or makes them usable again: the animals 1 and 2 can be
     * ordered. A resource that refers to another one needs its rows here.
     */
    insertRowsOfExamples() {
      return store.exec(
        `UPDATE orders SET status = 'delivered';
         INSERT INTO pets (id, name, category_id) VALUES (1, 'Animal 1', 3), (2, 'Animal 2', 3) ON CONFLICT DO NOTHING;
         UPDATE pets SET status = 'available' WHERE id <= 2`,
      );
    },

    /**
     * Creates an item with a new name, from an example body of the description: that with the number `turn`, counted round. `list`
     * lists the item, also if it has ids in its path, such as `parent`.
     */
    async createExample(create: Described, turn = 0, list = create, parent = 1) {
      const { exampleBodies, path, fields } = create;
      await steps.insertRowsOfExamples();
      const parents = list.parameters.filter((each) => each.in === 'path' && each.name in fields);
      const ids = Object.fromEntries(parents.map(({ name }) => [name, parent]));
      const example = exampleBodies[turn % exampleBodies.length] ?? {};
      return store.send('POST', withIds(path, parent), withNewName({ ...example, ...ids }));
    },

    /** Creates items that a list has. */
    async createExamples(list: Described, count: number, parent = 1) {
      for (let turn = 0; turn < count; turn += 1)
        await steps.createExample(createOf(list), turn, list, parent);
    },

    /** All rows of each table. Integers beyond 2^53 are rounded. */
    async tableRows() {
      const { DB } = store.bindings();
      const tables = store.tables();
      const statements = tables.map((table) => DB.prepare(`SELECT * FROM ${table}`));
      const results = await DB.batch<Record<string, unknown>>(statements);
      return Object.fromEntries(tables.map((table, i) => [table, results[i]?.results ?? []]));
    },

    /** Expects an action to leave the database as it is, and returns its result, such as the reply of a request. */
    async expectUnchanged<Result>(act: () => Promise<Result>) {
      const before = await steps.tableRows();
      const result = await act();
      expect(await steps.tableRows()).toEqual(before);
      return result;
    },
  };
  return steps;
}

export function expectError(reply: Reply, status: number, code: string, message: unknown) {
  expect(reply.body).toEqual({ code, message, status });
  expect(reply.status).toBe(status);
}
