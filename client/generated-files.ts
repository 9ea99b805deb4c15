/**
 * What the client takes from an OpenAPI description: `schema.d.ts`, the types of its callers, in which every int64 is a
 * `bigint` and every enum but `ServiceErrorCode` is open, and `src/description.ts`, the names of its int64 fields.
 */
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

const { factory, SyntaxKind } = ts;

/** With exactOptionalPropertyTypes, `status: pet.status` fits only a type with `undefined`. */
const OPTIONAL_FIELD = /^( +\w+\?: (?!never).*[^{]);$/gm;

const REFERENCE = /components\["schemas"\]\["(\w+)"\]/g;

/** The parameters for the start of a page. They are left out: callers follow the `next` of a page. */
const PAGE_PARAMETERS = ['after'];

type Schema = {
  type?: string | string[];
  format?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  default?: unknown;
};
type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
};
type Operation = { operationId: string; parameters?: (Parameter | { $ref: string })[] };
type Description = {
  components: { schemas: Record<string, Schema>; parameters?: Record<string, Parameter> };
  paths: Record<string, Record<string, Operation>>;
};

/**
 * The contents of the files by their names.
 *
 * @throws Error that names the place of an int64 outside fields and parameters, or of a field of another type with an int64's name
 */
export async function generatedFiles(text: string): Promise<Record<string, string>> {
  const description: Description = JSON.parse(text);
  const int64Names = int64NamesIn(description);
  return {
    'schema.d.ts': await schemaOf(description, int64Names),
    'src/description.ts': moduleOf(int64Names),
  };
}

// ---------------------------------------------------------------------------------------- the names of int64 fields

type Field = { name: string; place: string; isInt64: boolean };

function int64NamesIn(description: Description): string[] {
  const fields = fieldsIn(description, '#');
  const names = new Set(fields.filter(({ isInt64 }) => isInt64).map(({ name }) => name));
  const other = fields.find(({ name, isInt64 }) => names.has(name) && !isInt64);
  if (other) throw new Error(`${other.place}: must be an int64, as other fields of this name are`);
  return [...names];
}

/** The fields of all objects, and the int64 parameters of paths. */
function fieldsIn(value: unknown, place: string): Field[] {
  if (!(value instanceof Object)) return [];
  // An int64 of a query, such as `after`, is in no response and no body.
  if ('in' in value && 'name' in value && 'schema' in value && isInt64(Object(value.schema)))
    return value.in === 'path' ? [{ name: String(value.name), place, isInt64: true }] : [];
  if ('format' in value && value.format === 'int64')
    throw new Error(
      `${place}: an int64 must be an integer that is a field or parameter, not an item of one`,
    );
  return Object.entries(value).flatMap(([key, child]) => {
    const inside = `${place}/${key}`;
    return key === 'properties' ? propertiesIn(child, inside) : fieldsIn(child, inside);
  });
}

function propertiesIn(properties: Record<string, Schema>, place: string): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const field = { name, place: `${place}/${name}`, isInt64: isInt64(schema) };
    return field.isInt64 ? [field] : [field, ...fieldsIn(schema, field.place)];
  });
}

/** Also a nullable one, which zod describes as `anyOf`. */
function isInt64({ type, format, anyOf = [] }: Schema): boolean {
  if (anyOf.some(isInt64)) return anyOf.every((each) => isInt64(each) || each.type === 'null');
  return format === 'int64' && type === 'integer';
}

// ---------------------------------------------------------------------------------------- the files

function moduleOf(int64Names: string[]): string {
  return `/** From the OpenAPI description. Written by \`npm run openapi\`. */

/** The names of the int64 fields, and of int64 parameters of paths. */
// biome-ignore format: a new field is a new line
export const INT64_FIELDS: string[] = [
${int64Names.map((name) => `  '${name}',\n`).join('')}];
`;
}

async function schemaOf(description: Description, int64Names: string[]): Promise<string> {
  const components = { schemas: usedSchemas(description) };
  const nodes = await openapiTypescript(JSON.stringify({ ...DOCUMENT, components }), {
    // A caller may omit what has a default.
    defaultNonNullable: false,
    transform(schema, { path }) {
      if (schema.format === 'int64') return factory.createKeywordTypeNode(SyntaxKind.BigIntKeyword);
      // The client's own type of codes adds any other string to those of the service.
      if (!schema.enum || path === '#/components/schemas/ServiceErrorCode') return undefined;
      return openUnion(schema.enum.map(String));
    },
  });
  // In the examples of doc comments, `"id": 7` must be `"id": 7n` to be TypeScript.
  const exampleOfInt64 = new RegExp(`^( +\\* +"(?:${int64Names.join('|')})": -?\\d+)`, 'gm');
  const types = astToString(nodes.flatMap(declarationsIn))
    .replaceAll(REFERENCE, '$1')
    .replaceAll(exampleOfInt64, '$1n')
    .replaceAll(OPTIONAL_FIELD, '$1 | undefined;');
  return COMMENT_HEADER + types;
}

const DOCUMENT = { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} };

/** The schemas that callers need. Arrays and `Error` are left out: a list is a `Pages`, and an error a `StoreError`. */
function usedSchemas({ components, paths }: Description): Record<string, Schema> {
  const { Error: error, ...others } = components.schemas;
  const schemas = Object.entries(others).filter(([, { type }]) => type !== 'array');
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const queries = operations.flatMap(({ operationId, parameters = [] }) => {
    const own = parameters.flatMap((each) =>
      '$ref' in each ? (components.parameters?.[each.$ref.split('/').at(-1) ?? ''] ?? []) : each,
    );
    return querySchema(operationId, own);
  });
  return {
    ...Object.fromEntries([...schemas, ...queries]),
    ServiceErrorCode: error?.properties?.code ?? {},
  };
}

/** The query of a list as a schema, with its name. */
function querySchema(operationId: string, parameters: Parameter[]): [string, Schema][] {
  const inQuery = parameters.filter((each) => each.in === 'query');
  const given = inQuery.filter(({ name }) => !PAGE_PARAMETERS.includes(name));
  const properties = given.map(({ name, schema, description }) => {
    if (name === 'limit') return [name, limitSchema(schema)];
    return [name, { description, ...schema }];
  });
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: given.filter(({ required }) => required).map(({ name }) => name),
  };
  const name = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Query`;
  return given.length > 0 ? [[name, schema]] : [];
}

/** The client's own text: `for await` and `toArray()` continue with the next page, and so return more than `limit` items. */
function limitSchema({ type, default: pageDefault }: Schema) {
  const defaults = `100 with \`for await\` and \`toArray()\`, ${pageDefault} with \`page()\``;
  return { type, description: `Maximum number of items in a page. Default: ${defaults}.` };
}

/** A declaration of each schema. An object becomes an interface, because editors show an interface by its name. */
function declarationsIn(node: ts.Node): ts.Node[] {
  if (!ts.isInterfaceDeclaration(node) || node.name.text !== 'components') return [];
  const [schemas] = node.members;
  if (!schemas || !ts.isPropertySignature(schemas)) return [];
  const members = schemas.type && ts.isTypeLiteralNode(schemas.type) ? schemas.type.members : [];
  return members.flatMap((member) => (ts.isPropertySignature(member) ? declarationOf(member) : []));
}

function declarationOf(member: ts.PropertySignature): ts.Node[] {
  const { name, type } = member;
  if (!type || !ts.isIdentifier(name)) return [];
  const modifiers = [factory.createModifier(SyntaxKind.ExportKeyword)];
  const declaration = ts.isTypeLiteralNode(type)
    ? factory.createInterfaceDeclaration(modifiers, name, undefined, undefined, type.members)
    : factory.createTypeAliasDeclaration(modifiers, name, undefined, type);
  const comments = ts.getSyntheticLeadingComments(member);
  return [ts.setSyntheticLeadingComments(declaration, comments)];
}

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
