/** The docs page: what it shows, and the requests that it sends. */
import { beforeEach, expect, test } from 'vitest';
import { CREATE, DESCRIBED, docsPageOf, LIST } from './docs-page.ts';
import { startStore } from './store.ts';

const store = startStore();
const { page, open, operation, unfold, execute, authorize } = docsPageOf(store);

const GET = 'animals-getPet';
const UPDATE = 'Pets-updatePet';
const ORDER = 'Store-placeOrder';
const HEALTH = 'service-getHealth';

beforeEach(() => open());

test('is the target of /, and has its Content-Security-Policy', async () => {
  expect(page().url()).toBe(`${store.url()}/docs`);
  const { headers } = await fetch(page().url());
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
});

test('shows every operation, and marks the deprecated one, with its sunset', async () => {
  const description = (await store.fetch('/v1/openapi.json')).body as {
    paths: Record<string, object>;
  };
  const operations = Object.values(description.paths).flatMap((path) => Object.keys(path));
  expect(await page().locator('.opblock').count()).toBe(operations.length);
  expect(await page().locator('.opblock-deprecated').count()).toBe(1);
  await operation(GET).locator('.opblock-summary-control').click();
  // The parts of an unfolding operation appear one after the other.
  await expect.poll(() => operation(GET).innerText()).toContain('2030-12-05');
});

test('marks the operations that are beta or experimental, folded and unfolded', async () => {
  const marked = await page().locator('.opblock:has(.stability)').all();
  const marks = await Promise.all(
    marked.map(async (each) => [
      (await each.getAttribute('id'))?.replace('operations-', ''),
      await each.locator('.stability').innerText(),
    ]),
  );
  const described = DESCRIBED.filter(({ stability }) => stability !== undefined);
  expect(described.length).toBeGreaterThan(0);
  expect(marks).toEqual(described.map(({ id, stability }) => [id, stability]));
  await operation(UPDATE).locator('.opblock-summary-control').click();
  await expect.poll(() => operation(UPDATE).innerText()).toMatch(/x-stability\s+("beta"|beta)/);
});

test('adds two different animals, one after the other, and links to the description', async () => {
  await unfold([CREATE]);
  await authorize(await store.issueKey());
  const body = operation(CREATE).locator('textarea.body-param__text');
  await body.fill('{"name":"Rex","categoryId":1}');
  expect(await execute(CREATE)).toEqual(['201', '{"id":1,"name":"Rex","categoryId":1}']);
  await body.fill('{"name":"Max","categoryId":2}');
  await operation(CREATE).locator('.execute').click();
  const shown = operation(CREATE).locator('.live-responses-table .highlight-code code').first();
  await expect.poll(() => shown.innerText()).toBe('{"id":2,"name":"Max","categoryId":2}');

  const link = page().getByRole('link', { name: '/v1/openapi.json' });
  expect(await link.getAttribute('href')).toMatch(/\/v1\/openapi\.json$/);
});

test.each(['Bearer ', 'Authorization: Bearer '])(
  'accepts a key pasted after %j',
  async (prefix) => {
    await unfold([LIST]);
    await authorize(prefix + (await store.issueKey()));
    expect(await execute(LIST)).toEqual(['200', '[]']);
  },
);

test('sends requests to its own origin with a pasted key, and they succeed', async () => {
  await unfold([LIST, CREATE, GET, UPDATE, ORDER, HEALTH]);
  await authorize(await store.issueKey());
  const body = '{"name":"Rex","categoryId":9007199254740993,"status":"available"}';
  await operation(CREATE).locator('textarea.body-param__text').fill(body);
  const [created, pet] = await execute(CREATE);
  expect(created).toBe('201');
  // Every digit, as the service wrote it.
  expect(pet).toContain('"categoryId":9007199254740993,');
  await operation(GET)
    .locator('tr[data-param-name="petId"] input')
    .fill(String(JSON.parse(pet).id));
  expect((await execute(GET))[0]).toBe('200');
  await operation(LIST).locator('tr[data-param-name="status"] select').selectOption('available');
  const [listed, pets] = await execute(LIST);
  expect([listed, JSON.parse(pets)]).toEqual(['200', [JSON.parse(pet)]]);
  await operation(ORDER)
    .locator('textarea.body-param__text')
    .fill(`{"petId":${JSON.parse(pet).id}}`);
  const [placed, order] = await execute(ORDER);
  expect([placed, JSON.parse(order)]).toEqual(['201', expect.objectContaining({ petId: 1 })]);
  const renamed = operation(UPDATE);
  await renamed.locator('tr[data-param-name="petId"] input').fill('1');
  await renamed.locator('textarea.body-param__text').fill('{"name":"Max"}');
  expect((await execute(UPDATE))[0]).toBe('200');
  const [healthy, health] = await execute(HEALTH);
  expect([healthy, JSON.parse(health)]).toEqual(['200', expect.objectContaining({ status: 'ok' })]);
});
