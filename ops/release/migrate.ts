/** Bringing a database up to date before the code that needs it, and noting how it was before. */
import { migrationNames } from './bundle.ts';
import { appliedMigrations, applyMigrations, bookmark } from './database.ts';
import type { Steps } from './steps.ts';
import type { Target } from './target.ts';

/**
 * Applies the migrations of dist/ that have not run; `folder` is where their names are read from.
 *
 * @returns D1's bookmark of before.
 */
export async function migrate(target: Target, folder: string, steps: Steps): Promise<string> {
  const before = await steps.look(
    'note where Time Travel can take the database back to',
    () => bookmark(target),
    (found) => `bookmark ${found}`,
  );
  const pending = await steps.look(
    'look for migrations that have not run',
    async () => pendingMigrations(await appliedMigrations(target), folder),
    (names) => names.join(', ') || 'none',
  );
  if (pending.length > 0) {
    const apply = () =>
      applyMigrations(target).catch((error: Error) => {
        const { environment } = target;
        throw new Error(
          `a migration failed on ${environment} (of ${pending.join(', ')}; status tells which have run): ${error.message}`,
        );
      });
    await steps.take(`apply ${pending.join(', ')}`, apply, undefined);
  }
  return before;
}

/** The migrations in a folder that are not among those that have run. */
export async function pendingMigrations(applied: string[], folder: string): Promise<string[]> {
  const names = await migrationNames(folder);
  return names.filter((name) => !applied.includes(name));
}
