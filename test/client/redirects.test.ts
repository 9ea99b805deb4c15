/** Redirects of a real server: a fake `fetch` would not follow them. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAnimalStore } from '../../client/src/index.ts';

const requests: string[] = [];
const servers = [createServer(), createServer()];
const [near, far] = servers;
let addresses: string[];

beforeAll(async () => {
  addresses = await Promise.all(
    servers.map(
      (server) =>
        new Promise<string>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            const port = typeof address === 'object' ? address?.port : undefined;
            resolve(`http://127.0.0.1:${port}`);
          });
        }),
    ),
  );
  const done = JSON.stringify({ id: 1, name: 'Rex', categoryId: 1 });
  far?.on('request', ({ method }, response) => {
    requests.push(`far ${method}`);
    response.end(done);
  });
  near?.on('request', ({ method, url = '' }, response) => {
    requests.push(`near ${method}`);
    const [, status] = /^\/(\d+)\//.exec(url) ?? [];
    if (!status) response.end(done);
    else response.writeHead(Number(status), { Location: `${addresses[1]}/v1/pets` }).end();
  });
});
afterAll(() => {
  for (const server of servers) server.close();
});

test.each([302, 307])('a create that gets a %d sends one request', async (status) => {
  requests.length = 0;
  const store = createAnimalStore({ baseUrl: `${addresses[0]}/${status}/v1`, apiKey: 'key' });
  const call = store.createPet({ name: 'Rex', categoryId: 1n });
  await expect(call).rejects.toMatchObject({ code: 'invalid_response', status });
  expect(requests).toEqual(['near POST']);
});
