/** The table of the error codes, which stands in docs/api.md and is copied to the description. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATUS_OF } from '../src/errors.ts';

const DOCUMENT = join(import.meta.dirname, '../docs/api.md');

/** @throws Error when the table lacks an error code, or shows another status. */
export function codesTable(): string {
  const [table = ''] = readFileSync(DOCUMENT, 'utf8').match(/^\| status \| `code`(.+\n)+/m) ?? [];
  for (const [code, status] of Object.entries(STATUS_OF)) {
    if (!new RegExp(`^\\| ${status} +\\| \`${code}\` `, 'm').test(table))
      throw new Error(
        `the table in docs/api.md must have the error code ${code}, status ${status}`,
      );
  }
  return table;
}
