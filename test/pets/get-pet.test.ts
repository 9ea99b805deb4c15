/** GET /v1/pets/{petId}: getPet, which is deprecated. */
import { expect, test } from 'vitest';
import { startApp } from '../support/in-process.ts';
import { expectError, startStore } from '../support/store.ts';

const store = startStore();
const sendWithoutD1 = startApp(store);

test('ids that are one double are two animals', async () => {
  await store.insertPet({ id: 2n ** 53n, name: 'Rex' });
  await store.insertPet({ id: 2n ** 53n + 1n, name: 'Mia' });
  const { text, body } = await store.fetch('/v1/pets/9007199254740993');
  expect(text).toContain('"id":9007199254740993');
  expect(body).toMatchObject({ name: 'Mia' });
});

test('an unknown id is a 404', async () => {
  const reply = await store.fetch('/v1/pets/-9223372036854775808');
  const message = 'There is no animal with the id -9223372036854775808.';
  expectError(reply, 404, 'pet_not_found', message);
});

test.each([
  ...['1e3', '0x10', '+1', '--1', '-', '%201', '%', '1%ff', '1%0A', '%EF%BC%95', '1%2F2'],
  ...['9223372036854775808', '-9223372036854775809'],
])('%s is not an id', async (id) => {
  const reply = await sendWithoutD1('GET', `/v1/pets/${id}`);
  expectError(reply, 400, 'invalid_request', expect.stringMatching(/^petId: /));
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
