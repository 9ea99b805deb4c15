/** The tables in the documents agree with the definitions of the operations, and with the errors that the code throws. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describedRoutes } from '../../openapi/document.ts';
import { errorsOf } from '../../openapi/operation.ts';
import { findResources } from '../../openapi/resources.ts';
import { STATUS_OF } from '../../src/errors.ts';
import { VERSION_PATH } from '../../src/http/urls.ts';

const operations = describedRoutes(await findResources()).map(
  ({ method, path, definition, about }) => ({
    name: `\`${definition.operationId}\``,
    request: `${method.toUpperCase()} ${path}`,
    scope: definition.scope ?? 'none',
    stability: `${about['x-stability'] ?? 'stable'}${definition.deprecation ? ', deprecated' : ''}`,
    errors: Object.values(errorsOf(definition, about)).flat(),
  }),
);

/** The rows of the table with this head, as the texts of their cells. */
function tableOf(document: string, head: string) {
  const text = readFileSync(document, 'utf8').replaceAll(/ +/g, ' ');
  const [, table = ''] = text.split(`| ${head} |\n`);
  const [, ...rows] = table.split('\n\n')[0]?.split('\n') ?? [];
  return rows.map((row) => row.slice(2, -2).split(' | '));
}

test('README.md has the request, scope and stability of every operation', () => {
  const rows = tableOf('README.md', 'operation | request | scope | stability');
  const expected = operations.map(({ name, request, scope, stability }) => {
    return [name, `\`${request.replace(' ', ` ${VERSION_PATH}`)}\``, scope, stability];
  });
  expect(rows).toEqual(expected);
});

const CODES = tableOf('docs/api.md', 'status | `code` | what to do');

test('docs/api.md has every error code with its status', () => {
  const expected = Object.entries(STATUS_OF).map(([code, status]) => [`${status}`, `\`${code}\``]);
  expect(CODES.map(([status, code]) => [status, code])).toEqual(expected);
});

test('docs/api.md says to wait after exactly the errors that have Retry-After', () => {
  const errors = operations.flatMap((operation) => operation.errors);
  const retried = errors.filter(({ headers }) => headers['Retry-After']);
  const advised = CODES.filter(([, , advice]) => advice?.includes('`Retry-After`'));
  expect(new Set(advised.map(([, code]) => code))).toEqual(
    new Set(retried.map(({ code }) => `\`${code}\``)),
  );
});
