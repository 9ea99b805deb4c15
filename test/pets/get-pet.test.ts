/** GET /v1/pets/{petId}: getPet, which is deprecated. */
import { expect, test } from 'vitest';
import { startApp } from '../support/in-process.ts';
import { exact, expectError, startStore } from '../support/store.ts';

const store = startStore();
const sendWithoutD1 = startApp(store);

test('ids that are one double are two animals', async () => {
  const id = 2n ** 53n + 1n;
  await store.insertPet({ id: 2n ** 53n, name: 'Rex' });
  await store.insertPet({ id, name: 'Mia', status: 'sold' });
  const reply = await store.fetch('/v1/pets/9007199254740993');
  expect(exact(reply)).toEqual({ id, name: 'Mia', categoryId: 3n, status: 'sold' });
});

test.each<[string, object?]>([['GET'], ['PATCH', { name: 'Max' }], ['DELETE']])(
  '%s of an unknown id is a 404',
  async (method, body) => {
    const reply = await store.send(method, '/v1/pets/-9223372036854775808', body);
    const message = 'There is no animal with the id -9223372036854775808.';
    expectError(reply, 404, 'pet_not_found', message);
  },
);

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
    const origin = store.url();
    expect(Object.fromEntries(headers)).toMatchObject({
      deprecation: '@1795132800',
      sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      link: `<${origin}/v1/pets>; rel="successor-version", <${origin}/docs>; rel="deprecation"`,
    });
    expect(await store.logLines()).toMatchObject([{ status, deprecated: true }]);
  },
);
