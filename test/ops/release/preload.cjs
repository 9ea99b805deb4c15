// In every Node.js process of a command under test: sends requests for hosts of the fake Cloudflare to the fake.
const { fetch } = globalThis;
globalThis.fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (!url.hostname.endsWith('.test')) return fetch(input, init);
  const headers = new Headers(init?.headers);
  headers.set('x-fake-host', url.host);
  const fake = `http://127.0.0.1:${process.env.FAKE_PORT}${url.pathname}${url.search}`;
  const response = await fetch(fake, { ...init, headers });
  if (response.headers.has('x-fake'))
    throw new TypeError('fetch failed', { cause: { code: 'ENOTFOUND' } });
  return response;
};
