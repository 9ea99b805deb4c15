/** What the schemas of all resources have in common in the description. */
import * as z from 'zod/mini';
import { type CreateDocumentOptions, createSchema } from 'zod-openapi';
import { STATUS_OF } from '../src/errors.ts';
import { After, LIMIT, Limit } from '../src/http/paging.ts';
import { VISIBLE } from '../src/http/schemas.ts';

/** Greater than the length of the longest message. */
const MAX_MESSAGE = 4096;

export const ErrorBody = z.object({
  code: z.enum(Object.keys(STATUS_OF)).register(z.globalRegistry, {
    description: 'The machine-readable error code. One of a closed set.',
  }),
  message: z.string().check(z.minLength(1), z.maxLength(MAX_MESSAGE)).register(z.globalRegistry, {
    description: 'The human-readable description. Its wording may change.',
  }),
  status: z
    .int32()
    .check(z.minimum(400), z.maximum(599))
    .register(z.globalRegistry, { description: 'The HTTP status of the response.' }),
});

Limit.register(z.globalRegistry, {
  description: 'Maximum number of items to return.',
  // In the worker it is `z.number`, because `z.int32` would add 1 % to the bundle.
  override: { type: 'integer', format: 'int32' },
});
After.register(z.globalRegistry, {
  description:
    'The id after which the page begins. Follow the `Link` header of the previous page instead of setting it.',
});

/** Control characters, for a class in a regular expression. */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';

/**
 * The characters up to U+FFFF that `VISIBLE` excludes, for a class in a regular expression. Few tools support the Unicode
 * classes of `VISIBLE` in patterns.
 */
function invisibleRanges(): string {
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('');
  const runs = all.match(new RegExp(`((?!${VISIBLE.source})[^])+`, 'gu')) ?? [];
  const asEscape = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // The first and the last character of a run, which are the same if there is only one.
  const ranges = runs.map((run) => new Set([run.slice(0, 1), run.slice(-1)]));
  return ranges.map((range) => Array.from(range, asEscape).join('-')).join('');
}

/** The pattern of a text of `textOf`. */
const TEXT_PATTERN = `^[^${CONTROL}]*[^${CONTROL}${invisibleRanges()}][^${CONTROL}]*$`;

/**
 * Describes what zod cannot derive.
 *
 * @param pages - the schemas of the pages of lists.
 */
export function overrideWith(pages: Set<unknown>): NonNullable<CreateDocumentOptions['override']> {
  return function override({ zodSchema, jsonSchema, io }) {
    const { def } = zodSchema._zod;
    // Later versions may add fields to responses.
    if (def.type === 'object' && io === 'output') delete jsonSchema.additionalProperties;
    if (def.type === 'array' && pages.has(zodSchema))
      Object.assign(jsonSchema, { minItems: 0, maxItems: LIMIT.maximum });
    // Without its range, because a number in JavaScript would be rounded: ops/openapi.ts writes it into the text of the document.
    if (def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' });
    if (def.type === 'number' && 'format' in def && def.format === 'int32')
      jsonSchema.format = 'int32';
    if (jsonSchema.pattern === VISIBLE.source) jsonSchema.pattern = TEXT_PATTERN;
    if (jsonSchema.format === 'date-time') {
      // A time in UTC with milliseconds (RFC 3339), such as `2026-11-20T09:30:00.000Z`.
      delete jsonSchema.pattern;
      Object.assign(jsonSchema, { minLength: 24, maxLength: 24 });
    }
    // zod leaves out the default of a codec: https://github.com/colinhacks/zod/issues/6049
    if (def.type === 'default') jsonSchema.default = def.defaultValue;
    // `source` escapes slashes, which only a literal in JavaScript needs.
    if (jsonSchema.pattern) jsonSchema.pattern = jsonSchema.pattern.replaceAll('\\/', '/');
    if (def.type === 'pipe') {
      // A text in a path or a query, described by the value that it stands for.
      delete jsonSchema.pattern;
      Object.assign(jsonSchema, createSchema(def.out, { opts: { override } }).schema);
    }
  };
}
