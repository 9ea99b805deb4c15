/**
 * Writes `schema.d.ts`, the types of the OpenAPI description; every int64 is a `bigint`. With `--check` it
 * writes nothing, and fails if the file is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const DESCRIPTION = join(import.meta.dirname, '../public/v1/openapi.json');
const TYPES = join(import.meta.dirname, 'schema.d.ts');

const nodes = await openapiTypescript(readFileSync(DESCRIPTION, 'utf8'), {
  transform: ({ format }) =>
    format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined,
});
const types = `${COMMENT_HEADER}${astToString(nodes)}`;

if (!process.argv.includes('--check')) writeFileSync(TYPES, types);
else if (types !== readFileSync(TYPES, 'utf8')) {
  console.error('client/schema.d.ts is out of date: run `npm run client:types`');
  process.exitCode = 1;
}
