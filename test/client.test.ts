import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allPets, createStore } from '../client/example.ts';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { startStore } from './store.ts';

const store = startStore();

test('the example adds an animal and lists all pages, as a program of its own', async () => {
  const { DB } = await store.bindings();
  await DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
     INSERT INTO pets (name, category_id, status) SELECT 'Pet ' || i, 1, 'available' FROM n`,
  ).run();
  const args = [
    join(PROJECT_ROOT, 'client/example.ts'),
    `${store.url()}/v1`,
    await store.issueKey(),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  const lines = output.trim().split('\n');
  expect(lines[0]).toBe('added Rex, whose id is 251');
  expect(lines.slice(1)).toEqual([
    ...Array.from({ length: 250 }, (_, i) => `${i + 1}\tPet ${i + 1}`),
    '251\tRex',
  ]);
});

test('an error of the store is an error of the example', async () => {
  const client = createStore(`${store.url()}/v1`, 'no key');
  await expect(allPets(client).next()).rejects.toThrow('401 invalid_api_key: ');
});

/** Answers with these statuses in turn, then with an empty list; `0` breaks the connection off. */
async function stubbornServer(statuses: number[]) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const status = statuses.shift() ?? 200;
    if (status === 0) request.socket.destroy();
    else response.writeHead(status, { 'content-type': 'application/json' }).end('[]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    client: createStore(`http://127.0.0.1:${port}/v1`, 'key'),
    requests: () => requests,
    close: () => server.close(),
  };
}

test('a GET is sent again when that can help, and not for ever', async () => {
  const recovering = await stubbornServer([0, 503, 429]);
  expect((await allPets(recovering.client).next()).done).toBe(true);
  expect(recovering.requests()).toBe(4);
  recovering.close();

  const down = await stubbornServer([503, 503, 503, 503, 503]);
  const { response } = await down.client.GET('/pets');
  expect([response.status, down.requests()]).toEqual([503, 4]);
  down.close();
});

test('a POST is sent again after a 429 only, unless it has an Idempotency-Key', async () => {
  const body = { name: 'Rex', categoryId: 1 };
  const limited = await stubbornServer([429]);
  await limited.client.POST('/pets', { body });
  expect(limited.requests()).toBe(2);
  limited.close();

  const failing = await stubbornServer([503]);
  await failing.client.POST('/pets', { body });
  expect(failing.requests()).toBe(1);
  failing.close();

  const once = await stubbornServer([503, 0, 500]);
  await once.client.POST('/pets', { params: { header: { 'Idempotency-Key': 'k' } }, body });
  expect(once.requests()).toBe(4);
  once.close();
});
