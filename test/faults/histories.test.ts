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
import { type Event, explain, perform, READ_ALL, type Step } from './history.ts';
import { EMPTY } from './model.ts';
import { operations, record } from './operations.ts';

const SEED = Number(process.env.SEED ?? 123);
const CLIENTS = 8;
const STEPS = 5;

const store = startStore({ faults: true });

const faults = fc.array(
  fc.constantFrom<D1Fault>('throws', 'loses the response', 'runs late', 'runs late', 'works'),
  { maxLength: 3, size: 'max' },
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
  await Promise.all(
    clients.map((steps, client) => perform(store.fetch, apiKeys, steps, events, client)),
  );
  await store.fault({ release: true });
}

/** Expects the model to explain a history, and what the store contains after it. */
async function expectExplained(events: Event[]): Promise<void> {
  await perform(store.fetch, apiKeys, READ_ALL, events);
  const lines = events.map((event) => JSON.stringify(event));
  expect(explain(events, EMPTY), lines.join('\n')).not.toHaveLength(0);
}

/** After a failure, shorter histories are tried for half a minute, or for as many as `npm run test:long` repeats. */
const LIMITS = { seed: SEED, skipAllAfterTimeLimit: 30_000 * REPEAT };

test(`a model explains the answers to ${CLIENTS} concurrent clients while D1 loses responses and runs calls late (seed ${SEED})`, async () => {
  const property = fc.asyncProperty(clients, fc.nat(), async (clients, seed) => {
    await store.exec(EMPTY_TABLES);
    const events: Event[] = [];
    await perform(store.fetch, apiKeys, [CREATE_REX], events);
    await play(clients, seed, events);
    await expectExplained(events);
  });
  await fc.assert(property, { ...LIMITS, numRuns: 20 * REPEAT });
});

const OUTCOMES = [
  ...['createPet 201', 'createPet 201 replayed', 'createPet 422'],
  ...['deletePet 204', 'deletePet 404', 'deletePet 409', 'getOrder 200', 'getOrder 404'],
  ...['getPet 200', 'getPet 404', 'listOrders 200', 'listPets 200'],
  ...['placeOrder 201', 'placeOrder 201 replayed', 'placeOrder 404', 'placeOrder 409'],
  ...['placeOrder 422', 'updateOrder 200', 'updateOrder 404', 'updateOrder 409'],
  ...['updatePet 200', 'updatePet 404', 'updatePet 409'],
];

test(`a model explains the answers to one client (seed ${SEED})`, async () => {
  const seen = new Set<string>();
  const operation = operations(3, fc.integer({ min: 1, max: 3 }));
  const steps = fc.noBias(fc.array(record<Step>({ operation }), { maxLength: 60, size: 'max' }));
  const property = fc.asyncProperty(steps, async (steps) => {
    await store.exec(EMPTY_TABLES);
    const events: Event[] = [];
    await perform(store.fetch, apiKeys, steps, events);
    await expectExplained(events);
    for (const { operation, answer } of events)
      seen.add(`${operation.name} ${answer?.status}${answer?.replayed ? ' replayed' : ''}`);
  });
  await fc.assert(property, { ...LIMITS, numRuns: 5 * REPEAT });
  expect(OUTCOMES).toEqual(expect.arrayContaining([...seen]));
  // A few histories can miss an outcome.
  if (REPEAT > 1) expect([...seen].sort()).toEqual(OUTCOMES);
});
