/** The suite for all runtimes, in this process. */
import { expect, test } from 'vitest';
import * as client from '../../client/src/index.ts';
import { startServers } from './rude-server.ts';
import { runSuite } from './suite.ts';

const addresses = startServers();
test('the suite passes', async () => {
  expect(await runSuite(client, await addresses(), true)).toEqual([]);
});
