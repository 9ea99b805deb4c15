/** The store with stub bindings. It builds every log line, and prints it if the request has the header `print-log-line`. */
import { app } from '../../src/app.ts';
import { stubBindings } from '../stubs.ts';

const { log } = console;
/** One value for all requests in progress: they are all the same. */
let isPrinted = false;
console.log = (line) => {
  if (isPrinted) log(line);
};
const bindings = { ...stubBindings(), ENVIRONMENT: 'local' };

export default {
  fetch(request, _env, context) {
    isPrinted = request.headers.has('print-log-line');
    const response = Promise.resolve(app.fetch(request, bindings, context));
    context.waitUntil(response);
    return response;
  },
} satisfies ExportedHandler;
