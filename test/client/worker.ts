/** A Worker that runs one test case of the client. */
import * as client from '../../client/src/index.ts';
import { remoteControl, runSuite } from './elsewhere.ts';

export type Job = { baseUrl: string; controlAddress: string; name: string };

export default {
  async fetch(request) {
    const { baseUrl, controlAddress, name } = await request.json<Job>();
    return Response.json(await runSuite(client, baseUrl, remoteControl(controlAddress), [name]));
  },
} satisfies ExportedHandler;
