/** The table of the error codes, which `npm run openapi` writes into docs/api.md. */
import { expect, test } from 'vitest';
import { describedRoutes } from '../../openapi/document.ts';
import { errorsOf } from '../../openapi/operation.ts';
import { findResources } from '../../openapi/resources.ts';
import { withCodesTable } from '../../openapi/tables.ts';
import { ADVICE_ON } from '../../src/errors.ts';

const routes = describedRoutes(await findResources());

test('a client is told to wait after exactly the errors that have Retry-After', () => {
  const errors = routes.flatMap(({ definition, about }) =>
    Object.values(errorsOf(definition, about)).flat(),
  );
  const retried = errors.filter(({ headers }) => headers['Retry-After']);
  const advised = Object.entries(ADVICE_ON).filter(([, text]) => text.includes('`Retry-After`'));
  expect(new Set(advised.map(([code]) => code))).toEqual(new Set(retried.map(({ code }) => code)));
});

test('a document that lacks the marks of the table is named', () => {
  expect(() => withCodesTable('Head.\n')).toThrow('lacks the marks <!-- codes -->');
});
