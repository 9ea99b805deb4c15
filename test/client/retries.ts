/** Retries: which requests, when, how often, until when. */
import {
  all,
  answering,
  type Behaviour,
  errorAnswer,
  expectEqual,
  failureOf,
  impatient,
  losingAnswers,
  recording,
  silent,
} from './context.ts';

const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const unavailable = errorAnswer('service_unavailable', 503);

export const retries: Record<string, Behaviour> = {
  'a create whose responses are lost adds one animal': async (c) => {
    const sent = recording(losingAnswers(2));
    const store = c.connect({ fetch: sent.fetch });
    const { data, metadata } = await store.createPet(REX).withMetadata();
    expectEqual([metadata.attempts, metadata.idempotencyReplayed], [3, true]);
    const keys = new Set(sent.requests.map(({ headers }) => headers.get('Idempotency-Key')));
    expectEqual([keys.size, keys.has(null)], [1, false]);
    expectEqual(await all(c.connect().listPets()), [data]);
  },
  'an order whose responses are lost is placed once': async (c) => {
    await c.connect().createPet(REX);
    const order = await c.connect({ fetch: losingAnswers(2) }).placeOrder({ petId: 1n });
    expectEqual(await all(c.connect().listOrders()), [order]);
  },
  'thirty concurrent creates add thirty animals while the database fails': async (c) => {
    await c.fault({
      d1AtRandom: { rate: 0.5, faults: ['throws', 'loses the response', 'is overloaded'], seed: 7 },
    });
    const store = c.connect({ fetch: impatient, maxAttempts: 12 });
    const names = Array.from({ length: 30 }, (_, i) => `Pet ${i}`);
    await Promise.all(names.map((name) => store.createPet({ name, categoryId: 1n })));
    await c.fault({});
    const found = (await all(store.listPets())).map(({ name }) => name);
    expectEqual(found.sort(), names.sort());
  },
  'a call can be repeated with an idempotency key of the caller': async (c) => {
    const store = c.connect();
    const first = await store.createPet(REX, { idempotencyKey: 'mine' });
    const { data, metadata } = await store
      .createPet(REX, { idempotencyKey: 'mine' })
      .withMetadata();
    expectEqual([data, metadata.idempotencyReplayed], [first, true]);
    await store.createPet(REX);
    expectEqual((await all(store.listPets())).length, 2);
  },
  'a transition whose response is lost is made once': async (c) => {
    const store = c.connect();
    await store.createPet(REX);
    const { id } = await store.placeOrder({ petId: 1n });
    const losing = c.connect({ fetch: losingAnswers(1) });
    expectEqual((await losing.updateOrder(id, { status: 'approved' })).status, 'approved');
  },
  'a retried delete that gets a 404 succeeds': async (c) => {
    await c.connect().createPet(REX);
    await c.connect({ fetch: losingAnswers(1) }).deletePet(1n);
    const twice = await failureOf(c, c.connect().deletePet(1n));
    expectEqual([twice.code, twice.outcomeUnknown], ['pet_not_found', false]);
  },
  'an updatePet without a response is not retried: it could overwrite other changes': async (c) => {
    await c.connect().createPet(REX);
    for (const fetch of [losingAnswers(1), answering(unavailable)]) {
      const sent = recording(fetch);
      const failure = await failureOf(
        c,
        c.connect({ fetch: sent.fetch }).updatePet(1n, { status: 'available' }),
      );
      expectEqual([sent.requests.length, failure.outcomeUnknown], [1, true]);
    }
  },
  'every write is retried after a 429, not before Retry-After': async (c) => {
    const limited = errorAnswer('rate_limited', 429, { 'Retry-After': '1' });
    await c.connect().createPet(REX);
    const begin = Date.now();
    const sent = recording(answering(limited));
    const pet = await c.connect({ fetch: sent.fetch }).updatePet(1n, { name: 'Max' });
    expectEqual([pet.name, sent.requests.length], ['Max', 2]);
    expectEqual(Date.now() - begin >= 1000, true);
  },
  'Retry-After may be a date': async (c) => {
    const date = new Date(Date.now() + 2500).toUTCString();
    const sent = recording(answering(errorAnswer('rate_limited', 429, { 'Retry-After': date })));
    await c.connect({ fetch: sent.fetch }).getHealth();
    expectEqual([sent.requests.length, Date.now() >= Date.parse(date)], [2, true]);
  },
  'a read is retried after a 5xx or no response, and pauses grow': async (c) => {
    const times: number[] = [];
    const broken = () => {
      throw new TypeError('connection reset');
    };
    const html = () => new Response('<h1>Bad gateway</h1>', { status: 502 });
    const answers = answering(broken, unavailable, html);
    const fetch = (...args: Parameters<typeof answers>) => {
      times.push(Date.now());
      return answers(...args);
    };
    expectEqual(await all(c.connect({ fetch }).listPets()), []);
    const pauses = times.slice(1).map((time, i) => time - (times[i] ?? 0));
    // Timers may fire a millisecond early. Half of each pause is random.
    const enough = [125, 250, 500].map((least, i) => (pauses[i] ?? 0) >= least - 2);
    expectEqual(enough, [true, true, true]);
  },
  'the number of attempts is limited': async (c) => {
    const sent = recording(answering(unavailable, unavailable, unavailable, unavailable));
    const failure = await failureOf(c, c.connect({ fetch: sent.fetch }).listPets().page());
    expectEqual(
      [failure.code, failure.status, sent.requests.length],
      ['service_unavailable', 503, 4],
    );
    const once = recording(answering(unavailable));
    await failureOf(c, c.connect({ fetch: once.fetch }).getHealth({ maxAttempts: 1 }));
    expectEqual(once.requests.length, 1);
  },
  'a request with a permanent error is not retried': async (c) => {
    const sent = recording();
    const failure = await failureOf(c, c.connect({ fetch: sent.fetch }).deletePet(1n));
    expectEqual([failure.code, sent.requests.length], ['pet_not_found', 1]);
  },
  'the deadline ends a call without a response': async (c) => {
    const store = c.connect({ fetch: silent, deadlineMs: 50 });
    const read = await failureOf(c, store.getHealth());
    expectEqual(
      [read.code, read.status, read.outcomeUnknown],
      ['deadline_exceeded', undefined, false],
    );
    const write = await failureOf(c, store.createPet(REX));
    expectEqual([write.code, write.outcomeUnknown], ['deadline_exceeded', true]);
  },
  'a pause that would exceed the deadline is not started': async (c) => {
    const limited = errorAnswer('rate_limited', 429, { 'Retry-After': '3600' });
    const failure = await failureOf(c, c.connect({ fetch: answering(limited) }).createPet(REX));
    expectEqual([failure.code, failure.outcomeUnknown], ['rate_limited', false]);
    expectEqual(failure.metadata?.retryAfterSeconds, 3600);
  },
  'a failed connection is a network_error, with its cause': async (c) => {
    const sent = recording(() => Promise.reject(new TypeError('connection refused')));
    const store = c.connect({ fetch: sent.fetch, maxAttempts: 2 });
    const failure = await failureOf(c, store.getHealth());
    expectEqual(
      [failure.code, failure.status, sent.requests.length],
      ['network_error', undefined, 2],
    );
    expectEqual(String(failure.cause), 'TypeError: connection refused');
  },
  'a call with an aborted signal sends nothing': async (c) => {
    const sent = recording();
    const call = c
      .connect({ fetch: sent.fetch })
      .createPet(REX, { signal: AbortSignal.abort('no') });
    const failure = await failureOf(c, call);
    expectEqual([failure.code, failure.cause, failure.outcomeUnknown], ['aborted', 'no', false]);
    expectEqual(sent.requests.length, 0);
  },
  'a call that is aborted while it waits for the response ends': async (c) => {
    const controller = new AbortController();
    const sent = recording((input, init) => {
      const answer = fetch(input, init);
      controller.abort('enough');
      return answer;
    });
    const { signal } = controller;
    const failure = await failureOf(c, c.connect({ fetch: sent.fetch }).createPet(REX, { signal }));
    expectEqual([failure.code, failure.cause, failure.outcomeUnknown], ['aborted', 'enough', true]);
    expectEqual(sent.requests.length, 1);
  },
  'a call that is aborted while it pauses ends': async (c) => {
    const controller = new AbortController();
    const sent = recording(async () => {
      setTimeout(() => controller.abort('enough'), 20);
      return errorAnswer('rate_limited', 429, { 'Retry-After': '50' })();
    });
    const { signal } = controller;
    const failure = await failureOf(c, c.connect({ fetch: sent.fetch }).createPet(REX, { signal }));
    expectEqual(
      [failure.code, failure.outcomeUnknown, sent.requests.length],
      ['aborted', false, 1],
    );
  },
  'a response that is not from the store is an invalid_response': async (c) => {
    const portal = () => new Response('<h1>Log in</h1>', { status: 200 });
    const failure = await failureOf(c, c.connect({ fetch: answering(portal) }).createPet(REX));
    expectEqual(
      [failure.code, failure.status, failure.outcomeUnknown],
      ['invalid_response', 200, true],
    );
  },
};
