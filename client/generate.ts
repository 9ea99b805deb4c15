/**
 * Writes what the client takes from the OpenAPI description: `schema.d.ts`, its types, in which every int64 is a
 * `bigint`, and `src/version.ts`. With `--check` it writes nothing, and fails if a file is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const DESCRIPTION = join(import.meta.dirname, '../public/v1/openapi.json');

const int64Fields = new Set<string>();
const description = JSON.parse(readFileSync(DESCRIPTION, 'utf8'), (name, value) => {
  if (value?.format === 'int64') int64Fields.add(name);
  return value;
});
const nodes = await openapiTypescript(description, {
  transform: ({ format }) =>
    format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined,
});
/** In the examples of doc comments, `"id": 7` must be `"id": 7n` to be TypeScript. */
const exampleOfInt64 = new RegExp(`^( +\\* +"(?:${[...int64Fields].join('|')})": -?\\d+)`, 'gm');

const files = {
  'schema.d.ts': `${COMMENT_HEADER}${astToString(nodes)}`.replaceAll(exampleOfInt64, '$1n'),
  'src/version.ts': `/** The version of the description. Written by generate.ts. */
export const VERSION = '${description.info.version}';
`,
};

for (const [name, content] of Object.entries(files)) {
  const path = join(import.meta.dirname, name);
  if (!process.argv.includes('--check')) writeFileSync(path, content);
  else if (content !== readFileSync(path, 'utf8')) {
    console.error(`client/${name} is out of date: run \`npm run client:types\``);
    process.exitCode = 1;
  }
}
