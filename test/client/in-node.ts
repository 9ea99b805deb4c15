/** Runs the suite of the client from source in the project's Node.js. */
import { test } from 'vitest';
import * as client from '../../client/src/index.ts';
import { runBehaviour } from './context.ts';
import { startControlledStore } from './store-under-test.ts';
import { suite } from './suite.ts';

const { store, control } = startControlledStore();

test.each(Object.entries(suite))('%s', async (_, behaviour) => {
  await runBehaviour(behaviour, client, `${store.url()}/v1`, control);
});
