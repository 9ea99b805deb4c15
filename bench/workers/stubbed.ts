/** The store with stub bindings. */
import { app } from '../../src/app.ts';
import { serveStubbed } from './stub-rows.ts';

// Integers as text: src/pets/queries.ts.
const row = {
  id: '12',
  id_text: '12',
  name: 'Rex 12',
  category_id_text: '12',
  status: 'available',
};
const record = '{"id":"stub","label":"stub","createdAt":"2026-11-20T00:00:00Z"}';

// As in src/index.ts.
export default serveStubbed(
  (request, env, context) => {
    const responding = Promise.resolve(app.fetch(request, env, context));
    context.waitUntil(responding);
    return responding;
  },
  row,
  record,
);
