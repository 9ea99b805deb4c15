import { expect, test } from 'vitest';
import { withoutHash } from '../../ops/check-lock.ts';

test('a package without a hash is named, unless the registry did not offer it', () => {
  expect(
    withoutHash({
      '': { version: '1.0.0' },
      client: { version: '1.0.0' },
      'node_modules/animal-store-client': { link: true },
      'node_modules/hono': { version: '4.0.0', integrity: 'sha512-…' },
      'node_modules/zod': { version: '4.0.0' },
      'client/node_modules/typescript': { version: '5.0.0' },
      'node_modules/@biomejs/cli-darwin-x64': { version: '2.0.0' },
    }),
  ).toEqual(['node_modules/zod', 'client/node_modules/typescript']);
});
