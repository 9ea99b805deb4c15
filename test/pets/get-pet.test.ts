/** GET /v1/pets/{petId}: getPet, which is deprecated. */
import { expect, test } from 'vitest';
import { sendWithoutD1 } from '../support/in-process.ts';
import { expectError, startFaultyStore } from '../support/store.ts';

const store = startFaultyStore('staging');

test.each([
  ...['1e3', '0x10', '+1', '--1', '-', '%201', '%', '1%ff', '1%0A', '%EF%BC%95', '1%2F2'],
  ...['9223372036854775808', '-9223372036854775809'],
])('%s is not an id', async (id) => {
  const reply = await sendWithoutD1('GET', `/v1/pets/${id}`);
  const message = 'must be an integer from -9223372036854775808 to 9223372036854775807';
  expectError(reply, 400, 'invalid_request', `petId: ${message}`);
});

test.each([{ status: 200 }, { status: 401, key: null }])(
  'a $status is marked as deprecated, also in the log',
  async ({ status, ...init }) => {
    await store.insertPet({ id: 1 });
    const { headers } = await store.fetch('/v1/pets/1', init);
    const baseUrl = store.baseUrl();
    const page = new URL('/docs', baseUrl);
    expect(Object.fromEntries(headers)).toMatchObject({
      deprecation: '@1795132800',
      sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      link: `<${baseUrl}/pets>; rel="successor-version", <${page}>; rel="deprecation"`,
    });
    expect(await store.logLines()).toMatchObject([{ status, deprecated: true }]);
  },
);
