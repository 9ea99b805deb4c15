import { join } from 'node:path';

/** The folder of this project, in which wrangler runs. */
export const PROJECT_ROOT = join(import.meta.dirname, '../..');
