/** The tables of the documents: that of the error codes, and that of the operations. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describedRoutes } from '../../openapi/document.ts';
import { errorsOf } from '../../openapi/operation.ts';
import { findResources } from '../../openapi/resources.ts';
import { codesTable } from '../../openapi/tables.ts';

const routes = describedRoutes(await findResources());

test('the table of codes says which errors have Retry-After', () => {
  const errors = routes.flatMap(({ definition, about }) =>
    Object.values(errorsOf(definition, about)).flat(),
  );
  const waits = errors.flatMap(({ code, headers }) => (headers['Retry-After'] ? code : []));
  const advised = Array.from(codesTable().matchAll(/`(\w+)` .*`Retry-After`/g), ([, code]) => code);
  expect(new Set(advised)).toEqual(new Set(waits));
});

test.each(routes)('README.md has the row of $definition.operationId', (route) => {
  const { operationId, scope = 'none', deprecation } = route.definition;
  const stability = `${route.about['x-stability'] ?? 'stable'}${deprecation ? ', deprecated' : ''}`;
  const request = `\`${route.method.toUpperCase()} /v1${route.path}\``;
  const row = `| \`${operationId}\` | ${request} | ${scope} | ${stability} |`;
  expect(readFileSync('README.md', 'utf8').replaceAll(/ +/g, ' ')).toContain(row);
});
