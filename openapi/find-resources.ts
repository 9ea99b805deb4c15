/** Finds the descriptions of the resources: every file in openapi/resources/ exports one. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { app } from '../src/app.ts';
import { VERSION_PATH } from '../src/http/responses.ts';
import type { ResourceDescription } from './describe.ts';

/** The descriptions, in the order of the routes. The docs page has the same order. */
export async function findResources(): Promise<ResourceDescription[]> {
  const files = readdirSync(join(import.meta.dirname, 'resources'));
  const names = files.filter((file) => file.endsWith('.ts')).map((file) => basename(file, '.ts'));
  const resources = await Promise.all(names.map(importResource));
  return resources.toSorted((a, b) => firstRoute(a) - firstRoute(b));
}

async function importResource(name: string): Promise<ResourceDescription> {
  const { resource } = await import(`./resources/${name}.ts`);
  if (!resource) throw new Error(`openapi/resources/${name}.ts does not export \`resource\``);
  return resource;
}

/** The index of the resource's first route among all routes. `describeApi` rejects a resource without a route. */
function firstRoute({ paths }: ResourceDescription): number {
  const routed = Object.keys(paths).map(
    (path) => VERSION_PATH + path.replaceAll(/\{(\w+)\}/g, ':$1'),
  );
  return app.routes.findIndex(({ path }) => routed.includes(path));
}
