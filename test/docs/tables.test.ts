/** The tables of the documents: that of the error codes, which `npm run openapi` writes, and those of the operations. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describedRoutes } from '../../openapi/document.ts';
import { errorsOf } from '../../openapi/operation.ts';
import { findResources } from '../../openapi/resources.ts';
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

test.each(routes)('README.md has the row of $definition.operationId', (route) => {
  const { operationId, scope = 'none', deprecation } = route.definition;
  const stability = route.about['x-stability'] ?? 'stable';
  const request = `\`${route.method.toUpperCase()} /v1${route.path}\``;
  const row = `| \`${operationId}\` | ${request} | ${scope} | ${stability}${deprecation ? ', deprecated' : ''} |`;
  expect(readFileSync('README.md', 'utf8').replaceAll(/ +/g, ' ')).toContain(row);
});
