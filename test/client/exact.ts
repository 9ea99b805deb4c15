/** Every operation sends and returns 64-bit integers exactly. */
import { all, type Behaviour, type Context, expectEqual } from './context.ts';

const EXTREMES = [9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n - 1n), -(2n ** 63n)];

function eachExtreme(behaviour: (context: Context, value: bigint) => Promise<void>): Behaviour {
  return async (context) => {
    for (const value of EXTREMES) {
      await context.reset();
      await behaviour(context, value);
    }
  };
}

/** An animal whose id and categoryId are the value. */
const insertPet = (value: bigint) =>
  `INSERT INTO pets (id, name, category_id, status) VALUES (${value}, 'Rex', ${value}, 'available')`;
/** An order whose id and petId are the value. */
const insertOrder = (value: bigint) =>
  `INSERT INTO orders (id, pet_id, status) VALUES (${value}, ${value}, 'placed')`;

export const exactness: Record<string, Behaviour> = {
  'createPet sends and returns every digit of a categoryId': eachExtreme(async (c, value) => {
    const pet = await c.connect().createPet({ name: 'Rex', categoryId: value });
    expectEqual(pet, { id: 1n, name: 'Rex', categoryId: value });
  }),
  'createPet and placeOrder return every digit of an id': async (c) => {
    for (const value of EXTREMES.filter((extreme) => extreme > 0n)) {
      await c.reset();
      await c.sql(
        `INSERT INTO sqlite_sequence VALUES ('pets', ${value - 1n}), ('orders', ${value - 1n})`,
      );
      const store = c.connect();
      const pet = await store.createPet({ name: 'Rex', categoryId: 1n, status: 'available' });
      expectEqual(pet.id, value);
      const { id, petId } = await store.placeOrder({ petId: value });
      expectEqual([id, petId], [value, value]);
    }
  },
  'listPets, getPet, updatePet and deletePet keep every digit': eachExtreme(async (c, value) => {
    await c.sql(insertPet(value));
    const store = c.connect();
    const pet = { id: value, name: 'Rex', categoryId: value, status: 'available' };
    expectEqual(await all(store.listPets()), [pet]);
    expectEqual((await store.listPets({ status: 'available' }).page()).items, [pet]);
    expectEqual(await store.getPet(value), pet);
    expectEqual(await store.updatePet(value, { categoryId: 5n }), { ...pet, categoryId: 5n });
    expectEqual(await store.updatePet(value, { categoryId: value }), pet);
    expectEqual(await store.deletePet(value), undefined);
    expectEqual(await all(store.listPets()), []);
  }),
  'placeOrder sends and returns every digit of a petId': eachExtreme(async (c, value) => {
    await c.sql(insertPet(value));
    const { id, petId, status } = await c.connect().placeOrder({ petId: value });
    expectEqual([id, petId, status], [1n, value, 'placed']);
  }),
  'listOrders, getOrder and updateOrder keep every digit': eachExtreme(async (c, value) => {
    await c.sql(`${insertPet(value)}; ${insertOrder(value)}`);
    const store = c.connect();
    const [listed, ...others] = await all(store.listOrders({ status: 'placed' }));
    expectEqual([listed?.id, listed?.petId, others], [value, value, []]);
    expectEqual(await store.getOrder(value), listed);
    expectEqual(await store.updateOrder(value, { status: 'approved' }), {
      ...listed,
      status: 'approved',
    });
  }),
  'other values keep their types': async (c) => {
    const { status, environment } = await c.connect().getHealth();
    expectEqual([status, environment], ['ok', 'local']);
    const name = '9007199254740993 🐈 "id":7 \\';
    const pet = await c.connect().createPet({ name, categoryId: 1n });
    expectEqual(pet, { id: 1n, name, categoryId: 1n });
  },
  'a number in place of a bigint is rejected before a request is sent': async (c) => {
    const store = c.connect({ fetch: () => Promise.reject(new Error('sent')) });
    // A caller in JavaScript.
    const rounded = JSON.parse('9007199254740993');
    for (const call of [
      () => store.getPet(rounded),
      () => store.updateOrder(rounded, { status: 'approved' }),
      () => store.createPet({ name: 'Rex', categoryId: rounded }),
      () => store.placeOrder({ petId: rounded }),
    ]) {
      const error = await call().catch((rejection: unknown) => rejection);
      expectEqual(error instanceof TypeError && /must be a bigint/.test(error.message), true);
    }
  },
};
