/** Plain Hono with the same stub bindings as stubbed.ts. */
import { stubBindings } from '../../test/support/stubs.ts';
import { plainHono } from './plain-hono.ts';

const bindings = stubBindings();

export default {
  fetch: (request, _env, context) => plainHono.fetch(request, bindings, context),
} satisfies ExportedHandler;
