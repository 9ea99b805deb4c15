// Runs in every Node.js process of a command under test: it notes the process, and sends requests for the addresses of
// the fake Cloudflare to the fake.
const { appendFileSync } = require('node:fs');

const { PROCESSES, FAKE_PORT } = process.env;
appendFileSync(PROCESSES, `${process.pid} ${process.argv.join(' ').replaceAll('\n', ' ')}\n`);

const { fetch } = globalThis;
globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (!/\.(test|workers\.dev)$/.test(url.hostname)) return fetch(input, init);
  const headers = new Headers(init?.headers);
  headers.set('x-fake-host', url.host);
  return fetch(`http://127.0.0.1:${FAKE_PORT}${url.pathname}${url.search}`, { ...init, headers });
};
