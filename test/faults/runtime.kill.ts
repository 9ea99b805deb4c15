/** The runtime killed in the middle of writing, several times, and started again on the same data. */
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local-store.ts';
import { copyProject, freePort, type Running } from '../ops/project.ts';

const ROUNDS = 5;
const CLIENTS = 8;

const project = copyProject();

type Pet = { id: number; name: string };

async function start(port: number): Promise<Running> {
  const running = project.start('start.ts', ['--port', String(port)], {}, { detached: true });
  await expect.poll(running.stdout, { interval: 50 }).toContain('curl -i');
  return running;
}

/** Ends wrangler, its children and workerd at once: nothing of them can tidy up. */
async function kill({ process: { pid }, exited }: Running): Promise<void> {
  if (pid) process.kill(-pid, 'SIGKILL');
  await exited;
}

test(
  'every 201 that a client received is there, and nothing is there twice',
  async () => {
    const port = await freePort();
    const base = `http://localhost:${port}/v1/pets`;
    const answered = new Map<string, string>();
    const unanswered = new Set<string>();
    let requests = 0;

    /** Creates an animal; whether an earlier request had done it already. */
    async function create(name: string): Promise<boolean> {
      requests += 1;
      unanswered.add(name);
      const response = await fetch(base, {
        method: 'POST',
        body: JSON.stringify({ name, categoryId: 1 }),
        headers: {
          authorization: `Bearer ${LOCAL_KEY}`,
          'content-type': 'application/json',
          'idempotency-key': name,
        },
      });
      const text = await response.text();
      expect(response.status).toBe(201);
      unanswered.delete(name);
      answered.set(name, text);
      return response.headers.has('idempotency-replayed');
    }

    async function allPets(): Promise<Pet[]> {
      const found: Pet[] = [];
      for (let next: string | undefined = `${base}?limit=100`; next; ) {
        const response: Response = await fetch(next, {
          headers: { authorization: `Bearer ${LOCAL_KEY}` },
        });
        found.push(...((await response.json()) as Pet[]));
        next = /<([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1];
      }
      return found;
    }

    let interrupted = 0;
    let committed = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const running = await start(port);
      let isAlive = true;
      const clients = Array.from({ length: CLIENTS }, async (_, client) => {
        for (let i = 0; isAlive; i += 1) {
          // What the kill leaves unanswered stays in `unanswered`.
          await create(`${round}-${client}-${i}`).catch(() => {});
        }
      });
      await new Promise((resolve) => setTimeout(resolve, 500 + Math.random() * 1500));
      // From here on nobody begins a request: those that are unanswered were under way when it was killed.
      isAlive = false;
      await kill(running);
      await Promise.all(clients);
      interrupted += unanswered.size;

      const again = await start(port);
      for (const name of unanswered) if (await create(name)) committed += 1;
      expect(unanswered.size).toBe(0);
      const pets = await allPets();
      expect(pets.map(({ name }) => name).sort()).toEqual([...answered.keys()].sort());
      const byName = new Map(pets.map((pet) => [pet.name, pet.id]));
      for (const [name, text] of answered) {
        expect((JSON.parse(text) as Pet).id).toBe(byName.get(name));
      }
      await kill(again);
    }
    expect(interrupted).toBeGreaterThan(0);
    console.log(
      `killed ${ROUNDS} times, ${requests} requests, ${interrupted} of them interrupted ` +
        `(${committed} had been carried out), ${answered.size} animals, 0 lost, 0 doubled`,
    );
  },
  ROUNDS * 60_000,
);
