/** @hono/zod-openapi and Drizzle with stub bindings. */
import { STORED_ROW, serveStubbed } from './stub-rows.ts';
import app from './zod-openapi.ts';

export default serveStubbed(app.fetch, STORED_ROW, { id: 'stub' });
