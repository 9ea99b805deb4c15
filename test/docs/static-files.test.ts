/** The docs page and the description, which Cloudflare serves without running the worker. */
import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startStore } from '../support/store.ts';

const store = startStore();

/** The headers of every static file. */
const STATIC = {
  allow: 'GET, HEAD',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
const DOCS = { ...STATIC, 'referrer-policy': 'no-referrer' };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

test.each([
  { path: '/', status: 302, headers: { ...STATIC, location: '/docs' } },
  { path: '/docs', status: 200, headers: { ...DOCS, 'content-security-policy': POLICY } },
  ...globSync('docs/*', { cwd: 'public' }).map((file) => ({
    path: `/${file.replaceAll('\\', '/')}`,
    status: 200,
    headers: DOCS,
  })),
  {
    path: '/openapi.json',
    status: 200,
    headers: {
      ...STATIC,
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'Allow, ETag',
    },
  },
  // Below /v1, the worker answers.
  { path: '/v1/openapi.json', status: 404, headers: { 'cache-control': 'private, no-store' } },
])('$path has all its headers', async (file) => {
  const { status, headers } = await fetch(store.url() + file.path, { redirect: 'manual' });
  expect(status).toBe(file.status);
  expect(Object.fromEntries(headers)).toMatchObject(file.headers);
});
