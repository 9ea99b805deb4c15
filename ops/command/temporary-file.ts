import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Passes a path to `use`, which can create a file there, and deletes the file afterwards. */
export async function withTemporaryFile<Result>(
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = join(tmpdir(), `animal-store-${randomUUID()}.json`);
  try {
    return await use(path);
  } finally {
    await rm(path, { force: true });
  }
}
