/** getPet is deprecated, and every response says so, also in its log line. */
import { expect, test } from 'vitest';
import { stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { insertPet } = stepsOf(store);

test.each([{ status: 200 }, { status: 401, key: null }])(
  'a $status of getPet is marked as deprecated',
  async ({ status, ...init }) => {
    await insertPet({ id: 1 });
    const { headers } = await store.fetch('/v1/pets/1', init);
    expect(Object.fromEntries(headers)).toMatchObject({
      deprecation: '@1795132800',
      sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      link: `<${store.url()}/v1/pets>; rel="successor-version", <${store.url()}/docs>; rel="deprecation"`,
    });
    expect(await store.logLines()).toMatchObject([{ status, deprecated: true }]);
  },
);
