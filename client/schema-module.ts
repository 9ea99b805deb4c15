/**
 * The types of the client as a module, from an OpenAPI description: every int64 is a `bigint`, and
 * every enum is open.
 */

type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
};
type Parameter = { name?: string; in?: string; description?: string; schema?: Schema };
type Description = {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>;
};

/** @throws Error that names a schema that the client's JSON would not read as its type says */
export function schemaModule({ components, paths }: Description): string {
  const { Error: error, ...schemas } = components.schemas;
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const types = {
    ...Object.fromEntries(Object.entries(schemas).filter(([, { type }]) => type !== 'array')),
    ...Object.fromEntries(operations.flatMap(querySchema)),
    ErrorCode: error?.properties?.code ?? {},
  };
  const declarations = Object.entries(types).map(
    ([name, schema]) => `${comment(schema)}export type ${name} = ${typeOf(schema)};\n`,
  );
  const names = int64Names(types).map((name) => `  '${name}',\n`);
  return [
    '/** From the OpenAPI description. Written by `npm run openapi`. */\n',
    `/** The names of the int64 fields. */\nexport const INT64_FIELDS: string[] = [\n${names.join('')}];\n`,
    ...declarations,
  ].join('\n');
}

/** The query of a list, without `after`: callers follow the pages. */
function querySchema({
  operationId,
  parameters = [],
}: {
  operationId: string;
  parameters?: Parameter[];
}) {
  const properties = parameters.flatMap(({ in: place, name = '', description, schema }) =>
    place === 'query' && name !== 'after' ? [[name, { ...schema, description }] as const] : [],
  );
  const name = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Query`;
  return properties.length > 0
    ? [[name, { type: 'object', properties: Object.fromEntries(properties) }] as const]
    : [];
}

/** A type and the names in it by which the client's JSON finds an int64 must agree. */
function int64Names(types: Record<string, Schema>): string[] {
  const fields = Object.values(types).flatMap(({ properties = {} }) => Object.entries(properties));
  const names = new Set(
    fields.filter(([, schema]) => typeOf(schema) === 'bigint').map(([name]) => name),
  );
  for (const [name, schema] of fields)
    if (names.has(name) !== typeOf(schema).includes('bigint'))
      throw new Error(
        `${name}: every field of this name must be an int64, and an int64 a plain field`,
      );
  return [...names];
}

function typeOf({
  $ref,
  type,
  format,
  enum: values,
  anyOf,
  items,
  properties,
  required,
}: Schema): string {
  if ($ref) return $ref.split('/').at(-1) ?? '';
  if (anyOf) return anyOf.map(typeOf).join(' | ');
  // Editors suggest the known values, and a newer service may send others.
  if (values) return [...values.map((value) => JSON.stringify(value)), '(string & {})'].join(' | ');
  if (items) return `(${typeOf(items)})[]`;
  if (properties) {
    const fields = Object.entries(properties).map(([name, schema]) =>
      required?.includes(name)
        ? `${comment(schema, '  ')}  ${name}: ${typeOf(schema)};\n`
        : `${comment(schema, '  ')}  ${name}?: ${typeOf(schema)} | undefined;\n`,
    );
    return `{\n${fields.join('')}}`;
  }
  if (type === 'integer') return format === 'int64' ? 'bigint' : 'number';
  return type ?? 'unknown';
}

function comment({ description }: Schema, indent = '') {
  return description ? `${indent}/** ${description} */\n` : '';
}
