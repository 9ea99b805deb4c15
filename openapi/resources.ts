/** Finds the descriptions of the resources: each file src/<resource>/description.ts exports one. */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ResourceDescription } from '../src/operation/resource-description.ts';

const SRC = join(import.meta.dirname, '../src');

export async function findResources(): Promise<ResourceDescription[]> {
  return Promise.all(globSync('*/description.ts', { cwd: SRC }).map(importDescription));
}

async function importDescription(path: string): Promise<ResourceDescription> {
  const { description } = await import(`../src/${dirname(path)}/description.ts`);
  if (!description) throw new Error(`src/${path} does not export \`description\``);
  return description;
}
