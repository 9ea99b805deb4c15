/** Invalid responses, and unusual but valid ones. */
import {
  all,
  answering,
  type Behaviour,
  errorAnswer,
  expectEqual,
  failureOf,
  recording,
} from './context.ts';

const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const ELSEWHERE = 'https://elsewhere.example/v1/pets';

/** A page without animals, with this `Link`. */
const linking = (link: string) => () => Response.json([], { headers: { Link: link } });

export const answers: Record<string, Behaviour> = {
  'a redirect is an invalid_response, and is not followed': async (c) => {
    const body = JSON.stringify({ code: 'not_found', message: 'a message' });
    for (const status of [301, 302, 303, 307, 308]) {
      const redirect = () => new Response(body, { status, headers: { Location: ELSEWHERE } });
      const sent = recording(answering(redirect));
      const failure = await failureOf(c, c.connect({ fetch: sent.fetch }).createPet(REX));
      expectEqual([failure.code, failure.status], ['invalid_response', status]);
      expectEqual(
        sent.requests.map((request) => request.redirect),
        ['manual'],
      );
    }
    expectEqual(await all(c.connect().listPets()), []);
  },
  'a redirect in a browser, which hides its status, is not retried': async (c) => {
    const opaque = () => Object.defineProperty(new Response(null), 'status', { value: 0 });
    const sent = recording(answering(opaque));
    const failure = await failureOf(c, c.connect({ fetch: sent.fetch }).listPets().page());
    expectEqual([failure.code, sent.requests.length], ['invalid_response', 1]);
  },
  'a body of another shape is an invalid_response': async (c) => {
    const json = (body: unknown) => () => Response.json(body);
    const none = () => new Response(null, { status: 204 });
    const store = (answer: () => Response) => c.connect({ fetch: answering(answer) });
    for (const call of [
      store(json({})).listPets().page(),
      store(json(null)).listOrders().page(),
      store(none).listPets().page(),
      store(none).createPet(REX),
      store(json([])).createPet(REX),
      store(json(null)).getHealth(),
      store(json('ok')).getHealth(),
      store(json({})).deletePet(1n),
    ])
      expectEqual((await failureOf(c, call)).code, 'invalid_response');
  },
  'an error body needs a code and a message': async (c) => {
    for (const body of [
      { code: 7, message: 'a message' },
      { code: 'not_found', message: null },
    ]) {
      const answer = () => Response.json(body, { status: 404 });
      const call = c.connect({ fetch: answering(answer) }).getHealth();
      expectEqual((await failureOf(c, call)).code, 'invalid_response');
    }
  },
  'the next page is found in every form of Link': async (c) => {
    const next = `${c.baseUrl}/pets?cursor=a,b`;
    for (const link of [
      `<${next}>; rel="next"`,
      `<${next}>;rel=next`,
      `<${next}>; title="; rel=prev, <x>"; REL="last Next"`,
      `<${ELSEWHERE}>; rel=prev, <${next}> ; rel = next; type="a"`,
      `<${ELSEWHERE}>; title="<y>; rel=next, \\"", <?cursor=a,b>; rel=next`,
      `<${new URL(next).pathname}?cursor=a,b>; rel=next`,
    ]) {
      const store = c.connect({ fetch: answering(linking(link)) });
      expectEqual((await store.listPets().page()).next, next);
    }
    for (const link of [`<${next}>; rel=nextish`, `<${next}>; title="; rel=next"`]) {
      const store = c.connect({ fetch: answering(linking(link)) });
      expectEqual((await store.listPets().page()).next, undefined);
    }
  },
  'a next page at another address is an invalid_response': async (c) => {
    for (const target of [
      ELSEWHERE,
      '//elsewhere.example/v1/pets',
      'http://',
      '/v1/store/orders',
    ]) {
      const sent = recording(answering(linking(`<${target}>; rel="next"`)));
      const store = c.connect({ fetch: sent.fetch });
      const failure = await failureOf(c, all(store.listPets()));
      expectEqual([failure.code, failure.status], ['invalid_response', 200]);
      expectEqual(sent.requests.length, 1);
    }
  },
  'a session continues from the primary after a write whose outcome is unknown': async (c) => {
    const stamped = (number: number) => () =>
      Response.json([], { headers: { 'X-D1-Bookmark': `0000000${number}-a` } });
    let answerLate = (_: Response) => {};
    const late = new Promise<Response>((resolve) => {
      answerLate = resolve;
    });
    const replies = [stamped(1), () => late, errorAnswer('internal_error', 500)];
    const sent = recording(async () => (replies.shift() ?? stamped(2))());
    const session = c.connect({ fetch: sent.fetch, maxAttempts: 1 }).session();
    await session.listPets().page();
    const inFlight = session.listPets().page();
    expectEqual((await failureOf(c, session.createPet(REX))).outcomeUnknown, true);
    expectEqual(session.bookmark, 'first-primary');
    answerLate(stamped(9)());
    await inFlight;
    expectEqual(session.bookmark, 'first-primary');
    await session.listPets().page();
    expectEqual(session.bookmark, '00000002-a');
    const bookmarks = sent.requests.map(({ headers }) => headers.get('X-D1-Bookmark'));
    expectEqual(bookmarks, ['first-primary', '00000001-a', '00000001-a', 'first-primary']);
  },
};
