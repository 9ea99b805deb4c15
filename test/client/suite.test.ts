/** The part of the suite for all runtimes that uses the store alone. `npm run test:client` runs the whole of it. */
import { test } from 'vitest';
import * as client from '../../client/src/index.ts';
import { startStore } from '../support/store.ts';
import { useStore } from './suite.ts';

const store = startStore();
test('the client and the store agree on every digit', async () => {
  await useStore(client, `${store.url()}/v1`, await store.issueKey());
});
