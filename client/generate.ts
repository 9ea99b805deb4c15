/**
 * Writes what the client takes from the OpenAPI description. With `--check` it writes nothing, and fails if a file is out of
 * date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { typesOf } from './types.ts';

const args = process.argv.slice(2);
if (args.some((arg) => arg !== '--check')) {
  console.error('error: the only option is --check');
  process.exit(2);
}

const description = readFileSync(join(import.meta.dirname, '../public/v1/openapi.json'), 'utf8');

try {
  for (const [name, content] of Object.entries(await typesOf(description))) {
    const path = join(import.meta.dirname, name);
    if (!args.includes('--check')) writeFileSync(path, content);
    else if (!existsSync(path) || content !== readFileSync(path, 'utf8'))
      throw new Error(`client/${name} is out of date. Run: npm run client:types`);
  }
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
