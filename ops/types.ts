/** `npm run types`: writes the types of the bindings and variables in wrangler.toml. */
import { createProgram, run } from './command-line.ts';
import { runWrangler } from './wrangler.ts';

export const program = createProgram(
  'npm run types --',
  'Writes worker-configuration.d.ts, the types of the bindings and variables in wrangler.toml.',
)
  .option('--check', 'write nothing, and fail if the file is out of date')
  .action(async ({ check }: { check?: boolean }) => {
    const options = ['--include-runtime=false', '--strict-vars=false'];
    await runWrangler(['types', ...options, ...(check ? ['--check'] : [])]);
    console.log('worker-configuration.d.ts is up to date.');
  });

if (import.meta.main) await run(program);
