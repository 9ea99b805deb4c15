/** What a create or a PATCH of every resource sets, with the examples of the description. */
import { expect, test } from 'vitest';
import { changes, creates, readable } from '../support/contract.ts';
import { stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { createExample, insertRowsOfExamples } = stepsOf(store);

const CREATES = creates.flatMap((create) =>
  create.exampleBodies.map((body) => ({ ...create, body })),
);

test.each(CREATES)(
  '$operationId answers $body with an item that has its fields, and is read as answered',
  async ({ examplePath, body }) => {
    await insertRowsOfExamples();
    const reply = await store.send('POST', examplePath, body);
    expect(reply.body).toMatchObject(body);
    const { pathname } = new URL(reply.headers.get('location') ?? '');
    for (const address of readable([pathname, examplePath]))
      expect((await store.fetch(address)).text).toContain(reply.text);
  },
);

const PATCHES = changes.flatMap(({ exampleBodies, create, ...change }) =>
  create ? exampleBodies.map((patch) => ({ ...change, create, patch })) : [],
);

test.each(PATCHES)(
  '$operationId sets exactly the fields of $patch, and removes those that are null',
  async (each) => {
    const { collection, create, patch } = each;
    const { body } = await createExample(create);
    const address = `${collection}/${Object(body).id}`;
    const reply = await store.send('PATCH', address, patch);
    const fields = Object.entries({ ...Object(body), ...patch });
    const expected = Object.fromEntries(fields.filter(([, value]) => value !== null));
    expect(reply.body).toEqual(expected);
    for (const read of readable([address]))
      expect((await store.fetch(read)).body).toEqual(expected);
  },
);
