/** `npm run seed`: adds sample data to the local store, even while it is served. */
import { createProgram, integerFrom, run } from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { LOCAL_ENV } from './command/wrangler.ts';
import { addPets } from './local/sample-data.ts';
import { setUpLocalStore } from './local/store.ts';

export const program = createProgram('npm run seed --', 'Adds animals to the local store.')
  .requiredOption('--pets <number>', 'number of animals', integerFrom(1, 1_000_000))
  .action(async ({ pets }: { pets: number }) => {
    await setUpLocalStore();
    // Wrangler runs in this process, and looks for the store in the current folder.
    process.chdir(PROJECT_ROOT);
    Object.assign(process.env, LOCAL_ENV);
    // Imported only here, because loading wrangler would delay the error for invalid arguments.
    const { getPlatformProxy } = await import('wrangler');
    const { env, dispose } = await getPlatformProxy<Env>({
      configPath: 'wrangler.toml',
      // The top level of wrangler.toml, even if CLOUDFLARE_ENV is set.
      environment: '',
    });
    try {
      await addPets(env.DB, pets);
    } finally {
      await dispose();
    }
    console.log(`${pets} animals were added.`);
  });

if (import.meta.main) await run(program);
