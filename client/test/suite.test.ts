/** The part of the suite for all runtimes that uses the store alone. `npm run test:slow` runs the whole of it. */
import { test } from 'vitest';
import { startStore } from '../../test/support/store.ts';
import * as client from '../src/index.ts';
import { useStore } from './suite.ts';

const store = startStore();
test('the client and the store agree on every digit', async () => {
  await useStore(client, `${store.url()}/v1`, await store.issueKey());
});
