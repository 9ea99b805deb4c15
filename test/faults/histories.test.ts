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
import { operations, record } from './generators.ts';
import { type Event, isExplained, perform, READ_ALL, type Step } from './history.ts';

const SEED = Number(process.env.SEED ?? 123);
const CLIENTS = 8;
const STEPS = 5;

const store = startStore({ faults: true });

/** The faults of the attempts of a request. Most often an early attempt runs late, and a later one decides. */
const FAULTS: Fault[][] = [
  ...[[], ['loses the response'], Array(3).fill('loses the response'), ['throws', 'runs late']],
  ...[['runs late'], ['runs late'], ['runs late', 'runs late'], ['runs late', 'throws']],
];
const faults = fc.constantFrom(...FAULTS);
const steps = fc.array(record<Required<Step>>({ operation: operations, faults }), {
  ...{ maxLength: STEPS, size: 'max' },
});
const clients = fc.noBias(fc.array(steps, { minLength: CLIENTS, maxLength: CLIENTS }));

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
