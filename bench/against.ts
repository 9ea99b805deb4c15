/**
 * `npm run bench:against -- COMMIT`: CPU per request to this worker ÷ that of another commit, each with its own stub bindings. Exit
 * code 1 when a ratio is above 1.05.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram, run } from '../ops/command/command-line.ts';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { compareWithoutPlatform, STUBBED } from './comparisons.ts';
import { isMissed, thresholdTable } from './page.ts';
import { build } from './servers.ts';

const program = createProgram(
  'npm run bench:against --',
  'Compares CPU per request with another commit, with the packages that are installed here.',
)
  .argument('<commit>')
  .action(async (commit: string) => {
    const checkout = await mkdtemp(join(tmpdir(), 'animal-store-'));
    try {
      git('worktree', 'add', '--detach', checkout, commit);
      await symlink(join(PROJECT_ROOT, 'node_modules'), join(checkout, 'node_modules'), 'junction');
      const section = await compareWithoutPlatform(await build(STUBBED, checkout), 1.05);
      console.log(thresholdTable({ [commit]: section }));
      if (section.figures.some(isMissed)) process.exitCode = 1;
    } finally {
      await rm(checkout, { recursive: true });
      git('worktree', 'prune');
    }
  });
await run(program);

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: PROJECT_ROOT, stdio: 'pipe' });
}
