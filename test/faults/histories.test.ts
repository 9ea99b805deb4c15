/**
 * Random histories, which a model of the store must explain. A failure prints the seed and the history. With `SEED=7`,
 * others are tried; with `--project long` instead of `--project test`, the shortest history that fails is found.
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { REPEAT } from '../repeat.ts';
import { EMPTY } from '../server.ts';
import { startStore } from '../store.ts';
import type { Fault } from './fault.ts';
import { type Event, isExplained, perform, READ_ALL, type Step } from './history.ts';
import type { Operation, OrderStatus, Pet, PetPatch } from './model.ts';

const SEED = Number(process.env.SEED ?? 123);
const CLIENTS = 8;

const store = startStore({ faults: true });

const record = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true });
/** An operation of a client. Clients of one account share its API key, and so their idempotency keys. */
const one = <Name extends string>(name: Name) => ({
  name: fc.constant(name),
  account: fc.nat({ max: 1 }),
});
const weighted = (weight: number, arbitrary: fc.Arbitrary<Operation>) => ({ weight, arbitrary });

const key = fc.option(fc.constantFrom(...'klmnopqrstuv'), { nil: undefined });
const petId = fc.constant(1);
const orderId = fc.constantFrom(1, 1, 2, 2, 3);
const newPet = fc.constantFrom<Omit<Pet, 'id'>>(
  { name: 'Rex', categoryId: 3, status: 'available' },
  { name: 'Mia 🐈', categoryId: -Number.MAX_SAFE_INTEGER },
);
const patch = fc.constantFrom<PetPatch>(
  { name: 'Max' },
  { name: 'Mia 🐈', categoryId: 4, status: 'available' },
  { status: 'available' },
  { status: 'sold' },
  { categoryId: -Number.MAX_SAFE_INTEGER, status: null },
);
/** Many orders are cancelled, so that the animal can be ordered again. */
const CANCELLED: OrderStatus[] = ['cancelled', 'cancelled', 'cancelled'];
const move = fc.constantFrom<OrderStatus>('placed', 'approved', 'delivered', ...CANCELLED);

/** Most operations race for the animal 1: changes, orders and their moves. */
const operation = fc.oneof(
  weighted(1, record(one('listPets'))),
  weighted(1, record(one('listOrders'))),
  weighted(1, record({ ...one('createPet'), body: newPet, key })),
  weighted(10, record({ ...one('updatePet'), petId, body: patch })),
  weighted(1, record({ ...one('deletePet'), petId })),
  weighted(14, record({ ...one('placeOrder'), body: record({ petId }), key })),
  weighted(40, record({ ...one('updateOrder'), orderId, body: record({ status: move }) })),
);

/** The faults of the attempts of a request. Most often an early attempt runs late, and a later one decides. */
const faults = fc.constantFrom<Fault[]>(
  [],
  ['loses the response'],
  ['loses the response', 'loses the response', 'loses the response'],
  ['throws', 'runs late'],
  ['runs late'],
  ['runs late'],
  ['runs late', 'runs late'],
  ['runs late', 'throws'],
);

const steps = fc.array(record<Required<Step>>({ operation, faults }), {
  maxLength: 5,
  size: 'max',
});
const clients = fc.noBias(fc.array(steps, { minLength: CLIENTS, maxLength: CLIENTS }));

const CREATE_REX: Step = {
  operation: {
    name: 'createPet',
    account: 0,
    key: undefined,
    body: { name: 'Rex', categoryId: 1, status: 'available' },
  },
};

let apiKeys: string[] = [];
beforeAll(async () => {
  apiKeys = [await store.issueKey(), await store.issueKey()];
});

/** Every client sends its steps at once; `seed` decides in which order D1 runs their calls. Late calls run at the end. */
async function play(clients: Step[][], seed: number): Promise<Event[]> {
  const events: Event[] = [];
  await store.exec(EMPTY);
  await perform(store, apiKeys, [CREATE_REX], events);
  await store.fault({ turns: { seed, requests: clients.map(({ length }) => length) } });
  await Promise.all(clients.map((steps, client) => perform(store, apiKeys, steps, events, client)));
  await store.fault({ release: true });
  await perform(store, apiKeys, READ_ALL, events);
  return events;
}

/** Answers that show that the clients did meet. */
const MET = [
  'placeOrder 201',
  'placeOrder 409',
  'updateOrder 200',
  'updateOrder 409',
  'updatePet 200',
];

test(`a model explains the answers to ${CLIENTS} concurrent clients while D1 loses responses and runs calls late (seed ${SEED})`, async () => {
  const answers = new Set<string>();
  const property = fc.asyncProperty(clients, fc.nat(), async (clients, seed) => {
    const events = await play(clients, seed);
    const lines = events.map((event) => JSON.stringify(event));
    expect(isExplained(events), lines.join('\n')).toBe(true);
    for (const { operation, answer } of events) answers.add(`${operation.name} ${answer?.status}`);
  });
  await fc.assert(property, { seed: SEED, numRuns: 25 * REPEAT, endOnFailure: REPEAT === 1 });
  expect([...answers]).toEqual(expect.arrayContaining(MET));
});
