/** Shelters, the example of "Adding a resource" in CONTRIBUTING.md, in a copy of the project, unless it has deleted them. Needs git. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { copyRepository } from '../support/copy.ts';

const PATCH = join(PROJECT_ROOT, 'test/ops/shelters.patch');
const [, guide = ''] = readFileSync('CONTRIBUTING.md', 'utf8').split('\n## Adding a resource\n');

test.skipIf(!existsSync(PATCH))(
  'shelters pass every check and test as the guide adds them, and leave nothing behind',
  async () => {
    const copy = await copyRepository();
    copy.git('apply', PATCH);
    copy.git('add', '--all');
    const changes = copy.git('diff', '--cached', '--numstat').trim().split('\n');
    const lines = changes.reduce((sum, line) => sum + Number.parseInt(line, 10), 0);
    console.log(`${changes.join('\n')}\n${changes.length} files and ${lines} lines`);
    expect(guide).toContain(`${changes.length} files and ${lines} lines`);
    // The code of the first steps.
    const blocks = guide.split('\n   A field rejects')[0]?.match(/(?<=^ {3}```\w+\n)[^`]+/gm) ?? [];
    const code = blocks.flatMap((block) => block.match(/\S.*/g) ?? []);
    expect(code.length).toBeGreaterThan(4);
    const written = copy.git('diff', '--cached').split('\n');
    expect(written).toEqual(expect.arrayContaining(code.map((line) => `+${line}`)));

    for (const line of ['run openapi', 'run check', 'test']) await copy.npm(line);
    copy.git('apply', '--reverse', '--index', PATCH);
    await copy.npm('run openapi');
    expect(copy.git('status', '--porcelain')).toBe('');
  },
);
