/** Every error code of the store. Its own tests check when it sends each of them. */
import { expect, test } from 'vitest';
import type { ServiceErrorCode } from '../../client/src/index.ts';
import { STATUS_OF } from '../../src/errors.ts';
import { README } from './documents.ts';
import { clientWith, problem, REX } from './fake.ts';

const CODES: [string, number][] = Object.entries(
  STATUS_OF satisfies Record<ServiceErrorCode, number>,
);

test.each(CODES)('%s is a StoreError with this code', async (code, status) => {
  const { store } = clientWith([problem(status, code)], { maxAttempts: 1 });
  await expect(store.createPet(REX)).rejects.toMatchObject({
    name: 'StoreError',
    message: 'a message',
    ...{ code, status, requestId: `id-${status}`, outcomeUnknown: status >= 500 },
    body: { code, message: 'a message', status },
  });
});

test('README.md lists these codes, in this order', () => {
  const [, list = ''] = /`code` is one of the store \((.*?)\)/s.exec(README) ?? [];
  const listed = Array.from(list.matchAll(/`(\w+)`/g), ([, code]) => code);
  expect(listed).toEqual(CODES.map(([code]) => code));
});
