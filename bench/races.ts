/** What runs against what. */
import { LOCAL_KEY } from '../ops/local-store.ts';
import type { Server } from './contenders.ts';
import type { Contender } from './load.ts';
import { CREATE, deepPage } from './scale.ts';

export type Race = { title: string; rounds: number; contenders: Contender[] };

/** Rounds of a race that a bar is set for, and of one that is not. */
const ROUNDS = 21;
const FEWER_ROUNDS = 9;

const headers = { authorization: `Bearer ${LOCAL_KEY}`, 'content-type': 'application/json' };

/** The store against the baseline, both with `pets` animals; `bare` is the baseline without its assets. */
export function racesOf(
  { store, baseline, bare }: Record<'store' | 'baseline' | 'bare', Server>,
  pets: number,
): Race[] {
  const ofStore = (name: string, path: string, more: Partial<Contender> = {}): Contender => ({
    ...{ name: `store, ${name}`, server: store, path, headers, status: 200 },
    ...more,
  });
  const ofBaseline = (name: string, path: string, more: Partial<Contender> = {}): Contender => ({
    ...{ name, server: baseline, path, headers, status: 200 },
    ...more,
  });
  const { body = '' } = CREATE;
  const create = { method: 'POST', body, status: 201 } as const;
  const withKey = (authorization: string) => ({ headers: { authorization }, status: 401 });

  return [
    {
      title: 'A list of 20',
      rounds: ROUNDS,
      contenders: [
        ofStore('list of 20', '/v1/pets?limit=20'),
        ofBaseline('(b) list of 20', '/list?limit=20'),
        ofBaseline('(c) list of 20', '/kv/list?limit=20'),
      ],
    },
    {
      title: 'A list of 100',
      rounds: ROUNDS,
      contenders: [
        ofStore('list of 100', '/v1/pets?limit=100'),
        ofBaseline('(b) list of 100', '/list?limit=100'),
        ofBaseline('(c) list of 100', '/kv/list?limit=100'),
      ],
    },
    {
      title: 'A create',
      rounds: ROUNDS,
      contenders: [
        ofStore('create', '/v1/pets', create),
        ofStore('create with Idempotency-Key', '/v1/pets', { ...create, isOnce: true }),
        ofBaseline('(b) create', '/create', create),
        ofBaseline('(c) create', '/kv/create', create),
      ],
    },
    {
      title: 'Other requests',
      rounds: FEWER_ROUNDS,
      contenders: [
        ofStore('list of 1', '/v1/pets?limit=1'),
        ofStore('list of 1, deep page', deepPage(pets, { limit: 1 })),
        ofStore('list of 1 sold', '/v1/pets?limit=1&status=sold'),
        ofStore('list of 1 sold, deep page', deepPage(pets, { limit: 1, status: 'sold' })),
        ofStore('list of 20, deep page', deepPage(pets)),
        ofStore('list of 20 sold', '/v1/pets?limit=20&status=sold'),
        ofStore('list of 20 sold, deep page', deepPage(pets, { status: 'sold' })),
        ofStore('list of 100, deep page', deepPage(pets, { limit: 100 })),
        ofStore('list of 100 sold', '/v1/pets?limit=100&status=sold'),
        ofStore('list of 100 sold, deep page', deepPage(pets, { limit: 100, status: 'sold' })),
        ofStore('get', '/v1/pets/1'),
        ofStore('refused: no key', '/v1/pets', { headers: {}, status: 401 }),
        ofStore('refused: garbage key', '/v1/pets', withKey('Bearer garbage')),
        ofStore('refused: bad query', '/v1/pets?limit=0', { status: 400 }),
        ofStore('refused: bad body', '/v1/pets', {
          ...create,
          body: '{"nmae":"Rex"}',
          status: 400,
        }),
        ofBaseline('(b) list of 1', '/list?limit=1'),
      ],
    },
    {
      title: 'The platform alone',
      rounds: FEWER_ROUNDS,
      contenders: [
        { ...ofBaseline('(a) constant, without assets', '/constant'), server: bare },
        ofBaseline('(a) constant', '/constant'),
        ofBaseline('(a) constant and a limiter call', '/limiter'),
        ofBaseline('(a) constant and a log line', '/log'),
        ofBaseline('(a) constant and a KV read', '/kv/constant'),
      ],
    },
  ];
}

/** A page deep in many animals against the first of few. */
export function raceOfSizes(sizes: { pets: number; server: Server }[]): Race {
  const contenders = sizes.flatMap(({ pets, server }) => {
    const among = `among ${pets.toLocaleString('en')}`;
    const base = { server, headers, status: 200 };
    return [
      { ...base, name: `first page ${among}`, path: '/v1/pets?limit=20' },
      { ...base, name: `deep page ${among}`, path: deepPage(pets) },
      { ...base, name: `deep page of sold ${among}`, path: deepPage(pets, { status: 'sold' }) },
    ];
  });
  return { title: 'Sizes', rounds: ROUNDS, contenders };
}
