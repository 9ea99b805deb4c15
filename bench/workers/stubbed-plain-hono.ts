/** Plain Hono with stub bindings. */

import plainHono from './plain-hono.ts';
import { STORED_ROW, serveStubbed } from './stub-rows.ts';

export default serveStubbed(plainHono.fetch, STORED_ROW, { id: 'stub' });
