/** Plain Hono with the bindings that fail on demand. */
import { failOnDemand } from '../../test/faults/worker.ts';
import plainHono from './plain-hono.ts';

export default { fetch: failOnDemand(plainHono.fetch) };
