/** A part of `npm run openapi`: writes what the client takes from the OpenAPI description. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProgram, run } from '../ops/command/command-line.ts';
import { generatedFiles } from './generated-files.ts';

const program = createProgram(
  'node client/generate.ts',
  "Writes the client's types, and the names of its 64-bit fields, from the OpenAPI description.",
).action(generateTypes);

await run(program);

/** Writes those of the files that differ from the description. `npm test` fails if one does (client/test/generated-files.test.ts). */
async function generateTypes(): Promise<void> {
  const description = join(import.meta.dirname, '../public/v1/openapi.json');
  const files = await generatedFiles(await readFile(description, 'utf8'));
  for (const [name, content] of Object.entries(files)) {
    const path = join(import.meta.dirname, name);
    const current = await readFile(path, 'utf8').catch(() => undefined);
    if (current === content) continue;
    await writeFile(path, content);
    console.log(`client/${name} is written.`);
  }
}
