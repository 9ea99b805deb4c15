/**
 * Random histories, which a model of the store must explain. A failure prints its seed and the shortest history that was
 * found. `SEED=7 npx vitest run --project test test/faults/histories.test.ts` tries others.
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { REPEAT } from '../repeat.ts';
import { EMPTY as EMPTY_TABLES } from '../server.ts';
import { startStore } from '../store.ts';
import type { D1Fault } from './d1.ts';
import { type Event, explain, perform, type Step } from './history.ts';
import { EMPTY, type Operation } from './model.ts';

const DEFAULT_SEED = 123;
const SEED = Number(process.env.SEED ?? DEFAULT_SEED);
const CLIENTS = 8;
const STEPS = 5;

const store = startStore({ faults: true });

/** Clients of one account share its API key, and so their idempotency keys. */
const account = fc.nat({ max: 1 });
const key = fc.constantFrom('k', 'l');
const name = fc.constantFrom('Rex', 'Mia 🐈', 'Max');
const categoryId = fc.constantFrom(3, -Number.MAX_SAFE_INTEGER);
const petStatus = fc.constantFrom('available', 'pending', 'sold');
const orderStatus = fc.constantFrom('placed', 'approved', 'delivered', 'cancelled');
const move = fc.constantFrom('placed', 'approved', 'delivered', 'cancelled', 'cancelled');
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const record = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true });

const newPet = fc.record(
  { name, categoryId, status: fc.constantFrom('available', 'available', 'sold') },
  { requiredKeys: ['name', 'categoryId'], noNullPrototype: true },
);
const patch = fc
  .record(
    { name, categoryId, status: fc.option(petStatus) },
    { requiredKeys: [], noNullPrototype: true },
  )
  .filter((fields) => Object.keys(fields).length > 0);

/** Operations on the first animals and orders; `limit` is that of a page. */
function operations(pets: number, limit: fc.Arbitrary<number>): fc.Arbitrary<Operation> {
  const petId = fc.integer({ min: 1, max: pets });
  const orderId = fc.constantFrom(1, 1, 2, 3);
  const named = <Name extends string>(operation: Name) => ({
    name: fc.constant(operation),
    account,
  });
  const weighted = (weight: number, arbitrary: fc.Arbitrary<Operation>) => ({ weight, arbitrary });
  return fc.oneof(
    weighted(1, record({ ...named('listPets'), status: optional(petStatus), limit })),
    weighted(pets, record({ ...named('createPet'), body: newPet, key: optional(key) })),
    weighted(1, record({ ...named('getPet'), petId })),
    weighted(8, record({ ...named('updatePet'), petId, body: patch })),
    weighted(2, record({ ...named('deletePet'), petId })),
    weighted(1, record({ ...named('listOrders'), status: optional(orderStatus), limit })),
    weighted(8, record({ ...named('placeOrder'), body: record({ petId }), key: optional(key) })),
    weighted(1, record({ ...named('getOrder'), orderId })),
    weighted(12, record({ ...named('updateOrder'), orderId, body: record({ status: move }) })),
  );
}

const faults = fc.array(
  fc.constantFrom<D1Fault>(
    'throws',
    'loses the response',
    'loses the response',
    'runs late',
    'runs late',
    'works',
  ),
  { maxLength: 3 },
);
/** Up to STEPS operations of each client. */
const clients = fc.noBias(
  fc.array(
    fc.array(record<Required<Step>>({ operation: operations(1, fc.constant(100)), faults }), {
      maxLength: STEPS,
      size: 'max',
    }),
    { minLength: CLIENTS, maxLength: CLIENTS },
  ),
);

const CREATE_REX: Step = {
  operation: {
    ...{ name: 'createPet', account: 0, key: undefined },
    body: { name: 'Rex', categoryId: 1, status: 'available' },
  },
};

let apiKeys: string[] = [];
beforeAll(async () => {
  apiKeys = [await store.issueKey(), await store.issueKey()];
});

/** Sets the faults of a history, and resolves when all clients have got their responses and all late calls have run. */
async function play(clients: Step[][], seed: number, events: Event[]): Promise<void> {
  await store.fault({ turns: { seed, requests: clients.map(({ length }) => length) } });
  await Promise.all(clients.map((steps, client) => perform(store, apiKeys, steps, events, client)));
  await store.fault({ release: true });
}

/** Expects the model to explain a history, and what the store contains after it. */
async function expectExplained(events: Event[]): Promise<void> {
  const all = { account: 0, status: undefined, limit: 100 };
  const lists: Step[] = [
    { operation: { name: 'listPets', ...all } },
    { operation: { name: 'listOrders', ...all } },
  ];
  await perform(store, apiKeys, lists, events);
  const lines = events.map((event) => JSON.stringify(event));
  expect(explain(events, EMPTY), lines.join('\n')).not.toHaveLength(0);
}

/** After a failure, shorter histories are tried for half a minute, or for as many as `npm run test:long` repeats. */
const LIMITS = { seed: SEED, skipAllAfterTimeLimit: 30_000 * REPEAT };

test(`a model explains the answers to ${CLIENTS} concurrent clients while D1 loses responses and runs calls late (seed ${SEED})`, async () => {
  const property = fc.asyncProperty(clients, fc.nat(), async (clients, seed) => {
    await store.exec(EMPTY_TABLES);
    const events: Event[] = [];
    await perform(store, apiKeys, [CREATE_REX], events);
    await play(clients, seed, events);
    await expectExplained(events);
  });
  await fc.assert(property, { ...LIMITS, numRuns: 10 * REPEAT });
});

const OUTCOMES = [
  ...['createPet 201', 'createPet 201 replayed', 'createPet 422'],
  ...['deletePet 204', 'deletePet 404', 'deletePet 409', 'getOrder 200', 'getOrder 404'],
  ...['getPet 200', 'getPet 404', 'listOrders 200', 'listPets 200'],
  ...['placeOrder 201', 'placeOrder 201 replayed', 'placeOrder 404', 'placeOrder 409'],
  ...['placeOrder 422', 'updateOrder 200', 'updateOrder 404', 'updateOrder 409'],
  ...['updatePet 200', 'updatePet 404', 'updatePet 409'],
];

test(`a model explains the answers to one client, which are of every kind (seed ${SEED})`, async () => {
  const seen = new Set<string>();
  const operation = operations(3, fc.integer({ min: 1, max: 3 }));
  const steps = fc.noBias(fc.array(record<Step>({ operation }), { maxLength: 60, size: 'max' }));
  const property = fc.asyncProperty(steps, async (steps) => {
    await store.exec(EMPTY_TABLES);
    const events: Event[] = [];
    await perform(store, apiKeys, steps, events);
    await expectExplained(events);
    for (const { operation, answer } of events)
      seen.add(`${operation.name} ${answer?.status}${answer?.replayed ? ' replayed' : ''}`);
  });
  await fc.assert(property, { ...LIMITS, numRuns: 8 * REPEAT });
  // Other seeds can miss an outcome.
  if (SEED === DEFAULT_SEED) expect([...seen].sort()).toEqual(OUTCOMES);
});
