import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { copyProject } from './project.ts';

const project = copyProject();
beforeAll(() =>
  cp(join(PROJECT_ROOT, 'bench'), join(project.path(), 'bench'), { recursive: true }),
);

test.each([
  ['start.ts', []],
  ['reset.ts', []],
  ['keys.ts', ['list']],
  ['writes.ts', ['stop']],
  ['example.ts', []],
  ['release.ts', ['status']],
  ['openapi.ts', ['--check']],
  ['check-bundle.ts', []],
  ['../bench/seed.ts', ['--pets', '1']],
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
