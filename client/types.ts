/**
 * The client's types of an OpenAPI description: `schema.d.ts`, in which every int64 is a `bigint` and every list of values
 * is open, and `names.d.ts`, a name for each schema and for the query of each list.
 */
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const { factory, SyntaxKind } = ts;

/** With exactOptionalPropertyTypes, `status: pet.status` fits only a type with `undefined`. */
const OPTIONAL_FIELD = /^( +\w+\?: (?!never).*[^{]);$/gm;

/** Where a page begins: callers follow the `next` of a page instead. */
const PAGE_PARAMETERS = ['after'];

/** The contents of the files by their names. */
export async function typesOf(text: string): Promise<Record<string, string>> {
  const int64Fields = new Set<string>();
  const description = JSON.parse(text, (name, value) => {
    if (name === 'properties') {
      for (const [field, schema] of Object.entries(value))
        if (isInt64(Object(schema))) int64Fields.add(field);
    }
    // A parameter can have `content` in place of `schema`.
    if (value?.in === 'path' && isInt64(Object(value.schema))) int64Fields.add(value.name);
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
  const fields = [...int64Fields];
  // In the examples of doc comments, `"id": 7` must be `"id": 7n` to be TypeScript.
  const exampleOfInt64 = new RegExp(`^( +\\* +"(?:${fields.join('|')})": -?\\d+)`, 'gm');
  const schema = astToString(nodes)
    .replaceAll(exampleOfInt64, '$1n')
    .replaceAll(OPTIONAL_FIELD, '$1 | undefined;');
  return {
    'schema.d.ts': `${COMMENT_HEADER}${schema}
/** The fields and parameters that are an int64. */
export type Int64Field = ${fields.map((name) => `'${name}'`).join(' | ')};
`,
    'names.d.ts': `/** Names for the types of the description. Written by \`npm run client:types\`. */
import type { components, operations } from './schema.d.ts';

type Query<O extends keyof operations> = NonNullable<operations[O]['parameters']['query']>;

${[...schemaNames(description), ...queryNames(description)].join('')}
// Without this line, \`Query\` would be exported, too.
export {};
`,
  };
}

type Int64 = { format?: string; anyOf?: Int64[] };

/** Also a nullable one. */
const isInt64 = ({ format, anyOf = [] }: Int64): boolean =>
  format === 'int64' || anyOf.some(isInt64);

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

type Operation = { operationId: string; parameters?: { name: string; in: string }[] };
type Description = {
  components: { schemas: object };
  paths: Record<string, { get?: Operation }>;
};

/** Not `Error`, which would hide the global one. */
function schemaNames({ components }: Description): string[] {
  return Object.keys(components.schemas)
    .filter((name) => name !== 'Error')
    .map((name) => `export type ${name} = components['schemas']['${name}'];\n`);
}

function queryNames({ paths }: Description): string[] {
  const reads = Object.values(paths).flatMap(({ get }) => get ?? []);
  return reads.map(({ operationId, parameters = [] }) => {
    const inQuery = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    const given = inQuery.filter((name) => !PAGE_PARAMETERS.includes(name));
    const fields = given.map((name) => `'${name}'`).join(' | ');
    const type = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Query`;
    return fields && `export type ${type} = Pick<Query<'${operationId}'>, ${fields}>;\n`;
  });
}
