import { beforeEach, describe, expect, test } from 'vitest';
import { type Answer, createClient } from '../../../ops/release/client.ts';
import { probe } from '../../../ops/release/probes.ts';
import { type Added, type SmokeTest, smokeTest } from '../../../ops/release/smoke.ts';
import { startStore } from '../../store.ts';

const store = startStore();
let subject: SmokeTest;

beforeEach(async () => {
  subject = {
    client: createClient({ origin: store.url() }),
    apiKey: await store.issueKey(),
    baseUrl: `${store.url()}/v1`,
    environment: 'local',
  };
});

/** The smoke test of a store that answers as the real one, but for what the test changes. */
function spoiled(spoil: (path: string, answer: Answer) => Answer): SmokeTest {
  const { client } = subject;
  return {
    ...subject,
    client: { send: async (path, init) => spoil(path, await client.send(path, init)) },
  };
}

/** Headers without one of them. */
function without(name: string, headers: Headers): Headers {
  const left = new Headers(headers);
  left.delete(name);
  return left;
}

test('passes on an empty store, and only reads', async () => {
  const checks = await smokeTest(subject);
  expect(checks.map(({ result }) => result)).toContain('0 animals, no next page');
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
});

test('adds two, tells what it added, and sees the ids exactly', async () => {
  await store.create({ name: 'Rex', categoryId: 1 });
  const { DB } = await store.bindings();
  const id = '9007199254740995';
  await DB.prepare('UPDATE sqlite_sequence SET seq = CAST(? AS INTEGER) - 1').bind(id).run();
  let removed: Added | undefined;
  const remove = async (added: Added) => {
    removed = added;
    await DB.prepare('DELETE FROM pets WHERE name = ?').bind(added.name).run();
  };
  const checks = await smokeTest({ ...subject, remove });
  expect(removed?.ids.map(String)).toEqual([id, '9007199254740996']);
  expect(checks.at(-1)).toEqual({ check: 'what was added is removed', result: '2 animals' });
});

describe('fails', () => {
  const pet = { id: 1n, name: 'Rex', categoryId: 1n };
  test.each<[string, string, (answer: Answer) => Partial<Answer>]>([
    ['health: status is 503, not 200', '/health', () => ({ status: 503 })],
    ['no key is a 401: status is 500', '/v1/pets', () => ({ status: 500 })],
    [
      'a list has pages: Cache-Control is null',
      '/v1/pets?limit=1',
      ({ headers }) => ({ headers: without('cache-control', headers) }),
    ],
    [
      'a list has pages: the body is no array of animals',
      '/v1/pets?limit=1',
      () => ({ body: [{ ...pet, id: 1.5 }] }),
    ],
    [
      'a list is filtered: status is missing, not "sold"',
      '/v1/pets?status=sold&limit=5',
      () => ({ body: [pet] }),
    ],
    [
      'a list is filtered: no more than the limit is false',
      '/v1/pets?status=sold&limit=5',
      () => ({ body: Array(6).fill({ ...pet, status: 'sold' }) }),
    ],
    [
      'one animal is fetched, and that is deprecated: Sunset',
      '/v1/pets/-9223372036854775808',
      ({ headers }) => ({ headers: without('sunset', headers) }),
    ],
    ['the description is served: status is 404', '/v1/openapi.json', () => ({ status: 404 })],
  ])('%s', async (problem, path, spoil) => {
    const test = spoiled((asked, answer) =>
      asked === path ? { ...answer, ...spoil(answer) } : answer,
    );
    await expect(smokeTest(test)).rejects.toThrow(`smoke test, ${problem}`);
  });

  test('when the wrong version answers, or a wrong environment', async () => {
    await expect(smokeTest({ ...subject, version: 'other' })).rejects.toThrow('health: version is');
    await expect(smokeTest({ ...subject, environment: 'staging' })).rejects.toThrow(
      'health: environment is "local", not "staging"',
    );
  });

  test('when links lead elsewhere', async () => {
    await store.create({ name: 'Rex', categoryId: 1 });
    await store.create({ name: 'Max', categoryId: 1 });
    await expect(smokeTest({ ...subject, baseUrl: 'https://x.test/v1' })).rejects.toThrow(
      'the address of the next page is "http',
    );
  });

  test('when a create is not done once: and still removes what it added', async () => {
    let removed: Added | undefined;
    const test = spoiled((_, answer) => ({
      ...answer,
      headers: without('idempotency-replayed', answer.headers),
    }));
    const remove = async (added: Added) => {
      removed = added;
    };
    await expect(smokeTest({ ...test, remove })).rejects.toThrow('Idempotency-Replayed is null');
    expect(removed?.ids).toHaveLength(1);
  });

  test('when what was added is still there', async () => {
    await expect(smokeTest({ ...subject, remove: async () => {} })).rejects.toThrow(
      /what was added is removed: Smoke test \S+, id 1, is still there/,
    );
  });

  test('when nobody answers, in words', async () => {
    const client = createClient({ origin: 'http://127.0.0.1:1' });
    await expect(smokeTest({ ...subject, client })).rejects.toThrow(
      'smoke test, health: GET http://127.0.0.1:1/health: ',
    );
  });
});

const goOn = new AbortController().signal;

test('probes are stopped by a signal, which is not taken for bad answers', async () => {
  const stop = AbortSignal.abort(new Error('interrupted: SIGINT'));
  const client = createClient({ origin: store.url(), signal: stop });
  await expect(probe(client, subject.apiKey, 'v', 10, stop)).rejects.toThrow('interrupted: SIGINT');
});

test('probes that nobody answers are bad', async () => {
  const client = createClient({ origin: 'http://127.0.0.1:1' });
  await expect(probe(client, subject.apiKey, 'v', 10, goOn)).rejects.toThrow(
    'too few answers: 100 from nobody of which 100 bad',
  );
});

test('answers are counted by version: bad ones, and too few', async () => {
  const { client } = spoiled((_, answer) => ({
    ...answer,
    status: answer.status === 200 ? 200 : 500,
  }));
  const { version } = (await store.fetch('/health')).body as { version: string };
  let asked = 0;
  const mixed = {
    async send(...args: Parameters<typeof client.send>) {
      const answer = await client.send(...args);
      if (args[0] !== '/health') return answer;
      asked += 1;
      const body = { status: 'ok', environment: 'local', version: 'other' };
      return asked % 2 === 0 ? { ...answer, body } : answer;
    },
  };
  await expect(probe(mixed, 'no key', version, 20, goOn)).rejects.toThrow('bad answers');
  await expect(probe(mixed, 'no key', 'absent', 20, goOn)).rejects.toThrow('too few answers');
});

test('probes count the answers by version, and one bad one in a hundred is borne', async () => {
  const { version } = (await store.fetch('/health')).body as { version: string };
  let lists = 0;
  const { client } = spoiled((path, answer) => {
    const isList = path.startsWith('/v1/pets');
    if (isList) lists += 1;
    return isList && lists === 7 ? { ...answer, status: 500 } : answer;
  });
  const bad = async (count: number) => {
    lists = 0;
    return (await probe(client, subject.apiKey, version, count, goOn))[version];
  };
  expect((await bad(100))?.answers).toBe(100);
  await expect(bad(50)).rejects.toThrow(/^bad answers: 50 from \S+ of which [1-9] bad$/);
});
