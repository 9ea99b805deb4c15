/**
 * Writes the client's types of the OpenAPI description: `schema.d.ts`, in which every int64 is a `bigint` and every list of
 * values is open, and `names.d.ts`, a name for each schema and for the query of each list. With `--check` it writes
 * nothing, and fails if a file is out of date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const DESCRIPTION = join(import.meta.dirname, '../public/v1/openapi.json');

const { factory, SyntaxKind } = ts;

/** The known values and any other string, which a newer service may have added. Editors still suggest the known ones. */
function openUnion(values: string[]): ts.TypeNode {
  const known = values.map((value) =>
    factory.createLiteralTypeNode(factory.createStringLiteral(value)),
  );
  const anyString = factory.createIntersectionTypeNode([
    factory.createKeywordTypeNode(SyntaxKind.StringKeyword),
    factory.createTypeLiteralNode([]),
  ]);
  return factory.createUnionTypeNode([...known, anyString]);
}

/** The names of fields and of parameters. */
const int64Fields = new Set<string>();
const description = JSON.parse(readFileSync(DESCRIPTION, 'utf8'), (name, value) => {
  if (value?.format === 'int64' && name !== 'schema') int64Fields.add(name);
  if (value?.in === 'path' && value.schema?.format === 'int64') int64Fields.add(value.name);
  return value;
});
const nodes = await openapiTypescript(description, {
  transform(schema, { path }) {
    if (schema.format === 'int64') return factory.createKeywordTypeNode(SyntaxKind.BigIntKeyword);
    // The client's own type of codes adds any other string to those of the service.
    if (!schema.enum || path === '#/components/schemas/Error') return undefined;
    return openUnion(schema.enum.map(String));
  },
});
/** In the examples of doc comments, `"id": 7` must be `"id": 7n` to be TypeScript. */
const exampleOfInt64 = new RegExp(`^( +\\* +"(?:${[...int64Fields].join('|')})": -?\\d+)`, 'gm');
/** With exactOptionalPropertyTypes, `status: pet.status` fits only a type with `undefined`. */
const optionalField = /^( +\w+\?: (?!never).*[^{]);$/gm;

/** Not `Error`, which would hide the global one. */
const names = Object.keys(description.components.schemas)
  .filter((name) => name !== 'Error')
  .map((name) => `export type ${name} = components['schemas']['${name}'];\n`);

/** Where a page begins: callers follow the `next` of a page instead. */
const PAGE_PARAMETERS = ['after'];
type Described = { operationId: string; parameters?: { name: string; in: string }[] };
const queries = Object.values<Record<string, Described>>(description.paths)
  .flatMap((path) => path.get ?? [])
  .map(({ operationId, parameters = [] }) => {
    const inQuery = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    const given = inQuery.filter((name) => !PAGE_PARAMETERS.includes(name));
    const fields = given.map((name) => `'${name}'`).join(' | ');
    const type = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Query`;
    return fields && `export type ${type} = Pick<Query<'${operationId}'>, ${fields}>;\n`;
  });

const int64Names = [...int64Fields].map((name) => `'${name}'`).join(' | ');
const schema = astToString(nodes)
  .replaceAll(exampleOfInt64, '$1n')
  .replaceAll(optionalField, '$1 | undefined;');

const files = {
  'schema.d.ts': `${COMMENT_HEADER}${schema}
/** The fields and parameters that are an int64. */
export type Int64Field = ${int64Names};
`,
  'names.d.ts': `/** Names for the types of the description. Written by \`npm run client:types\`. */
import type { components, operations } from './schema.d.ts';

type Query<O extends keyof operations> = NonNullable<operations[O]['parameters']['query']>;

${[...names, ...queries].join('')}
// Without this line, \`Query\` would be exported, too.
export {};
`,
};

for (const [name, content] of Object.entries(files)) {
  const path = join(import.meta.dirname, name);
  if (!process.argv.includes('--check')) writeFileSync(path, content);
  else if (!existsSync(path) || content !== readFileSync(path, 'utf8')) {
    console.error(`client/${name} is out of date: run \`npm run client:types\``);
    process.exitCode = 1;
  }
}
