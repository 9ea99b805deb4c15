/** `npx wrangler dev`, which serves the store that `npm start` has set up. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../../ops/command/project-root.ts';
import { LOCAL_KEY } from '../../../ops/local/store.ts';
import { copyProject, freePort, startProcess } from '../../support/project.ts';

const project = copyProject();

test('wrangler dev serves the same animals with the same key after npm start', async () => {
  const port = `${await freePort()}`;
  const store = project.start('start.ts', ['--port', port]);
  await store.printed('curl -i');
  const headers = {
    authorization: `Bearer ${LOCAL_KEY}`,
    'content-type': 'application/json',
  };
  const url = `http://localhost:${port}/v1/pets`;
  const body = '{"name":"Rex","categoryId":1}';
  const created = await fetch(url, { method: 'POST', headers, body });
  // Before the store stops, which ends the connection.
  const pet = await created.json();
  store.process.kill('SIGINT');
  await store.exited;
  const bin = join(PROJECT_ROOT, 'node_modules/wrangler/bin/wrangler.js');
  const dev = startProcess([bin, 'dev', '--port', port], project.path());
  await dev.printed('Ready on');
  const pets = await fetch(url, { headers });
  expect(await pets.json()).toEqual([pet]);
});
