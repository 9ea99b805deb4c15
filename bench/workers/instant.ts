/** The store with bindings that answer at once: what it costs by itself. Its log line is built, but goes nowhere. */
import { app } from '../../src/app.ts';
import { instantBindings } from '../instant.ts';

console.log = () => {};
const bindings = { ...instantBindings(), ENVIRONMENT: 'local' };

export default {
  fetch(request, _env, context) {
    const response = Promise.resolve(app.fetch(request, bindings, context));
    context.waitUntil(response);
    return response;
  },
} satisfies ExportedHandler;
