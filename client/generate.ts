/**
 * A part of `npm run openapi`: writes src/schema.ts, the client's types, from the OpenAPI
 * description.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { schemaModule } from './schema-module.ts';

const description = join(import.meta.dirname, '../public/openapi.json');
const path = join(import.meta.dirname, 'src/schema.ts');
const content = schemaModule(JSON.parse(await readFile(description, 'utf8')));
if (content !== (await readFile(path, 'utf8').catch(() => undefined))) {
  await writeFile(path, content);
  console.log('client/src/schema.ts is written: the client needs a new version.');
}
