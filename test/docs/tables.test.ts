/** What the tables say that `npm run openapi` writes into the documents. `npm run check` compares the documents with them. */
import { expect, test } from 'vitest';
import { describedRoutes } from '../../openapi/document.ts';
import { errorsOf } from '../../openapi/operation.ts';
import { findResources } from '../../openapi/resources.ts';
import { documentParts, withPart } from '../../openapi/tables.ts';
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

test('npm run openapi fails when a change that is safe to retry has no reason', () => {
  const unexplained = routes.map((route) => ({
    ...route,
    about: { ...route.about, retryReason: '' },
  }));
  expect(() => documentParts(unexplained)).toThrow('updateOrder has no retryReason');
});

test('a document that lacks the marks of a part is named', () => {
  expect(() => withPart('Head.\n', 'a', '')).toThrow('lacks the marks <!-- a -->');
});
