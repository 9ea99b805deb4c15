import { expect, test } from 'vitest';
import { copyProject } from './project.ts';

const project = copyProject();

test.each([
  ['start.ts', []],
  ['reset.ts', []],
  ['keys.ts', ['list']],
  ['writes.ts', ['stop']],
  ['release.ts', ['status']],
  ['openapi.ts', ['--check']],
  ['check-bundle.ts', []],
  ['seed.ts', ['--pets', '1']],
])(
  '%s %j fails in one line while CLOUDFLARE_ENV is set, and does nothing',
  async (script, args) => {
    const result = await project.run(script, args, { CLOUDFLARE_ENV: 'production' });
    expect(result).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: CLOUDFLARE_ENV is set (to "production"). Unset it and use --env instead.\n',
    });
  },
);
