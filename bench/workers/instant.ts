/** The store with bindings that answer at once: what it costs by itself. Its log line is built, and printed on demand. */
import { app } from '../../src/app.ts';
import { instantBindings } from '../instant.ts';

const { log } = console;
/** Holds for all requests in progress: those of one turn are the same. */
let isPrinted = false;
console.log = (line) => {
  if (isPrinted) log(line);
};
const bindings = { ...instantBindings(), ENVIRONMENT: 'local' };

export default {
  fetch(request, _env, context) {
    isPrinted = request.headers.has('print-log-line');
    const response = Promise.resolve(app.fetch(request, bindings, context));
    context.waitUntil(response);
    return response;
  },
} satisfies ExportedHandler;
