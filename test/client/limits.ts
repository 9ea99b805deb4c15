/** Options of a call and of the client: how they merge, and when they end a call. */
import {
  answering,
  type Behaviour,
  errorAnswer,
  expectEqual,
  type Fetch,
  failureOf,
  recording,
  silent,
} from './context.ts';

const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const unavailable = errorAnswer('service_unavailable', 503);

/** Fetches that ignore their signal: one never responds, one has a body that never ends. */
const DEAF: Fetch[] = [
  () => new Promise(() => {}),
  async () => Object.assign(new Response(), { text: () => new Promise(() => {}) }),
];

export const limits: Record<string, Behaviour> = {
  'an API key that is not a valid header value is rejected, and not shown': async (c) => {
    for (const apiKey of ['', 'no key', 'secret\n', 'sécret']) {
      let rejection: unknown;
      try {
        c.connect({ apiKey });
      } catch (error) {
        rejection = error;
      }
      expectEqual(String(rejection), 'TypeError: apiKey: must be printable ASCII without spaces');
    }
  },
  'the deadline and the signal end a call whose fetch ignores them': async (c) => {
    for (const fetch of DEAF) {
      const store = c.connect({ fetch });
      const late = await failureOf(c, store.createPet(REX, { deadlineMs: 20 }));
      expectEqual([late.code, late.outcomeUnknown], ['deadline_exceeded', true]);
      const controller = new AbortController();
      const call = store.getHealth({ signal: controller.signal });
      controller.abort('enough');
      const aborted = await failureOf(c, call);
      expectEqual([aborted.code, aborted.cause], ['aborted', 'enough']);
    }
  },
  'an undefined option of a call keeps the option of the client': async (c) => {
    const none = {
      deadlineMs: undefined,
      maxAttempts: undefined,
      signal: undefined,
      idempotencyKey: undefined,
    };
    const sent = recording(answering(unavailable, unavailable));
    await failureOf(c, c.connect({ fetch: sent.fetch, maxAttempts: 1 }).createPet(REX, none));
    expectEqual(sent.requests.length, 1);
    expectEqual(sent.requests[0]?.headers.get('Idempotency-Key')?.length, 32);
    const late = c.connect({ fetch: silent, deadlineMs: 20 }).getHealth(none);
    expectEqual((await failureOf(c, late)).code, 'deadline_exceeded');
    const aborted = c.connect({ signal: AbortSignal.abort('no') }).getHealth(none);
    expectEqual((await failureOf(c, aborted)).code, 'aborted');
  },
  'the signals of the client and of the call both end it': async (c) => {
    const other = new AbortController().signal;
    const ended = AbortSignal.abort('no');
    for (const [ofClient, ofCall] of [
      [ended, other],
      [other, ended],
    ]) {
      const call = c.connect({ signal: ofClient }).getHealth({ signal: ofCall });
      const failure = await failureOf(c, call);
      expectEqual([failure.code, failure.cause], ['aborted', 'no']);
    }
  },
  'with maxAttempts NaN there is one attempt': async (c) => {
    const sent = recording(answering(unavailable, unavailable));
    const store = c.connect({ fetch: sent.fetch, maxAttempts: Number.NaN });
    await failureOf(c, store.getHealth());
    expectEqual(sent.requests.length, 1);
  },
  'a pause longer than the maximum of a timer is not started': async (c) => {
    const limited = errorAnswer('rate_limited', 429, { 'Retry-After': '9999999' });
    const sent = recording(answering(limited));
    const store = c.connect({ fetch: sent.fetch, deadlineMs: Number.POSITIVE_INFINITY });
    expectEqual((await failureOf(c, store.getHealth())).code, 'rate_limited');
    expectEqual(sent.requests.length, 1);
  },
  'an undefined field of a patch is not sent': async (c) => {
    const rex = await c.connect().createPet(REX);
    // A caller without exactOptionalPropertyTypes.
    const patch = Object.assign({ name: 'Max' }, { categoryId: undefined });
    const store: { updatePet(id: bigint, patch: object): PromiseLike<unknown> } = c.connect();
    expectEqual(await store.updatePet(1n, patch), { ...rex, name: 'Max' });
  },
};
