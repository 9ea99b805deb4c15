/**
 * Metadata of the shared schemas for the description. Used only at build time, and separate from the schemas, so that
 * the worker does not contain it.
 */
import * as z from 'zod/mini';
import type { ZodOpenApiMetadata } from 'zod-openapi';
import { STATUS_OF } from '../src/errors.ts';
import { Int64, Int64Text } from '../src/http/int64.ts';
import { After, LIMIT, Limit } from '../src/http/paging.ts';
import { VISIBLE } from '../src/http/schemas.ts';

/** Without its range, because a number in JavaScript would be rounded: ops/openapi.ts writes it into the text of the document. */
const INT64 = { type: 'integer', format: 'int64' } as const;

/** Greater than the length of the longest message. */
const MAX_MESSAGE = 4096;

type JsonSchema = z.core.JSONSchema.BaseSchema;

export const ErrorBody = z.looseObject({
  code: z.enum(Object.keys(STATUS_OF)),
  message: z.string().check(z.minLength(1), z.maxLength(MAX_MESSAGE)),
  status: z.int(),
});
export const ERROR_FIELDS = {
  code: 'The machine-readable error code. One of a closed set.',
  message: 'The human-readable description. Its wording may change.',
  status: 'The HTTP status of the response.',
};

describeSchema(Int64, { override: replaceWith(INT64) });
describeSchema(Int64Text, { override: replaceWith(INT64) });
describeSchema(Limit, {
  override: replaceWith({ type: 'integer', format: 'int32', ...LIMIT }),
  param: { description: 'Maximum number of items to return.' },
});
describeSchema(After, {
  override: replaceWith(INT64),
  param: {
    description:
      'The id after which the page begins. Follow the `Link` header of the previous page instead of setting it.',
  },
});
describeSchema(ErrorBody.shape.status, {
  override: replaceWith({ type: 'integer', minimum: 400, maximum: 599, format: 'int32' }),
});

/** Adds metadata to a schema. */
export function describeSchema(schema: z.ZodMiniType, metadata: ZodOpenApiMetadata): void {
  z.globalRegistry.add(schema, metadata as z.core.GlobalMeta);
}

/** Describes a filter of a list. Its schema is a `$ref`. */
export function describeFilter(schema: z.ZodMiniType, description: string): void {
  // Not enumerable, because zod-openapi copies enumerable metadata next to the $ref.
  describeSchema(schema, Object.defineProperty({}, 'param', { value: { description } }));
}

/** Control characters, for a class in a regular expression. */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';

/**
 * The characters up to U+FFFF that `VISIBLE` excludes, for a class in a regular expression. Few tools support the Unicode
 * classes of `VISIBLE` in patterns.
 */
function invisible(): string {
  const codes = Array.from({ length: 0x10000 }, (_, code) => code).filter(
    (code) => !VISIBLE.test(String.fromCharCode(code)),
  );
  const asEscape = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;
  const starts = codes.filter((code) => !codes.includes(code - 1));
  const ends = codes.filter((code) => !codes.includes(code + 1));
  const ranges = starts.map((start, i) => {
    const end = ends[i] ?? start;
    return start === end ? asEscape(start) : `${asEscape(start)}-${asEscape(end)}`;
  });
  return ranges.join('');
}

const TEXT_PATTERN = `^[^${CONTROL}]*[^${CONTROL}${invisible()}][^${CONTROL}]*$`;

/** Describes a text of `textOf`. */
export function describeText(schema: z.ZodMiniType, maxLength: number): void {
  const replacement = { type: 'string', minLength: 1, maxLength, pattern: TEXT_PATTERN } as const;
  describeSchema(schema, { override: replaceWith(replacement) });
}

/** Describes a time in UTC with milliseconds (RFC 3339), such as `2026-11-20T09:30:00.000Z`. */
export function describeTime(schema: z.ZodMiniType): void {
  const length = { minLength: 24, maxLength: 24 };
  describeSchema(schema, {
    override: replaceWith({ type: 'string', format: 'date-time', ...length }),
  });
}

/** Keywords of the derived schema that the replacement does not keep. */
const REPLACED = ['pattern', 'format', 'anyOf', 'minimum', 'maximum', 'minLength'] as const;

/** Replaces the JSON Schema that is derived from a schema with a transformation or a check. */
export function replaceWith(replacement: JsonSchema) {
  return ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    for (const keyword of REPLACED) delete jsonSchema[keyword];
    Object.assign(jsonSchema, replacement);
  };
}

/** Allows unknown fields: later versions may add fields to responses. */
export function allowUnknownFields({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  delete jsonSchema.additionalProperties;
}
