/** The scopes of keys, and the 403 of RFC 6750, section 3.1. */
import { expect, test } from 'vitest';
import { scopesOf } from '../../src/auth/key-record.ts';
import { errorOf, operations } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

test.each(operations.filter(({ operation }) => operation.security === undefined))(
  '$operation.operationId needs its scope before it is validated',
  async ({ method, path }) => {
    const [scope, other] = method === 'GET' ? ['read', 'write'] : ['write', 'read'];
    const authorization = `Bearer ${await store.issueKey({ scopes: [other] })}`;
    const invalid = `${path.replace(/\{\w+\}/, 'abc')}?x=1`;
    const { headers, body } = await send(method, invalid, undefined, { authorization });
    expect(errorOf(body)).toBe(
      `403 insufficient_scope: This API key does not have the scope ${scope}.`,
    );
    expect(headers.get('www-authenticate')).toBe(
      `Bearer realm="animal-store", error="insufficient_scope", scope="${scope}"`,
    );
  },
);

test.each([
  { restriction: {}, scopes: ['read', 'write'] },
  { restriction: { scopes: ['read', 'admin'] }, scopes: ['read'] },
  { restriction: { scopes: ['write'] }, scopes: ['write'] },
  { restriction: { scopes: [] }, scopes: [] },
  { restriction: { scopes: ['READ', 'WRITE'] }, scopes: [] },
  // Not understood, so not a licence to write.
  { restriction: { scopes: null }, scopes: ['read'] },
  { restriction: { scopes: 'write' }, scopes: ['read'] },
  { restriction: { scopes: ['read', 'write'], scope: 'read' }, scopes: ['read'] },
])('a key with $restriction has the scopes $scopes', ({ restriction, scopes }) => {
  const record = { id: 'key', label: 'x', createdAt: '2026-11-20T00:00:00Z' };
  expect(scopesOf({ ...record, ...restriction })).toEqual(scopes);
});
