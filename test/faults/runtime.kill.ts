/** The runtime is killed several times while clients write, and restarted on the same data. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { copyProject, freePort, type Running } from '../ops/project.ts';
import { operations } from './generators.ts';
import { type Event, explain, perform, READ_ALL, type Send } from './history.ts';
import { EMPTY, type State } from './model.ts';

const ROUNDS = 5;
const CLIENTS = 8;
/** Operations in a round before the kill, on average. */
const OPERATIONS = 60;

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

const sendTo =
  (port: number): Send =>
  async (path, { method = 'GET', headers = {}, body } = {}) => {
    const present = Object.entries(headers).flatMap(([name, value]) =>
      value === null ? [] : [[name, value] as [string, string]],
    );
    const init = { method, headers: present, ...(typeof body === 'string' && { body }) };
    const response = await fetch(`http://localhost:${port}${path}`, init);
    const text = await response.text();
    return {
      ...{ status: response.status, headers: new Headers([...response.headers]), text },
      body: text === '' ? undefined : JSON.parse(text),
    };
  };

test('after each kill, every response that a client received is still true, and each write took effect at most once', async () => {
  const port = await freePort();
  const send = sendTo(port);
  const apiKeys = [LOCAL_KEY, LOCAL_KEY];
  // All clients have the one key of the local store.
  const anyOperation = operations(5).map((one) => ({ ...one, account: 0 }));
  let states: State[] = [EMPTY];
  let unanswered = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const running = await start(port);
    const events: Event[] = [];
    const enough = Promise.withResolvers<void>();
    const count = OPERATIONS * (0.5 + Math.random());
    let isRunning = true;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (isRunning) {
        const [operation] = fc.sample(anyOperation, 1);
        if (!operation) return;
        try {
          await perform(send, apiKeys, [{ operation }], events);
        } catch (error) {
          if (isRunning) throw error;
        }
        if (events.length > count) enough.resolve();
      }
    });
    const working = Promise.all(clients);
    await Promise.race([working, enough.promise]);
    // The kill interrupts the requests in progress at a random moment.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
    isRunning = false;
    await kill(running);
    await working;
    unanswered += events.filter(({ answer }) => !answer).length;

    const again = await start(port);
    await perform(send, apiKeys, READ_ALL, events);
    states = states.flatMap((state) => explain(events, state));
    expect(states, events.map((event) => JSON.stringify(event)).join('\n')).not.toHaveLength(0);
    await kill(again);
  }
  expect(unanswered).toBeGreaterThan(0);
});
