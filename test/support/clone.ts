/** A fresh clone of the project, not set up, whose commands reach a fake of Cloudflare. Needs git. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRepository } from './copy.ts';
import type { Cloudflare } from './fake-cloudflare.ts';
import { readPlaceholders } from './placeholders.ts';
import { copyFiles, createFolder } from './project.ts';

export async function cloneProject({ env }: Cloudflare) {
  const { folder, remove } = await createFolder();
  copyFiles(folder);
  writeFileSync(join(folder, 'wrangler.toml'), readPlaceholders());
  return { folder, env, git: createRepository(folder), remove };
}
