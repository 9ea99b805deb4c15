/** The runtime is killed several times while clients write, and restarted on the same data. */
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { copyProject, freePort, type Running } from '../ops/project.ts';
import { expectInvariants } from './invariants.ts';
import type { Order, Pet } from './model.ts';

const ROUNDS = 5;
const CLIENTS = 8;
/** Completed steps in a round before the kill, on average. */
const STEPS = 60;

const project = copyProject();

async function start(port: number): Promise<Running> {
  const running = project.start('local/start.ts', ['--port', String(port)]);
  await expect.poll(running.stdout, { interval: 50 }).toContain('curl -i');
  return running;
}

/** Kills wrangler, its children and workerd at once: none of them can clean up. They are a process group. */
async function kill({ process: { pid }, exited }: Running): Promise<void> {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  await exited;
}

/** The steps of a client with an animal, in order. */
const SCENARIOS = [
  ['create', 'place', 'approve', 'deliver'],
  ['create', 'place', 'approve', 'deliver', 'remove'],
  ['create', 'place', 'cancel'],
  ['create', 'place', 'approve', 'cancel', 'remove'],
] as const;
type Step = (typeof SCENARIOS)[number][number];

/** The status of the animal and of its order after a step. A step does not change the one that it omits. */
const AFTER: Record<Step, { pet?: Pet['status'] | 'none'; order?: Order['status'] }> = {
  create: { pet: 'available' },
  place: { pet: 'pending', order: 'placed' },
  approve: { order: 'approved' },
  deliver: { pet: 'sold', order: 'delivered' },
  cancel: { pet: 'available', order: 'cancelled' },
  remove: { pet: 'none' },
};

/** A scenario in progress: its animal, the number of completed steps, and the bodies of the 201 responses. */
type Scenario = { name: string; steps: readonly Step[]; done: number; pet?: Pet; order?: Order };

const totals = { requests: 0, interrupted: 0, repeated: 0 };

async function send(url: string, method: string, body?: object, key?: string): Promise<Response> {
  totals.requests += 1;
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${LOCAL_KEY}`,
      'content-type': 'application/json',
      ...(key && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.headers.has('idempotency-replayed')) totals.repeated += 1;
  return response;
}

/** Runs the next step of a scenario, or repeats it if its response was lost. */
async function advance(base: string, scenario: Scenario, isRepeated: boolean): Promise<void> {
  const step = scenario.steps[scenario.done];
  if (step === 'create') {
    const body = { name: scenario.name, categoryId: 1, status: 'available' };
    const response = await send(`${base}/pets`, 'POST', body, scenario.name);
    expect(response.status).toBe(201);
    scenario.pet = (await response.json()) as Pet;
  } else if (step === 'place') {
    // Two clients order the animal.
    const responses = await Promise.all(
      ['a', 'b'].map((client) =>
        send(
          `${base}/store/orders`,
          'POST',
          { petId: scenario.pet?.id },
          `${scenario.name} ${client}`,
        ),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
    const placed = responses.find(({ status }) => status === 201);
    scenario.order = (await placed?.json()) as Order;
  } else if (step === 'remove') {
    const { status } = await send(`${base}/pets/${scenario.pet?.id}`, 'DELETE');
    expect(isRepeated ? [204, 404] : [204]).toContain(status);
    if (status === 404) totals.repeated += 1;
  } else if (step) {
    const status = AFTER[step].order;
    const response = await send(`${base}/store/orders/${scenario.order?.id}`, 'PATCH', { status });
    expect([response.status, await response.json()]).toEqual([200, { ...scenario.order, status }]);
  }
  scenario.done += 1;
}

async function all<Item>(url: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let next: string | undefined = `${url}?limit=100`; next; ) {
    const response: Response = await send(next, 'GET');
    items.push(...((await response.json()) as Item[]));
    next = /<([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return items;
}

/** Expects the store to contain the result of every completed step, and nothing else. */
async function expectCompleted(base: string, scenarios: Scenario[]): Promise<void> {
  const ends = scenarios.map(({ steps, done, ...scenario }) => {
    const { pet, order } = Object.assign({}, ...steps.slice(0, done).map((step) => AFTER[step]));
    return { pet: { ...scenario.pet, status: pet }, order: { ...scenario.order, status: order } };
  });
  const byId = (a: { id?: number }, b: { id?: number }) => Number(a.id) - Number(b.id);
  const pets = await all<Pet>(`${base}/pets`);
  const orders = await all<Order>(`${base}/store/orders`);
  const remaining = ends.map(({ pet }) => pet).filter(({ id, status }) => id && status !== 'none');
  expect(pets).toEqual(remaining.sort(byId));
  expect(orders).toEqual(
    ends
      .map(({ order }) => order)
      .filter(({ id }) => id)
      .sort(byId),
  );
  expectInvariants(pets, orders, (petId) => orders.find((order) => order.petId === petId)?.id);
}

test(
  'after each kill, every response that a client received is still true, and no write is doubled',
  async () => {
    const port = await freePort();
    const base = `http://localhost:${port}/v1`;
    const scenarios: Scenario[] = [];
    const current = new Map<number, Scenario>();

    function scenarioOf(client: number): Scenario {
      const scenario = current.get(client);
      if (scenario && scenario.done < scenario.steps.length) return scenario;
      const steps = SCENARIOS[scenarios.length % SCENARIOS.length] ?? [];
      const next = { name: `animal ${scenarios.length}`, steps, done: 0 };
      scenarios.push(next);
      current.set(client, next);
      return next;
    }

    for (let round = 0; round < ROUNDS; round += 1) {
      const running = await start(port);
      const unanswered = new Set<Scenario>();
      const enough = Promise.withResolvers<void>();
      let rest = STEPS / 2 + Math.random() * STEPS;
      let isRunning = true;
      const clients = Array.from({ length: CLIENTS }, async (_, client) => {
        while (isRunning) {
          const scenario = scenarioOf(client);
          unanswered.add(scenario);
          await advance(base, scenario, false).then(
            () => {
              unanswered.delete(scenario);
              rest -= 1;
              if (rest < 0) enough.resolve();
            },
            (error) => {
              if (isRunning) throw error;
            },
          );
        }
      });
      const working = Promise.all(clients);
      await Promise.race([working, enough.promise]);
      // The kill interrupts the requests in progress at a random moment.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
      // No client starts another step: the unanswered ones are those in progress at the kill.
      isRunning = false;
      await kill(running);
      await working;
      totals.interrupted += unanswered.size;

      const again = await start(port);
      for (const scenario of unanswered) await advance(base, scenario, true);
      await expectCompleted(base, scenarios);
      await kill(again);
    }
    expect(totals.interrupted).toBeGreaterThan(0);
    const ended = scenarios.filter(({ steps, done }) => done === steps.length);
    expect(new Set(ended.map(({ steps }) => steps))).toEqual(new Set(SCENARIOS));
    const { requests, interrupted, repeated } = totals;
    console.log(
      `killed ${ROUNDS} times, ${requests} requests, ${interrupted} steps interrupted ` +
        `(${repeated} requests had taken effect), ${scenarios.length} animals`,
    );
  },
  ROUNDS * 60_000,
);
