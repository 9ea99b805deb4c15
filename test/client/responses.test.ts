/** Sessions and responses. */
import { describe, expect, test } from 'vitest';
import { type Answer, clientWith, json, problem, REX, text } from './fake.ts';

describe('a session', () => {
  const stamped = (bookmark: string) => json([], { 'X-D1-Bookmark': bookmark });

  test('sends its newest bookmark, also when responses arrive out of order', async () => {
    const answers = [stamped('0002'), problem(404, 'not_found', { 'X-D1-Bookmark': '0003' })];
    const { store, requests } = clientWith([...answers, stamped('0001')]);
    const session = store.session('first-unconstrained');
    await session.listPets().page();
    await session
      .listPets()
      .page()
      .catch(() => {});
    await session.listPets().page();
    expect(session.bookmark).toBe('0003');
    await store.listPets().page();
    await store.session(session.bookmark).listPets().page();
    const sent = requests.map(({ headers }) => headers.get('X-D1-Bookmark'));
    expect(sent).toEqual(['first-unconstrained', '0002', '0003', null, '0003']);
  });

  test('continues from the primary after a write whose outcome is unknown', async () => {
    let answerLate = (_: Response) => {};
    const late: Answer = () => new Promise((resolve) => (answerLate = resolve));
    const failed = problem(500, 'internal_error');
    const { store, requests } = clientWith([stamped('0001'), late, failed, stamped('0002')]);
    const session = store.session();
    await session.listPets().page();
    const inFlight = session.listPets().page();
    await expect(session.updatePet(1n, {})).rejects.toMatchObject({ outcomeUnknown: true });
    answerLate(await stamped('0009')());
    await inFlight;
    expect(session.bookmark).toBe('first-primary');
    await session.listPets().page();
    const sent = requests.map(({ headers }) => headers.get('X-D1-Bookmark'));
    expect(sent).toEqual(['first-primary', '0001', '0001', 'first-primary']);
  });
});

test('metadata has the deprecation, the sunset and the replay', async () => {
  const { store } = clientWith([
    json(
      { id: 1 },
      {
        'X-Request-Id': 'id-1',
        Deprecation: '@1795132800',
        Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
        'Idempotency-Replayed': 'true',
      },
    ),
  ]);
  const { data, metadata } = await store.getPet(1n).withMetadata();
  expect(data).toEqual({ id: 1n });
  expect(metadata).toMatchObject({
    status: 200,
    requestId: 'id-1',
    deprecation: new Date('2026-11-20'),
    sunset: new Date('2030-12-05'),
    idempotencyReplayed: true,
    retryAfterSeconds: 0,
    attempts: 1,
  });
});

describe('an invalid_response', () => {
  test.each([
    [200, 'null'],
    [200, '"ok"'],
    [200, '[]'],
    [200, '{'],
    [204, null],
    [302, '{"code":"not_found","message":"a message"}'],
    [404, '{"code":7,"message":"a message"}'],
    [404, '{"code":"not_found"}'],
  ])('is a %d with the body %s', async (status, body) => {
    const answer = () => new Response(body, { status });
    const failure = clientWith([answer]).store.createPet(REX);
    const outcomeUnknown = status < 400;
    await expect(failure).rejects.toMatchObject({
      code: 'invalid_response',
      status,
      attempts: 1,
      outcomeUnknown,
    });
  });

  test('shows the media type and the first 200 characters', async () => {
    const html = `<h1>Log in</h1>${'x'.repeat(185)}`;
    const init = { headers: { 'Content-Type': 'text/html', 'X-Request-Id': 'id-1' } };
    const { store } = clientWith([text(`${html}more`, init)]);
    await expect(store.getHealth()).rejects.toMatchObject({
      message: `Not a response of the store: 200 text/html ${html}`,
      requestId: 'id-1',
    });
  });
});

test('an error keeps the fields of its body that the client does not know', async () => {
  const answer = () => Response.json({ code: 'new_code', message: 'm', petId: 7 }, { status: 409 });
  const failure = clientWith([answer]).store.placeOrder({ petId: 7n });
  const body = { code: 'new_code', message: 'm', petId: 7n };
  await expect(failure).rejects.toMatchObject({ code: 'new_code', message: 'm', body });
});
