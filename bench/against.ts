/** `node bench/against.ts COMMIT`: the CPU of a request to this worker ÷ that of another commit, each with its own stub bindings. */
import { randomUUID } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram, run } from '../ops/command/command-line.ts';
import { git } from '../ops/command/git.ts';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { race } from './race.ts';
import { build, STUBBED } from './servers.ts';

const program = createProgram(
  'node bench/against.ts',
  'Compares CPU per request with another commit, with the packages that are installed here.',
)
  .argument('<commit>')
  .action(async (commit: string) => {
    const checkout = join(tmpdir(), `animal-store-${randomUUID()}`);
    git('worktree', 'add', '--detach', checkout, commit);
    try {
      await symlink(join(PROJECT_ROOT, 'node_modules'), join(checkout, 'node_modules'), 'junction');
      console.log(await race(await build(STUBBED), await build(STUBBED, checkout), 0, 30));
    } finally {
      git('worktree', 'remove', '--force', checkout);
    }
  });
await run(program);
