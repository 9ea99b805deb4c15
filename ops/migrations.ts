/** What wrangler does not say by its exit code about migrations. */
import { safeMessage } from './command/command-line.ts';

/**
 * When D1 answers that a statement had no success, wrangler goes on, and exits with 0.
 *
 * @throws Error if the output of `wrangler d1 migrations apply` shows a failed migration.
 */
export function requireMigrated(output: string): void {
  if (output.includes('❌')) throw new Error(`a migration failed: ${safeMessage(output)}`);
}
