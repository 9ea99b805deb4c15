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
const FILE = { ...STATIC, 'cache-control': 'public, max-age=0, must-revalidate' };
const DOCS = { ...FILE, 'referrer-policy': 'no-referrer' };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
const DESCRIPTION = {
  ...FILE,
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Allow, ETag',
};
/** Those of the server. */
const OTHERS = /^(cf-cache-status|content-encoding|content-type|etag|transfer-encoding)$/;

const FILES = globSync('docs/*', { cwd: 'public' }).map((file) => file.replaceAll('\\', '/'));

test.each([
  { path: '', status: 302, headers: { ...STATIC, location: '/docs' } },
  { path: 'docs', status: 200, headers: { ...DOCS, 'content-security-policy': POLICY } },
  ...FILES.map((path) => ({ path, status: 200, headers: DOCS })),
  { path: 'openapi.json', status: 200, headers: DESCRIPTION },
])('/$path has exactly its headers', async ({ path, status, headers }) => {
  const reply = await fetch(`${store.url()}/${path}`, { redirect: 'manual' });
  expect(reply.status).toBe(status);
  const own = [...reply.headers].filter(([name]) => !OTHERS.test(name));
  expect(Object.fromEntries(own)).toEqual(headers);
});

test.each([
  // Of phones.
  ['docs', 'name="viewport" content="width=device-width, initial-scale=1"'],
  // No https there.
  ['docs/init.js', "['localhost', '127.0.0.1', '[::1]'].includes"],
])('/%s has %s', async (path, text) => {
  expect(await (await fetch(`${store.url()}/${path}`)).text()).toContain(text);
});
