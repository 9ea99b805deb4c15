/** Lists: of every resource with the examples of the description, then of animals. */
import { beforeEach, describe, expect, test } from 'vitest';
import { LIMIT } from '../../src/http/paging.ts';
import { filteredLists, filters, INT64, lists } from '../support/contract.ts';
import { startApp } from '../support/in-process.ts';
import { expectError, stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { insertPet, createExamples } = stepsOf(store);
const sendWithoutD1 = startApp(store);

/** The ids of a page as text, and the path of the next page. */
async function readPage(path: string) {
  const { text, headers } = await store.fetch(path);
  const ids = Array.from(text.matchAll(/\{"id":(-?[0-9]+)/g), ([, id = '']) => id);
  const link = /^<http:\/\/[^/]+(\/[^>]+)>; rel="next"$/.exec(headers.get('link') ?? '');
  return { ids, next: link?.[1] };
}

/** The ids of each page from this path to the last. */
async function pagesFrom(path: string) {
  const pages: string[][] = [];
  for (let next: string | undefined = path; next; ) {
    const page = await readPage(next);
    pages.push(page.ids);
    expect(pages.length, 'the pages do not end').toBeLessThan(10);
    next = page.next;
  }
  return pages;
}

const LIMIT_PROBLEM = `limit: must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;

describe.each(lists)('$operationId', (list) => {
  const { examplePath: path, parameters } = list;
  beforeEach(async () => {
    // The ids go from 8 on: as texts, '10' comes before '9'.
    await store.exec(
      "INSERT INTO sqlite_sequence (name, seq) SELECT name, 7 FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'",
    );
    await createExamples(list, 5);
  });

  test('the pages have each item once, by ascending id', async () => {
    const { ids } = await readPage(path);
    // A list can be full earlier.
    expect(ids.length).toBeGreaterThanOrEqual(3);
    expect(ids).toEqual(ids.toSorted((a, b) => Number(a) - Number(b)));
    expect((await pagesFrom(`${path}?limit=2`)).flat()).toEqual(ids);
  });

  test('the last page has no Link, also if it is full', async () => {
    const { ids } = await readPage(path);
    expect(await pagesFrom(`${path}?limit=${ids.length}`)).toEqual([ids]);
  });

  test('an invalid query is a 400 that names every problem', async () => {
    const names = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    const unknown = `stauts: is not a known parameter: ${names.join(', ')}`;
    const reply = await sendWithoutD1(
      'GET',
      `${path}?limit=0&after=9223372036854775808&stauts=sold`,
    );
    expectError(reply, 400, 'invalid_request', `${LIMIT_PROBLEM}; after: ${INT64}; ${unknown}`);
  });
});

test.each(filters)('the filter $name has a value in an example', ({ examples }) => {
  expect(examples).not.toEqual([]);
});

// What a filter selects that is no field, the tests of its resource must check.
test.each(filteredLists)('$path lists the items with that value', async (filtered) => {
  const { list, path, name, isField, value } = filtered;
  await createExamples(list, 5);
  const items: Record<string, unknown>[] = JSON.parse((await store.fetch(list.examplePath)).text);
  const pages = await pagesFrom(`${path}&limit=1`);
  const isSelected = ({ id, [name]: values }: Record<string, unknown>) =>
    isField ? [values].flat().map(String).includes(value) : pages.flat().includes(`${id}`);
  const selected = items.filter(isSelected).map(({ id }) => `${id}`);
  expect(pages.flat()).toEqual(selected);
  // The only page of an empty list is empty, and no other page.
  expect(pages).toHaveLength(Math.max(1, selected.length));
});

test('a page has a default and a maximum number of animals', async () => {
  for (let id = 1; id <= LIMIT.maximum + 1; id += 1) await insertPet({ id });
  const reply = await store.fetch('/v1/pets');
  expect(reply.body).toHaveLength(LIMIT.default);
  const longest = await store.fetch(`/v1/pets?limit=${LIMIT.maximum}`);
  expect(longest.body).toHaveLength(LIMIT.maximum);
});

test('Link has the validated values, not the text of the request', async () => {
  for (const id of [1, 2, 3]) await insertPet({ id, status: 'sold' });
  const reply = await store.fetch('/v1/pets?after=-0001&st%61tus=%73old&limit=002');
  const next = `${store.url()}/v1/pets?limit=2&status=sold&after=2`;
  expect(reply.headers.get('link')).toBe(`<${next}>; rel="next"`);
});

test.each(['', '&status=sold'])('pages keep every digit of ids%s', async (filter) => {
  const ids = [-(2n ** 63n), -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n];
  for (const id of ids) await insertPet({ id, status: 'sold' });
  const pages = await pagesFrom(`/v1/pets?limit=1${filter}`);
  expect(pages).toEqual(ids.map((id) => [`${id}`]));
});

test.each([
  ...['', '0', `${LIMIT.maximum + 1}`, '-5', '5.0', '1e1', '0x10', '%2B5', '%205', '5%0A'],
  ...['%EF%BC%95', '99999999999999999999'],
])('the limit %s is a 400', async (limit) => {
  const reply = await sendWithoutD1('GET', `/v1/pets?limit=${limit}`);
  expectError(reply, 400, 'invalid_request', LIMIT_PROBLEM);
});

test.each([
  ['limit=5&limit=5', 'limit: must be given only once'],
  ['status=no', expect.stringMatching(/^status: must be one of /)],
])('the query %s is a 400', async (query, message) => {
  const reply = await sendWithoutD1('GET', `/v1/pets?${query}`);
  expectError(reply, 400, 'invalid_request', message);
});
