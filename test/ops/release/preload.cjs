// Runs in every Node.js process of a command under test: it notes the process, and sends requests for the host names of
// the fake Cloudflare to the fake.
const { appendFileSync } = require('node:fs');

const { PROCESSES, FAKE_PORT } = process.env;
appendFileSync(PROCESSES, `${process.pid} ${process.argv.join(' ').replaceAll('\n', ' ')}\n`);

const { fetch } = globalThis;
globalThis.fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (!url.hostname.endsWith('.test')) return fetch(input, init);
  const headers = new Headers(init?.headers);
  headers.set('x-fake-host', url.host);
  const fake = `http://127.0.0.1:${FAKE_PORT}${url.pathname}${url.search}`;
  const response = await fetch(fake, { ...init, headers });
  if (response.headers.has('x-fake')) throw new TypeError('fetch failed: no such host');
  return response;
};
