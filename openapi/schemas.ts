/**
 * The parts of the description that resources share: the Error body, the parameters of a page,
 * and rules for every schema.
 */
import * as z from 'zod/mini';
import { type CreateDocumentOptions, createSchema } from 'zod-openapi';
import { STATUS_OF } from '../src/errors.ts';
import { After, LIMIT, Limit } from '../src/http/paging.ts';
import { VISIBLE } from '../src/http/schemas.ts';

/** No message is longer. */
const MAX_MESSAGE_LENGTH = 4096;

// Without examples: a tool that imitates the service would send the first one for every status.
export const ErrorBody = z
  .object({
    code: z.enum(Object.keys(STATUS_OF)).register(z.globalRegistry, {
      description: 'The machine-readable error code. Later versions may add codes.',
    }),
    message: z
      .string()
      .check(z.minLength(1), z.maxLength(MAX_MESSAGE_LENGTH))
      .register(z.globalRegistry, {
        description: 'The human-readable description. Its wording may change.',
      }),
    status: z
      .int32()
      .check(z.minimum(400), z.maximum(599))
      .register(z.globalRegistry, { description: 'The HTTP status of the response.' }),
  })
  .register(z.globalRegistry, {
    id: 'Error',
    description: 'The body of an error response.',
  });

Limit.register(z.globalRegistry, {
  description: 'Maximum number of items to return.',
  // In the worker, `limit` is a `z.number`, because `z.int32` would add 1 % to the bundle.
  override: { type: 'integer', format: 'int32', ...LIMIT },
});
After.register(z.globalRegistry, {
  description:
    'The id after which the page begins. To get the next page, use the URL in the `Link` header.',
});

/** The control characters, for a character class. */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';

/**
 * The characters up to U+FFFF that `VISIBLE` excludes, as ranges for a character class. Few tools
 * support the Unicode properties in the pattern of `VISIBLE`, such as `\p{Cf}`, and Go's do not
 * support `\u00ad`: so each character stands for itself, except white space, because a line
 * separator would end a RegExp literal in generated code.
 */
function invisibleRanges(): string {
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('');
  const invisibleRuns = all.match(new RegExp(`((?!${VISIBLE.source}|\\s)[^])+`, 'gu')) ?? [];
  // The first and the last character of a run. If they are the same, the Set has one.
  const ranges = invisibleRuns.map((run) => new Set([run.slice(0, 1), run.slice(-1)]));
  return `\\s${ranges.map((range) => Array.from(range).join('-')).join('')}`;
}

/** The pattern of a `textOf`: any characters but control characters, and one that is visible. */
const TEXT_PATTERN = `^[^${CONTROL}]*[^${CONTROL}${invisibleRanges()}][^${CONTROL}]*$`;

/**
 * The option `override` of `createDocument`: corrects and completes what zod derives from a schema.
 *
 * @param pageSchemas - the arrays that are pages of lists.
 */
export function overrideWith(
  pageSchemas: Set<unknown>,
): NonNullable<CreateDocumentOptions['override']> {
  return function override({ zodSchema, jsonSchema, io }) {
    const { def } = zodSchema._zod;
    // Later versions may add fields to responses.
    if (def.type === 'object' && io === 'output') delete jsonSchema.additionalProperties;
    if (def.type === 'array' && pageSchemas.has(zodSchema))
      Object.assign(jsonSchema, { minItems: 0, maxItems: LIMIT.maximum });
    // Without the range, which the format implies: tools in JavaScript would round it to numbers
    // beyond int64.
    if (def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' });
    if (def.type === 'number' && 'format' in def && def.format === 'int32')
      jsonSchema.format = 'int32';
    if (jsonSchema.pattern === VISIBLE.source) jsonSchema.pattern = TEXT_PATTERN;
    if (jsonSchema.format === 'date-time') {
      // The format replaces zod's long pattern. A time has milliseconds:
      // `2026-11-20T09:30:00.000Z`.
      delete jsonSchema.pattern;
      Object.assign(jsonSchema, { minLength: 24, maxLength: 24 });
    }
    // The `source` of a RegExp escapes slashes, which only a literal needs.
    if (jsonSchema.pattern) jsonSchema.pattern = jsonSchema.pattern.replaceAll('\\/', '/');
    if (def.type === 'pipe') {
      // A codec of a text in a path or a query is described as its value, such as an integer.
      delete jsonSchema.pattern;
      Object.assign(jsonSchema, createSchema(def.out, { opts: { override } }).schema);
    }
  };
}
