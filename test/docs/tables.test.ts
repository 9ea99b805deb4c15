/** The tables of the documents: that of the error codes, and that of the operations. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describedRoutes } from '../../openapi/document.ts';
import { errorsOf } from '../../openapi/operation.ts';
import { findResources } from '../../openapi/resources.ts';
import { codesTable } from '../../openapi/tables.ts';
import { STATUS_OF } from '../../src/errors.ts';

const routes = describedRoutes(await findResources());

test('a client is told to wait after exactly the errors that have Retry-After', () => {
  const errors = routes.flatMap(({ definition, about }) =>
    Object.values(errorsOf(definition, about)).flat(),
  );
  const retried = errors.filter(({ headers }) => headers['Retry-After']);
  const advised = [...codesTable().matchAll(/`(\w+)`.*`Retry-After`/g)].map(([, code]) => code);
  expect(new Set(advised)).toEqual(new Set(retried.map(({ code }) => code)));
});

test('the table of the error codes has a row for each, and no other', () => {
  const codes = [...codesTable().matchAll(/^\| \d+ +\| `(\w+)`/gm)].map(([, code]) => code);
  expect(codes.toSorted()).toEqual(Object.keys(STATUS_OF).toSorted());
});

test.each(routes)('README.md has the row of $definition.operationId', (route) => {
  const { operationId, scope = 'none', deprecation } = route.definition;
  const stability = `${route.about['x-stability'] ?? 'stable'}${deprecation ? ', deprecated' : ''}`;
  const request = `\`${route.method.toUpperCase()} /v1${route.path}\``;
  const row = `| \`${operationId}\` | ${request} | ${scope} | ${stability} |`;
  expect(readFileSync('README.md', 'utf8').replaceAll(/ +/g, ' ')).toContain(row);
});
