/** The store with stub bindings. It builds its log lines, and does not print them. */
import { app } from '../../src/app.ts';
import { stubBindings } from '../../test/support/stubs.ts';

console.log = () => {};
const bindings = { ...stubBindings(), ENVIRONMENT: 'local' };

export default {
  fetch(request, _env, context) {
    const response = Promise.resolve(app.fetch(request, bindings, context));
    context.waitUntil(response);
    return response;
  },
} satisfies ExportedHandler;
